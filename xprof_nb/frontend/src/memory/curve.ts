/** Memory over time of one allocator: the rows of an answer as steps, and what its summary says of the peak. */
import { type Columns, type Json, numberAt, stringAt } from '../columns';
import type { Summary } from '../host';
import { number, record, text } from '../payload';

/** One allocator of one host, as the summary knows it. */
export interface Allocator {
  readonly host: string;
  readonly device: string;
  readonly name: string;
  readonly peakBytes: number;
  readonly peakPs: number;
  /** NaN where nobody states it. */
  readonly capacityBytes: number;
  readonly fragmentation: number;
  readonly holders: number;
  /** Who held the memory at the peak: the largest, and the others as one. */
  readonly held: readonly { readonly [name: string]: Json | undefined }[];
}

/** The states of an allocator in time order, each from its time to that of the next; parallel columns. */
export interface Curve {
  /** Of the table. */
  readonly rows: readonly number[];
  readonly timePs: readonly number[];
  readonly heap: readonly number[];
  readonly stack: readonly number[];
  readonly free: readonly number[];
  readonly fragmentation: readonly number[];
}

export function allocatorsOf(summary: Summary): Allocator[] {
  const found = Array.isArray(summary.allocators) ? summary.allocators.map(record) : [];
  return found.map((one) => ({
    host: text(one.host),
    device: text(one.device),
    name: text(one.allocator),
    peakBytes: number(one.peak_bytes),
    peakPs: number(one.peak_ps),
    capacityBytes: number(one.capacity_bytes),
    fragmentation: number(one.fragmentation_fraction),
    holders: number(one.holder_count),
    held: Array.isArray(one.held) ? one.held.map(record) : []
  }));
}

/** `TPU:1 (0) on host-a`: the allocator and where it is. */
export function labelOf({ host, device, name }: Allocator, hosts: number): string {
  const where = device === '' ? `host memory (${name})` : `${device}, ${named(name)}`;
  return hosts > 1 ? `${where} on ${host}` : where;
}

// A TPU's allocator is called by a number, which means nothing beside the device's.
function named(allocator: string): string {
  return /^\d+$/.test(allocator) ? 'allocator' : allocator;
}

/** The curve of an allocator, from all rows of an answer, whatever its order. */
export function curveOf(table: Columns, allocator: Allocator): Curve {
  const rows: number[] = [];
  for (let row = 0; row < table.rows; row++) {
    const isOnHost = allocator.host === '' || stringAt(table, 'host', row) === allocator.host;
    const device = stringAt(table, 'device', row) ?? '';
    if (
      isOnHost &&
      stringAt(table, 'allocator', row) === allocator.name &&
      (allocator.device === '' || device === allocator.device)
    ) {
      rows.push(row);
    }
  }
  const at = (column: string) => rows.map((row) => numberAt(table, column, row));
  const timePs = (row: number) => numberAt(table, 'start_ps', row);
  rows.sort((a, b) => timePs(a) - timePs(b) || a - b);
  return {
    rows,
    timePs: at('start_ps'),
    heap: at('heap_bytes'),
    stack: at('stack_bytes').map(orZero),
    free: at('free_bytes'),
    fragmentation: at('fragmentation_fraction')
  };
}

/** The first and the last time of an answer: all its curves are drawn between them. */
export function spanOf(table: Columns): readonly [number, number] {
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const time of table.numbers.get('start_ps') ?? []) {
    first = Math.min(first, time);
    last = Math.max(last, time);
  }
  return first <= last ? [first, last] : [0, 0];
}

/** Whether a chart up to the capacity would still show the curve: it is known, and not far above. */
export function isNear({ peakBytes, capacityBytes }: Allocator): boolean {
  return peakBytes >= capacityBytes / 4;
}

function orZero(value: number): number {
  return Number.isNaN(value) ? 0 : value;
}
