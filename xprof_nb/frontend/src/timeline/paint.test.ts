import { describe, expect, it } from 'vitest';
import { KINDS } from '../kinds';
import { FakePen } from '../testing/fake_pen';
import { BOUNDS, boxes, eventBoxes, tracks } from '../testing/trace';
import { Arrangement } from './arrangement';
import { Batch } from './batch';
import { type Boxes, colourCode, SHADES } from './boxes';
import { Layout } from './layout';
import { Lettering, visible } from './lettering';
import { densityOf, gripAt, paintDensity } from './minimap';
import { paintTracks } from './paint';
import { heightsOf } from './paint_area';
import { paintOverlay } from './paint_over';
import { type Palette, rgb } from './palette';
import { nameTest } from './search';
import { Scale } from './span';
import type { Track } from './tracks';

const PALETTE: Palette = {
  boxes: KINDS.flatMap((kind) =>
    Array.from({ length: SHADES }, (_, shade) => ({ fill: `${kind.id}${shade}`, text: 'on' }))
  ),
  page: 'page',
  raised: 'raised',
  ink: 'ink',
  faint: 'faint',
  line: 'line',
  select: 'select',
  mark: 'mark',
  idleLine: 'idle',
  font: 'test'
};

function painted(answer: Boxes, { names = '', span = BOUNDS, width = 1000, waiting = '' } = {}) {
  const all = tracks();
  const layout = new Layout(new Arrangement(all).rows());
  const scale = new Scale(span, width);
  const pen = new FakePen();
  paintTracks(pen, {
    scale,
    height: 400,
    pinnedHeight: 0,
    seen: layout.seen(0, 400),
    pixel: 1,
    palette: PALETTE,
    lettering: new Lettering(),
    batch: new Batch(),
    names: nameTest(names),
    waiting,
    stretches: (track) => (answer.tracks.has(track) ? [{ span, boxes: answer }] : [])
  });
  return { pen, layout };
}

const colour = (kind: string, name: string) => PALETTE.boxes[colourCode(kind, name)]?.fill ?? '';

