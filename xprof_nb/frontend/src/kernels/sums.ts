/** What kernels add up to: by name, by kind of work, on tensor cores. */
import { type Columns, numberAt, stringAt } from '../columns';
import type { Summary } from '../host';
import { kindOf } from '../kinds';
import { number, record, text } from '../payload';

export interface KernelSum {
  readonly kernel: string;
  readonly time_ps: number;
  readonly launches: number;
  readonly kind: string;
}

export interface KindSum {
  readonly kind: string;
  readonly time_ps: number;
}

export interface Sums {
  readonly time_ps: number;
  readonly kernel_count: number;
  /** The most expensive first. */
  readonly kernels: readonly KernelSum[];
  readonly kinds: readonly KindSum[];
  readonly tensor_core_time_ps: number;
}

/** Sum some rows of the table of kernels. */
export function sumsOf(table: Columns, rows: readonly number[]): Sums {
  const kernels = new Map<string, KernelSum & { most_ps: number }>();
  const kinds = new Map<string, number>();
  let [total, onTensorCores] = [0, 0];
  for (const row of rows) {
    const kernel = stringAt(table, 'kernel', row) ?? '';
    const kind = kindOf(stringAt(table, 'work_kind', row)).id;
    const time = numberAt(table, 'time_ps', row) || 0;
    const known = kernels.get(kernel);
    const isMost = known === undefined || time > known.most_ps;
    kernels.set(kernel, {
      kernel,
      time_ps: (known?.time_ps ?? 0) + time,
      launches: (known?.launches ?? 0) + (numberAt(table, 'occurrences', row) || 0),
      kind: isMost ? kind : known.kind,
      most_ps: isMost ? time : known.most_ps
    });
    kinds.set(kind, (kinds.get(kind) ?? 0) + time);
    total += time;
    onTensorCores += numberAt(table, 'uses_tensor_cores', row) === 1 ? time : 0;
  }
  return {
    time_ps: total,
    kernel_count: kernels.size,
    kernels: largest([...kernels.values()]),
    kinds: largest([...kinds].map(([kind, time_ps]) => ({ kind, time_ps }))),
    tensor_core_time_ps: onTensorCores
  };
}

/** The sums of all kernels, as the answer states them: a snapshot holds only its most expensive rows. */
export function statedSums(summary: Summary): Sums {
  const listed = (name: string) => (Array.isArray(summary[name]) ? summary[name].map(record) : []);
  return {
    time_ps: number(summary.kernel_time_ps),
    kernel_count: number(summary.kernel_count),
    kernels: listed('top_kernels').map((one) => ({
      kernel: text(one.kernel),
      time_ps: number(one.time_ps),
      launches: number(one.launches),
      kind: kindOf(text(one.work_kind)).id
    })),
    kinds: largest(
      listed('kind_times').map((one) => ({
        kind: kindOf(text(one.work_kind)).id,
        time_ps: number(one.time_ps)
      }))
    ),
    tensor_core_time_ps: number(summary.tensor_core_time_ps)
  };
}

function largest<T extends { readonly time_ps: number }>(sums: T[]): T[] {
  return sums.sort((a, b) => b.time_ps - a.time_ps);
}
