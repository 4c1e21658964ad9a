/** How the time of the steps divides into parts, and how much of it waits for input. */
import { type Columns, numberAt } from '../columns';
import { measured } from '../steps/bars';
import { PARTS, type Part } from '../steps/parts';

export interface Share {
  readonly part: Part;
  readonly fraction: number;
  readonly mean_ps: number;
}

const INPUT = new Set(['infeed', 'host_input', 'host_to_device']);
/** As xprof has it. */
export const MODERATE_FRACTION = 0.05;
export const HIGH_FRACTION = 0.2;

/** The share of every part in the time of the rows that means are made of. */
export function sharesOf(table: Columns, rows: readonly number[]): Share[] {
  const counted = measured(table, rows);
  const total = sum(table, 'step_time_ps', counted);
  return PARTS.map((part) => {
    const time = sum(table, `${part.id}_ps`, counted);
    return { part, fraction: total > 0 ? time / total : Number.NaN, mean_ps: time / counted.length };
  });
}

export function inputFraction(shares: readonly Share[]): number {
  return shares.reduce((total, { part, fraction }) => total + (INPUT.has(part.id) ? fraction : 0), 0);
}

export function verdict(fraction: number): string {
  if (Number.isNaN(fraction)) {
    return 'unknown: no whole step has a length';
  }
  if (fraction >= HIGH_FRACTION) {
    return 'highly input-bound';
  }
  return fraction >= MODERATE_FRACTION ? 'moderately input-bound' : 'not input-bound';
}

function sum(table: Columns, column: string, rows: readonly number[]): number {
  return rows.reduce((total, row) => total + (numberAt(table, column, row) || 0), 0);
}
