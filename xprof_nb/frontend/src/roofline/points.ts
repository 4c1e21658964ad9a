/** The points of a roofline: rows of the answer at the intensity of one memory level, and what has no place there. */
import { type Columns, numberAt, stringAt } from '../columns';

export const LEVELS = ['hbm', 'vmem_read', 'vmem_write', 'cmem_read', 'cmem_write', 'link', ''] as const;

export type What = 'program' | 'step' | 'op';

export interface Point {
  /** Of the table. */
  readonly row: number;
  readonly what: What;
  readonly intensity: number;
  readonly flopsPerS: number;
  readonly timePs: number;
  readonly isSuspicious: boolean;
}

/** Rows that have no place under the roofs, and why. */
export interface Undrawn {
  readonly why: string;
  readonly ops: number;
  readonly steps: number;
  readonly timeFraction: number;
}

export interface Placed {
  readonly points: readonly Point[];
  readonly undrawn: readonly Undrawn[];
}

/** The column of a level's arithmetic intensity; that of all bytes accessed for `''`. */
export function intensityColumn(level: string): string {
  return level === '' ? 'arithmetic_intensity' : `${level}_arithmetic_intensity`;
}

/** The memory levels whose intensities are known of some row; the nearest to main memory first. */
export function levelsOf(table: Columns): string[] {
  const isKnown = (level: string) => table.numbers.get(intensityColumn(level))?.some((value) => value > 0);
  const levels = LEVELS.filter(isKnown);
  return levels.includes('hbm') ? levels.filter((level) => level !== '') : [...levels];
}

/** Put rows in their places. */
export function place(table: Columns, rows: readonly number[], level: string, levelName: string): Placed {
  const points: Point[] = [];
  const left = new Map<string, { ops: number; steps: number; timeFraction: number }>();
  for (const row of rows) {
    const what = whatOf(table, row);
    const intensity = numberAt(table, intensityColumn(level), row);
    const flopsPerS = numberAt(table, 'flops_per_s', row);
    if (intensity > 0 && flopsPerS > 0) {
      points.push({
        row,
        what,
        intensity,
        flopsPerS,
        timePs: numberAt(table, 'time_ps', row),
        isSuspicious: numberAt(table, 'is_suspicious', row) === 1
      });
    } else if (what !== 'program') {
      const why = whyNot(flopsPerS, levelName);
      const sum = left.get(why) ?? { ops: 0, steps: 0, timeFraction: 0 };
      sum[what === 'op' ? 'ops' : 'steps'] += 1;
      sum.timeFraction += what === 'op' ? numberAt(table, 'time_fraction', row) || 0 : 0;
      left.set(why, sum);
    }
  }
  // The largest below the others, so that none is hidden.
  points.sort((a, b) => b.timePs - a.timePs);
  return { points, undrawn: [...left].map(([why, sum]) => ({ why, ...sum })) };
}

function whyNot(flopsPerS: number, levelName: string): string {
  if (flopsPerS === 0) {
    return 'without FLOPs';
  }
  return Number.isNaN(flopsPerS) ? 'with unknown FLOPs' : `without known traffic of ${levelName}`;
}

export function whatOf(table: Columns, row: number): What {
  const level = stringAt(table, 'level', row);
  return level === 'program' || level === 'step' ? level : 'op';
}

const LARGEST_PX = 36;
export const SMALLEST_PX = 7;
const FIXED_PX: Readonly<Record<What, number>> = { program: 15, step: 9, op: SMALLEST_PX };

/** How wide a point is drawn: an op's area is proportional to its time, down to the smallest that can be hit. */
export function diameter({ what, timePs }: Point, longestPs: number): number {
  if (what !== 'op' || !(timePs > 0) || !(longestPs > 0)) {
    return FIXED_PX[what];
  }
  return Math.max(SMALLEST_PX, LARGEST_PX * Math.sqrt(timePs / longestPs));
}

/** The stretch of an axis that shows all values, with room around them. */
export function logRange(values: readonly number[]): [number, number] {
  const known = values.filter((value) => value > 0 && Number.isFinite(value));
  if (known.length === 0) {
    return [0.1, 1000];
  }
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const room = (high / low) ** 0.06 * 1.8;
  return [low / room, high * room];
}