describe('paintTracks', () => {
  it('says on a track of which nothing is known that it is waited for', () => {
    const known = new Set([2, 3]);
    const some = boxes([{ track: 3, lane: 0, start_ps: 0, duration_ps: 1e6, name: 'a', count: 1 }], {
      ids: [...known]
    });
    expect(painted(some).pen.texts()).not.toContain('wait');
    const { pen, layout } = painted(some, { waiting: 'wait' });
    const places = pen.drawn.filter(({ text }) => text === 'wait').map(({ numbers }) => numbers[1]);
    // The counter is the only open track besides, the threads are folded.
    const counter = layout.find(4);
    expect(places).toEqual([(counter?.top ?? 0) + (counter?.height ?? 0) / 2]);
  });

  it('draws every event where it was, in the colour of its kind', () => {
    const { pen, layout } = painted(eventBoxes());
    const top = (layout.find(3)?.top ?? 0) + 3;
    expect(pen.rects(colour('matrix', 'fusion.1')).map(({ numbers }) => numbers)).toEqual([
      [0, top, 199, 17],
      [600, top, 99, 17]
    ]);
    expect(pen.rects(colour('matrix', 'dot.2')).map(({ numbers }) => numbers)).toEqual([
      [50, top + 18, 49, 17]
    ]);
    expect(pen.rects(colour('collective', 'all-reduce.3'))).toHaveLength(1);
  });

  it('writes names where they fit, cut where they do not, as plain text', () => {
    const { pen } = painted(eventBoxes());
    expect(pen.texts()).toContain('fusion.1');
    expect(pen.texts()).toContain('train 8');
    expect(pen.texts().some((text) => text.startsWith('<img src=x') && text.endsWith('…'))).toBe(true);
    const narrow = painted(eventBoxes(), { width: 100 });
    expect(narrow.pen.texts()).toEqual(['trai…', 'train 8']);
  });

  it('draws a run of events the weaker the less of it was busy', () => {
    const run = (busy: number) =>
      boxes([
        {
          track: 3,
          lane: 0,
          start_ps: 0,
          duration_ps: 1e6,
          busy_ps: busy,
          count: 7,
          name: 'a',
          work_kind: 'host',
          event: 0
        }
      ]);
    const alpha = (busy: number) => painted(run(busy)).pen.rects(colour('host', 'a'))[0]?.alpha ?? 0;
    expect([alpha(1e5), alpha(4e5), alpha(7e5), alpha(1e6)]).toEqual([0.35, 0.55, 0.78, 1]);
    expect(painted(run(1e6)).pen.texts()).toEqual([]);
  });

  it('keeps in colour only what is searched for', () => {
    const { pen } = painted(eventBoxes(), { names: 'fusion' });
    expect(pen.rects(colour('matrix', 'fusion.1')).map(({ alpha }) => alpha)).toEqual([1, 1]);
    expect(pen.rects(colour('collective', 'all-reduce.3'))[0]?.alpha).toBe(0.2);
    expect(pen.texts()).not.toContain('all-reduce.3');
  });

  it('draws at least a pixel of everything and no pixel twice', () => {
    const rows = Array.from({ length: 5000 }, (_, i) => ({
      track: 3,
      lane: 0,
      start_ps: i * 2000,
      duration_ps: 100,
      count: 1,
      name: 'a',
      work_kind: 'host',
      event: i
    }));
    const drawn = painted(boxes(rows)).pen.rects(colour('host', 'a'));
    expect(drawn.length).toBeLessThanOrEqual(1001);
    expect(drawn.length).toBeGreaterThan(900);
    expect(drawn.every(({ numbers }) => numbers[2] === 1)).toBe(true);
  });

  it('gives a pixel to what ran longest of the narrow ones on it, in whichever order and colour', () => {
    const row = (start: number, length: number, name: string, kind: string) => ({
      track: 3,
      lane: 0,
      start_ps: start,
      duration_ps: length,
      count: 1,
      name,
      work_kind: kind,
      event: start
    });
    // A pixel is 10,000 ps: three on the pixel at 1, then one that begins on it and is three pixels wide.
    const shown = (names: string, ...kinds: string[]) => {
      const [a, b, c, wide] = kinds as [string, string, string, string];
      const rows = [
        row(10_000, 500, 'a', a),
        row(10_600, 2_000, 'b', b),
        row(12_700, 900, 'c', c),
        row(13_700, 26_300, 'wide', wide)
      ];
      return painted(boxes(rows), { names })
        .pen.drawn.filter(({ what, numbers }) => what === 'rect' && numbers[3] === 17)
        .map(({ colour: fill, numbers }) => [fill, numbers[0], numbers[2]])
        .sort((first, second) => Number(first[1]) - Number(second[1]));
    };
    for (const kinds of [
      ['matrix', 'host', 'collective', 'idle'],
      ['idle', 'collective', 'host', 'matrix']
    ]) {
      const [, b, c, wide] = kinds as [string, string, string, string];
      const rest = [colour(wide, 'wide'), 2, 2];
      expect(shown('', ...kinds)).toEqual([[colour(b, 'b'), 1, 1], rest]);
      // What is searched for is seen, however short.
      expect(shown('c', ...kinds)).toEqual([[colour(c, 'c'), 1, 1], rest]);
    }
  });

  it('names what begins left of the window at its edge', () => {
    const { pen } = painted(eventBoxes(), { span: { start: 6_500_000, end: 7_500_000 } });
    const name = pen.drawn.find(({ text }) => text === 'train 8');
    expect(name?.numbers[0]).toBe(4);
  });

  it('draws nothing of a folded track', () => {
    const all = tracks([{ track: 0, parent: -1, kind: 'ops', name: 'Ops', lanes: 3, folded: 1 }]);
    const layout = new Layout(new Arrangement(all).rows());
    expect(layout.height).toBe(24);
  });

  it('draws ten thousand boxes in well under a frame of work', () => {
    const rows = Array.from({ length: 10_000 }, (_, i) => ({
      track: 3,
      lane: i % 2,
      start_ps: Math.floor(i / 2) * 2000,
      duration_ps: 1500,
      count: 1,
      name: `op.${i % 300}`,
      work_kind: 'matrix',
      event: i
    }));
    const answer = boxes(rows.sort((a, b) => a.lane - b.lane || a.start_ps - b.start_ps));
    const begun = performance.now();
    for (let i = 0; i < 10; i++) {
      painted(answer, { width: 8000 });
    }
    expect((performance.now() - begun) / 10).toBeLessThan(100);
  });
});

