import { describe, expect, it } from 'vitest';
import { KINDS } from '../kinds';
import { rowsTable } from '../testing/fixtures';
import { undrawnText } from './caption';
import { explainPoint } from './explain';
import { boundOf, boundsIn, kindsIn, shapeOf } from './looks';
import { diameter, levelsOf, logRange, type Point, place, SMALLEST_PX } from './points';

const ROWS = [
  { level: 'program', name: 'whole', time_ps: 100e9, flops_per_s: 5e11, hbm_arithmetic_intensity: 20 },
  { level: 'step', name: 'train 0', step: 0, time_ps: 50e9, flops_per_s: 6e11, hbm_arithmetic_intensity: 21 },
  {
    level: 'op',
    name: 'dot',
    op: 'dot',
    program: 'jit_f',
    program_id: '7',
    work_kind: 'matrix',
    bound_by: 'compute',
    compute_dtype: 'bf16',
    roof_dtype: 'bf16',
    time_ps: 40e9,
    time_fraction: 0.4,
    occurrences: 12,
    flops: 4e10,
    flops_per_s: 1e12,
    hbm_arithmetic_intensity: 1000,
    vmem_read_arithmetic_intensity: 10,
    attainable_flops_per_s: 2e12,
    flops_utilization: 0.5,
    hbm_utilization: 1.2,
    hbm_bytes_per_s: 1.2e12,
    is_suspicious: 1
  },
  {
    level: 'op',
    name: 'tiny',
    bound_by: 'vmem_read',
    time_ps: 1e6,
    flops_per_s: 1e9,
    hbm_arithmetic_intensity: 2
  },
  {
    level: 'op',
    name: 'copy',
    time_ps: 10e9,
    time_fraction: 0.1,
    flops: 0,
    flops_per_s: 0,
    hbm_arithmetic_intensity: 0
  },
  { level: 'op', name: 'call', time_ps: 5e9, time_fraction: 0.05 },
  { level: 'op', name: 'cached', time_ps: 5e9, time_fraction: 0.05, flops_per_s: 1e9 }
];
const TABLE = rowsTable(ROWS);
const ALL = ROWS.map((_, row) => row);

describe('the points of a roofline', () => {
  it('are at the intensity of the chosen memory, the largest first', () => {
    const { points } = place(TABLE, ALL, 'hbm', 'HBM');
    expect(points.map(({ row, what, intensity }) => [row, what, intensity])).toEqual([
      [0, 'program', 20],
      [1, 'step', 21],
      [2, 'op', 1000],
      [3, 'op', 2]
    ]);
    expect(place(TABLE, ALL, 'vmem_read', 'VMEM read').points.map(({ intensity }) => intensity)).toEqual([
      10
    ]);
    expect(place(TABLE, [3], 'hbm', 'HBM').points.map(({ row }) => row)).toEqual([3]);
  });

  it('are counted when they have no place, with the reason and the share of time', () => {
    const { undrawn } = place(TABLE, ALL, 'hbm', 'HBM');
    expect(undrawn.map(undrawnText)).toEqual([
      '1 op without FLOPs is not drawn (10.0 % of device time).',
      '1 op with unknown FLOPs is not drawn (5.0 % of device time).',
      '1 op without known traffic of HBM is not drawn (5.0 % of device time).'
    ]);
    expect(undrawnText({ why: 'without FLOPs', ops: 2, steps: 1, timeFraction: 0 })).toBe(
      '2 ops and 1 step without FLOPs are not drawn (0.0 % of device time).'
    );
  });

  it('have an area proportional to their time, down to what can be hit', () => {
    const op = (timePs: number): Point => ({
      row: 0,
      what: 'op',
      intensity: 1,
      flopsPerS: 1,
      timePs,
      isSuspicious: false
    });
    const [whole, quarter] = [diameter(op(100), 100), diameter(op(25), 100)];
    expect((whole / quarter) ** 2).toBeCloseTo(4);
    expect(diameter(op(1e-9), 100)).toBe(SMALLEST_PX);
  });

  it('show what bounds them by colour, and the kind of work by shape', () => {
    expect(boundOf('vmem_write').id).toBe(boundOf('cmem_read').id);
    expect(boundOf(null).label).toBe('not known');
    expect(
      new Set(['compute', 'hbm', 'link', 'host', 'latency', 'vmem_read'].map((id) => boundOf(id).colour)).size
    ).toBe(6);
    expect(boundsIn(TABLE, place(TABLE, ALL, 'hbm', 'HBM').points).map(({ id }) => id)).toEqual([
      'compute',
      'on_chip'
    ]);
    const kinds = KINDS.filter(({ id }) => id !== 'idle');
    expect(new Set(kinds.map((kind) => shapeOf(kind).marker)).size).toBe(kinds.length);
    const { points } = place(TABLE, ALL, 'hbm', 'HBM');
    expect(kindsIn(TABLE, points).length).toBeGreaterThan(0);
  });

  it('can be looked at from each memory that an intensity is known of', () => {
    expect(levelsOf(TABLE)).toEqual(['hbm', 'vmem_read']);
    expect(levelsOf(rowsTable([{ arithmetic_intensity: 3 }]))).toEqual(['']);
    expect(levelsOf(rowsTable([{ level: 'op' }]))).toEqual([]);
  });

  it('say their numbers, both terms of what is suspicious, and what would be attainable', () => {
    const roofs = [
      { name: 'hbm', isMemory: true, value: 1e12, label: 'datasheet', source: 's', isOther: false }
    ];
    const point = place(TABLE, [2], 'hbm', 'HBM').points[0] as Point;
    const lines = explainPoint(TABLE, point, 'hbm', roofs);
    expect(lines[0]).toBe('dot ⚠');
    expect(lines[1]).toBe('matrix, in jit_f');
    expect(lines).toContain('1.00 TFLOP/s at 1\u2009000 FLOP/B of HBM');
    expect(lines).toContain('40.0 ms, 40.0 % of device time, 12 runs');
    expect(lines).toContain('attainable at this intensity: 2.00 TFLOP/s, of which 50.0 % is reached');
    expect(lines).toContain('50.0 % of the bf16 FLOP/s roof');
    expect(lines).toContain('120.0 % ⚠ of the HBM roof, 1.20 TB/s');
    expect(lines).toContain('⚠ HBM: 1.20 TB/s counted, 1.00 TB/s is the roof');
    expect(lines).toContain('bound by compute');
  });
});

describe('the range of a logarithmic axis', () => {
  it('has all values in it, and is one even without any', () => {
    const [low, high] = logRange([3, 4000, Number.NaN, 0]);
    expect(low).toBeLessThan(3);
    expect(high).toBeGreaterThan(4000);
    expect(logRange([])).toEqual([0.1, 1000]);
    expect(logRange([5])[0]).toBeLessThan(5);
  });
});
