import { describe, expect, it } from 'vitest';
import { rowsTable } from '../testing/fixtures';
import { barOf, MOST_BARS, ordered } from './bars';
import { explainStretch, stretches } from './curve';
import { linesOfBuffer } from './explain';
import { partsOf } from './meter';
import { bufferAt, liveAtPeak, needOf } from './rows';

const KIB = 1024;
const table = rowsTable([
  {
    name: 'w',
    op: 'w',
    kind: 'parameter',
    work_kind: 'control',
    bytes: 8 * KIB,
    unpadded_bytes: 8 * KIB,
    padding_bytes: 0,
    start: 0,
    end: 9,
    live_at_peak: 1
  },
  {
    name: 't',
    op: 'dot',
    opcode: 'dot',
    kind: 'temporary',
    work_kind: 'matrix',
    bytes: 16 * KIB,
    unpadded_bytes: 10 * KIB,
    padding_bytes: 6 * KIB,
    start: 4,
    end: 5,
    live_at_peak: 1,
    shape: 'f32[10,256]{1,0:T(8,128)}',
    dtype: 'f32',
    source: 'model.py:7'
  },
  { name: 'gone', op: 'x', kind: 'temporary', bytes: 99, start: 1, end: 2, live_at_peak: 0 },
  { name: 'u', op: 'u', kind: 'temporary', bytes: KIB, start: 3, end: 6, live_at_peak: 1 }
]);

describe('the bars of the peak', () => {
  const live = liveAtPeak(table, [0, 1, 2, 3]);

  it('are the buffers live there, in each of three orders', () => {
    expect(ordered(live, 'program order').map(({ name }) => name)).toEqual(['w', 'u', 't']);
    expect(ordered(live, 'size').map(({ name }) => name)).toEqual(['t', 'w', 'u']);
    expect(ordered(live, 'padding').map(({ name }) => name)).toEqual(['t', 'w', 'u']);
  });

  it('are made of values and padding', () => {
    expect(live.map(barOf)).toEqual([
      { unpadded: 8 * KIB, padded: 8 * KIB },
      { unpadded: 10 * KIB, padded: 16 * KIB },
      { unpadded: KIB, padded: KIB }
    ]);
  });

  it('are the largest of very many', () => {
    const rows = Array.from({ length: MOST_BARS + 5 }, (_, n) => ({
      name: `b${n}`,
      bytes: n,
      start: -n,
      live_at_peak: 1
    }));
    const shown = ordered(liveAtPeak(rowsTable(rows), rows.keys()), 'program order');
    expect(shown).toHaveLength(MOST_BARS);
    expect(Math.min(...shown.map(({ bytes }) => bytes))).toBe(5);
    expect(shown[0]?.name).toBe(`b${MOST_BARS + 4}`);
  });

  it('say size, padding, shape with its layout, and source', () => {
    expect(linesOfBuffer(bufferAt(table, 1), 32 * KIB)).toEqual([
      't',
      '16.0 KiB (16\u2009384 B), 50.0 % of the peak',
      'f32 f32[10,256]{1,0:T(8,128)}',
      'padding 6.00 KiB, 37.5 % of it; 10.0 KiB without',
      'temporary of dot, matrix',
      'held from op 5 to op 6 of the program',
      'model.py:7'
    ]);
  });
});

describe('the curve', () => {
  const parts = stretches(
    [
      { position: 0, op: 'a', live_bytes: 100 },
      { position: 3, op: 'b', live_bytes: 400 },
      { position: 4, op: 'c', live_bytes: 200 }
    ],
    10
  );

  it('keeps its value until the next change, the last to the end of the program', () => {
    expect(parts.map(({ left, right }) => [left, right])).toEqual([
      [0, 3],
      [3, 4],
      [4, 10]
    ]);
  });

  it('says the op at a position', () => {
    expect(explainStretch(parts[1], 400, 10)).toEqual([
      'b',
      '400 B live (400 B)',
      '100.0 % of the peak',
      'op 4 of 10'
    ]);
    expect(explainStretch(parts[2], 400, 10)[3]).toBe('op 5 to 10 of 10');
    expect(explainStretch(undefined, 400, 10)).toEqual([]);
  });
});

describe('what would still fit', () => {
  const summary = {
    peak_bytes: 1000,
    parameter_bytes: 300,
    output_bytes: 200,
    aliased_bytes: 150,
    constant_bytes: 50,
    memory_space: 0
  };

  it('is the capacity without the peak; an output in a parameter counts once', () => {
    const parts = partsOf(needOf({ ...summary, capacity_bytes: 1600 }));
    expect(parts.map(({ name, bytes }) => [name, bytes])).toEqual([
      ['parameters', 300],
      ['outputs', 50],
      ['constants', 50],
      ['temporaries', 600],
      ['would still fit', 600]
    ]);
  });

  it('is nothing that can be said when the capacity is unknown', () => {
    expect(partsOf(needOf(summary)).at(-1)?.name).toBe('temporaries');
    expect(partsOf(needOf({ ...summary, capacity_bytes: 900 })).at(-1)?.name).toBe('temporaries');
  });
});