describe('areas', () => {
  it('stand on zero and reach up to the most there was', () => {
    const memory = tracks().get(4) as Track;
    const { base, y } = heightsOf(memory, 100, 40);
    expect([base, y(0), y(2 ** 30), y(2 ** 31)]).toEqual([139, 139, 102, 102]);
    const { base: middle } = heightsOf({ ...memory, minimum: -10, maximum: 10 }, 0, 43);
    expect(middle).toBe(22);
  });

  it('are steps with a hole where nothing was recorded', () => {
    const rows = [0, 1, 5].map((i) => ({
      track: 4,
      lane: 0,
      start_ps: i * 1e6,
      duration_ps: 1e6,
      value: 2 ** 30 * (i === 1 ? 1 : 0.5),
      count: 1,
      event: 0
    }));
    const { pen } = painted(boxes(rows));
    const [fill] = pen.drawn.filter(({ what }) => what === 'fill');
    const xs = fill?.numbers.filter((_, index) => index % 2 === 0);
    expect(xs).toEqual([0, 0, 100, 100, 200, 200, 500, 500, 600, 600]);
  });
});

describe('paintOverlay', () => {
  it('dims what is out of focus and draws markers that are on screen', () => {
    const pen = new FakePen();
    paintOverlay(pen, {
      scale: new Scale(BOUNDS, 1000),
      height: 100,
      pixel: 1,
      palette: PALETTE,
      hovered: { x: 5, y: 5, width: 10, height: 10 },
      selected: null,
      area: null,
      flows: [],
      markers: [
        { id: 'm', name: 'A', colour: 'red', time: 5e6 },
        { id: 'n', name: 'B', colour: 'blue', time: 5e9 }
      ],
      focus: { start: 1e6, end: 2e6 },
      pointerX: null
    });
    expect(pen.rects('page').map(({ numbers }) => numbers)).toEqual([
      [0, 0, 100, 100],
      [200, 0, 800, 100]
    ]);
    expect(pen.rects('red')[0]?.numbers).toEqual([500, 0, 1, 100]);
    expect(pen.rects('blue')).toEqual([]);
    expect(pen.drawn.filter(({ what }) => what === 'frame')).toHaveLength(1);
  });
});

describe('Lettering', () => {
  it('measures a name once and cuts it to what fits', () => {
    const pen = new FakePen();
    const lettering = new Lettering();
    expect(lettering.fit(pen, 'convolution', 66)).toBe('convolution');
    expect(lettering.fit(pen, 'convolution', 60)).toBe('convoluti…');
    const { measured } = pen;
    lettering.fit(pen, 'convolution', 66);
    lettering.fit(pen, 'convolution', 60);
    expect(pen.measured).toBe(measured);
    expect(lettering.fit(pen, 'convolution', 20)).toBe('');
  });

  it('takes little of a name of 100 kB, and no character that turns the text around', () => {
    const pen = new FakePen();
    expect(new Lettering().fit(pen, 'x'.repeat(100_000), 1e6)).toHaveLength(160);
    expect(visible('a\u202eb\nc')).toBe('a b c');
  });
});

describe('minimap', () => {
  it('shows which kinds of work ran when', () => {
    const scale = new Scale(BOUNDS, 10);
    const density = densityOf(tracks(), eventBoxes(), scale);
    const matrix = [...density.shares.slice(0, 10)];
    expect(matrix).toEqual([1, 1, 0, 0, 0, 0, 1, 0, 0, 0]);
    const pen = new FakePen();
    paintDensity(pen, density, 10, 36, PALETTE);
    expect(pen.rects('matrix0').map(({ numbers }) => numbers)).toEqual([
      [0, 0, 1, 36],
      [1, 0, 1, 36],
      [6, 0, 1, 36]
    ]);
  });

  it('knows where a drag begins', () => {
    const scale = new Scale(BOUNDS, 1000);
    const window = { start: 4e6, end: 6e6 };
    expect([398, 500, 603, 900].map((x) => gripAt(x, scale, window))).toEqual([
      'start',
      'move',
      'end',
      'new'
    ]);
    expect(gripAt(500, scale, BOUNDS)).toBe('new');
  });
});

describe('palette', () => {
  it('reads the colours a theme may have', () => {
    expect([
      rgb('#fff'),
      rgb('#3b6fb6'),
      rgb('rgb(1, 2, 3)'),
      rgb('rgba(1,2,3,.5)'),
      rgb('var(--x)')
    ]).toEqual([[255, 255, 255], [59, 111, 182], [1, 2, 3], [1, 2, 3], null]);
  });
});
