/** The drawn graph as text for other programs: DOT, a drawing, HLO. */
import type { Op } from './model';
import type { Scene } from './scene';

const CONTROL = /\p{C}/gu;
const STYLES = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'stroke-opacity',
  'opacity',
  'font-family',
  'font-size',
  'font-weight',
  'display',
  'visibility'
];
const FOR_THE_PAGE = /^(class|tabindex|role|aria-.*|data-.*)$/;
const MARGIN = 16;

/** What is drawn, in the DOT language; open fusions are boxes around what is in them. */
export function dotOf(scene: Scene, title: string): string {
  const number = new Map(scene.boxes.map(({ op }, place) => [op.name, place]));
  const inside = new Map<string, Op[]>();
  const open = new Set(scene.boxes.filter(({ isOpen }) => isOpen).map(({ op }) => op.name));
  for (const { op } of scene.boxes) {
    const home = op.inside !== null && open.has(op.inside) ? op.inside : '';
    inside.set(home, [...(inside.get(home) ?? []), op]);
  }
  const node = (op: Op, indent: string) =>
    `${indent}n${number.get(op.name)} [label="${[op.name, op.opcode, op.shape].map(quoted).join('\\n')}"];`;
  const lines = [
    'digraph program {',
    `  label="${quoted(title)}";`,
    '  node [shape=box, fontname="monospace"];'
  ];
  for (const [home, ops] of inside) {
    if (home === '') {
      lines.push(...ops.map((op) => node(op, '  ')));
    } else {
      lines.push(`  subgraph cluster_${number.get(home)} {`, `    label="${quoted(home)}"; style=dashed;`);
      lines.push(...ops.map((op) => node(op, '    ')), '  }');
    }
  }
  for (const { from, to, operand, shape } of scene.lines.flatMap(({ edges }) => edges)) {
    lines.push(`  n${number.get(from)} -> n${number.get(to)} [label="${operand}: ${quoted(shape)}"];`);
  }
  return `${lines.join('\n')}\n}\n`;
}

/** The HLO of the ops that are drawn, a line each. */
export function hloOf(scene: Scene): string {
  return `${scene.boxes.map(({ op }) => op.hlo || op.name).join('\n')}\n`;
}

/** The drawing as a file of its own: its styles are in it, and all of it is in its window. */
export function svgOf(drawing: SVGGElement, scene: Scene, title: string): string {
  const copy = drawing.cloneNode(true) as SVGGElement;
  const originals = [drawing, ...drawing.querySelectorAll<SVGElement>('*')];
  const copies = [copy, ...copy.querySelectorAll<SVGElement>('*')];
  const background = getComputedStyle(drawing.ownerSVGElement ?? drawing).backgroundColor;
  originals.forEach((original, place) => {
    const style = getComputedStyle(original);
    const kept = STYLES.map((name) => `${name}:${style.getPropertyValue(name)}`).filter(
      (text) => !text.endsWith(':')
    );
    copies[place]?.setAttribute('style', kept.join(';'));
    for (const name of original.getAttributeNames().filter((name) => FOR_THE_PAGE.test(name))) {
      copies[place]?.removeAttribute(name);
    }
  });
  copy.removeAttribute('transform');
  const [width, height] = [Math.ceil(scene.width + 2 * MARGIN), Math.ceil(scene.height + 2 * MARGIN)];
  const shapes = new XMLSerializer().serializeToString(copy);
  const view = `${-MARGIN} ${-MARGIN} ${width} ${height}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${view}">`,
    `<title>${escaped(title)}</title>`,
    `<rect x="${-MARGIN}" y="${-MARGIN}" width="${width}" height="${height}" fill="${escaped(background)}"/>`,
    shapes,
    '</svg>\n'
  ].join('\n');
}

function quoted(text: string): string {
  return text.replace(CONTROL, '\ufffd').replaceAll('\\', '\\\\').replaceAll('"', '\\"');
}

function escaped(text: string): string {
  return text
    .replace(CONTROL, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
