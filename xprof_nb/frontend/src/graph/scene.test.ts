import { describe, expect, it } from 'vitest';
import { fused, graphAnswer } from '../testing/graph';
import { elided, pathOf, strength, valueText } from './draw';
import { dotOf, hloOf } from './export';
import { neighbourhoodOf, withBody } from './model';
import { arrange, type Box, MOST_DRAWN } from './scene';
import { neighbourOf } from './walk';

const all = neighbourhoodOf(fused(), '');

function box(boxes: readonly Box[], name: string): Box {
  const found = boxes.find(({ op }) => op.name === name);
  if (found === undefined) {
    throw new Error(`${name} is not drawn`);
  }
  return found;
}

describe('a scene', () => {
  it('has the ops of the neighbourhood, and one line for all operands of a pair', () => {
    const scene = arrange(all, new Set());
    expect(scene.boxes.map(({ op }) => op.name).sort()).toEqual(['fusion', 'out', 'p']);
    expect(scene.lines.map(({ edges }) => edges.map(({ from, to, operand }) => [from, to, operand]))).toEqual(
      [
        [
          ['p', 'fusion', 0],
          ['p', 'fusion', 1]
        ],
        [['fusion', 'out', 0]]
      ]
    );
    expect(box(scene.boxes, 'fusion').inner).toBe(3);
  });

  it('draws what is fused inside its fusion, and makes room for it', () => {
    const { boxes, lines } = arrange(all, new Set(['fusion']));
    const outer = box(boxes, 'fusion');
    expect(outer.isOpen).toBe(true);
    for (const name of ['a', 'b', 'c']) {
      const inner = box(boxes, name);
      expect(inner.x).toBeGreaterThan(outer.x);
      expect(inner.y).toBeGreaterThan(outer.y);
      expect(inner.x + inner.width).toBeLessThan(outer.x + outer.width);
      expect(inner.y + inner.height).toBeLessThan(outer.y + outer.height);
    }
    expect(box(boxes, 'p').y + box(boxes, 'p').height).toBeLessThan(outer.y);
    expect(outer.y + outer.height).toBeLessThan(box(boxes, 'out').y);
    expect(lines).toHaveLength(5);
  });

  it('draws the nearest of very many and says how many it left out', () => {
    const rows = Array.from({ length: MOST_DRAWN + 20 }, (_, number) => ({
      node: `n${number}`,
      distance: number
    }));
    const scene = arrange(neighbourhoodOf(graphAnswer(rows, []), ''), new Set());
    expect(scene.boxes).toHaveLength(MOST_DRAWN);
    expect(scene.leftOut).toBe(20);
    expect(arrange(all, new Set(), 0).boxes.map(({ op }) => op.name)).toEqual(['fusion']);
  });

  it('takes in a body that was asked for by itself', () => {
    const outer = neighbourhoodOf(
      graphAnswer([{ node: 'fusion', opcode: 'fusion', called: 'body', distance: 2 }], []),
      ''
    );
    const body = neighbourhoodOf(graphAnswer([{ node: 'a' }, { node: 'b' }], [['a', 'b', 0]]), '');
    const { boxes, lines } = arrange(withBody(outer, 'fusion', body), new Set(['fusion']));
    expect(boxes.map(({ op }) => [op.name, op.inside, op.distance])).toEqual([
      ['fusion', null, 2],
      ['a', 'fusion', 2],
      ['b', 'fusion', 2]
    ]);
    expect(lines).toHaveLength(1);
  });

  it('is walked by arrow keys: up to operands, down to users, sideways in a layer', () => {
    const scene = arrange(all, new Set(['fusion']));
    expect(neighbourOf(scene, 'fusion', 'up')).toBe('p');
    expect(neighbourOf(scene, 'fusion', 'down')).toBe('out');
    expect(neighbourOf(scene, 'c', 'up')).toBe('b');
    expect(neighbourOf(scene, 'out', 'down')).toBeNull();
    expect(neighbourOf(scene, 'gone', 'down')).toBe(scene.boxes[0]?.op.name);
  });
});

describe('what an op says', () => {
  const [fusion, p] = [all.ops.get('fusion'), all.ops.get('p')];
  if (fusion === undefined || p === undefined) {
    throw new Error('the fixture changed');
  }

  it('is its time, its bytes, or a dash when nobody measured it', () => {
    expect(valueText(fusion, 'time', 4e6)).toBe('4.00 µs, 100.0 % of most');
    expect(valueText(fusion, 'bytes', 128)).toBe('64 B, 50.0 % of most');
    expect(valueText(p, 'time', 4e6)).toBe('–');
  });

  it('is in the strength of its colour', () => {
    expect(strength(fusion, 'time', 4e6)).toBeCloseTo(0.6);
    expect(strength(fusion, 'time', 8e6)).toBeCloseTo(0.33);
    expect(strength(p, 'time', 4e6)).toBe(0);
  });

  it('keeps the end of a long name, and shows no control characters', () => {
    expect(elided('broadcast_add_fusion.clone.12', 20)).toBe('broadcast_add…one.12');
    expect(elided('a\u202eb', 20)).toBe('a\ufffdb');
  });
});

describe('taken out', () => {
  it('DOT has every box and every edge, open fusions as boxes, and hostile names quoted', () => {
    const dot = dotOf(arrange(all, new Set(['fusion'])), 'a "graph"');
    expect(dot.match(/^ +n\d+ \[/gm)).toHaveLength(6);
    expect(dot.match(/ -> /g)).toHaveLength(6);
    expect(dot).toMatch(/subgraph cluster_0 \{\n {4}label="fusion"; style=dashed;/);
    expect(dot).toContain('label="a \\"graph\\""');
    const evil = dotOf(arrange(neighbourhoodOf(graphAnswer([{ node: '\\"]; x\n' }], []), ''), new Set()), '');
    expect(evil).toContain('label="\\\\\\"]; x\ufffd\\nadd');
  });

  it('HLO has a line for each op drawn', () => {
    const answer = graphAnswer([{ node: 'a', hlo_text: '%a = f32[2]{0} add(%x, %y)' }, { node: 'b' }], []);
    expect(hloOf(arrange(neighbourhoodOf(answer, ''), new Set()))).toBe('%a = f32[2]{0} add(%x, %y)\nb\n');
  });

  it('a line is smooth and ends where it should', () => {
    const points = [
      { x: 0, y: 0 },
      { x: 10, y: 10 },
      { x: 10, y: 20 }
    ];
    expect(pathOf(points)).toBe('M0 0Q10 10 10 15L10 20');
    expect(pathOf([])).toBe('');
  });
});
