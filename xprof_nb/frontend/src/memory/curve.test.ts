import { describe, expect, it } from 'vitest';
import { rowsTable } from '../testing/fixtures';
import { explainState } from './chart';
import { allocatorsOf, curveOf, isNear, labelOf, spanOf } from './curve';
import { only } from './holders';
import { thinned } from './part';

const event = (start_ps: number, device: string, heap: number, free: number) => ({
  host: 'h',
  device,
  allocator: `${device}_bfc`,
  kind: 'allocation',
  start_ps,
  bytes: 1024,
  heap_bytes: heap,
  free_bytes: free,
  framework_op: 'dot'
});
const TABLE = rowsTable([
  event(30, 'GPU:0', 3072, 1024),
  event(10, 'GPU:0', 1024, 3072),
  event(20, 'GPU:1', 512, 3584)
]);
const SUMMARY = {
  allocators: [
    {
      host: 'h',
      device: 'GPU:0',
      allocator: 'GPU:0_bfc',
      peak_bytes: 3072,
      peak_ps: 30,
      capacity_bytes: 4096,
      holder_count: 1,
      held: [{ holder: 'allocation', bytes: 3072 }]
    },
    {
      host: 'h',
      device: null,
      allocator: 'pinned',
      peak_bytes: 1,
      peak_ps: 10,
      capacity_bytes: null,
      held: null
    }
  ]
};
const [gpu, pinned] = allocatorsOf(SUMMARY) as [
  ReturnType<typeof allocatorsOf>[0],
  ReturnType<typeof allocatorsOf>[0]
];

describe('a curve', () => {
  it('is of one allocator, in time order, whatever the order of the table', () => {
    const curve = curveOf(TABLE, gpu);
    expect(curve.timePs).toEqual([10, 30]);
    expect(curve.heap).toEqual([1024, 3072]);
    expect(curve.stack).toEqual([0, 0]);
    expect(curve.rows).toEqual([1, 0]);
    expect(spanOf(TABLE)).toEqual([10, 30]);
    expect(spanOf(rowsTable([]))).toEqual([0, 0]);
  });

  it('explains the state that an event left', () => {
    const curve = curveOf(TABLE, gpu);
    expect(explainState(TABLE, curve, 1)).toEqual([
      '3.00 KiB of 4.00 KiB (75.0 %)',
      '30.0 ps into the capture',
      'heap 3.00 KiB, free 1.00 KiB',
      'allocation of 1.00 KiB, dot'
    ]);
    expect(explainState(TABLE, curve, 7)).toEqual([]);
  });
});

describe('allocators', () => {
  it('are told by device, and by host where there are several', () => {
    expect(labelOf(gpu, 1)).toBe('GPU:0, GPU:0_bfc');
    expect(labelOf(pinned, 2)).toBe('host memory (pinned) on h');
    expect(labelOf({ ...gpu, device: 'TPU:1', name: '1' }, 1)).toBe('TPU:1, allocator');
    expect(allocatorsOf({})).toEqual([]);
  });

  it('are drawn up to the capacity unless that would be a flat line', () => {
    expect(isNear(gpu)).toBe(true);
    expect(isNear({ ...gpu, capacityBytes: 1e9 })).toBe(false);
    expect(isNear({ ...gpu, capacityBytes: Number.NaN })).toBe(false);
  });
});

describe('a saved view', () => {
  it('says when its curve is thinned', () => {
    expect(thinned(453, 906)).toContain('453 of 906 events');
    expect(thinned(906, 906)).toBe('');
  });
});

describe('holders of all allocators', () => {
  it('are narrowed to one', () => {
    const mine = only(TABLE, gpu);
    expect(mine.rows).toBe(2);
    expect([...(mine.numbers.get('start_ps') ?? [])]).toEqual([30, 10]);
  });
});
