/** Steps as bars: means over the devices shown, the parts of a bar adding up to its time. */
import { type Columns, numberAt, stringAt } from '../columns';
import { count, percent, time } from '../format';
import { BUSY, PARTS, type Part, partOf } from './parts';

/** One step, or some that follow one another where there are too many to tell apart. */
export interface StepBar {
  /** The number of the step; of several, of the longest. */
  readonly step: number;
  readonly title: string;
  /** To the start of the next step, or to its own end: the mean over its devices. */
  readonly time_ps: number;
  readonly shortest_ps: number;
  readonly longest_ps: number;
  readonly devices: number;
  /** In ps, by the id of a part; they add up to `time_ps`. */
  readonly parts: ReadonlyMap<string, number>;
  /** Device time of the ops that were launched in it, wherever they ran; NaN if unknown. */
  readonly work_ps: number;
  /** Why it is in no mean; empty when it is. */
  readonly leftOut: string;
}

/** The bars of some rows of `steps`, with the parts that the input pipeline's table knows of them. */
export function barsOfSteps(table: Columns, rows: readonly number[], pipeline: Columns | null): StepBar[] {
  const known = new Map<string, number>();
  for (let row = 0; row < (pipeline?.rows ?? 0); row++) {
    known.set(identity(pipeline as Columns, row), row);
  }
  return grouped(table, rows, (row) => {
    const at = known.get(identity(table, row));
    const total = stepTime(table, row);
    return pipeline === null || at === undefined || numberAt(pipeline, 'step_time_ps', at) !== total
      ? busyAndIdle(table, row, total)
      : partsAt(pipeline, at);
  });
}

/** The bars of some rows of the input pipeline's table. */
export function barsOfPipeline(table: Columns, rows: readonly number[]): StepBar[] {
  return grouped(table, rows, (row) => partsAt(table, row));
}

/** Neighbours joined until there are at most so many bars: each the mean of its steps, between their extremes. */
export function joined(bars: readonly StepBar[], most: number): readonly StepBar[] {
  const size = Math.ceil(bars.length / most);
  return size < 2
    ? bars
    : Array.from({ length: Math.ceil(bars.length / size) }, (_, at) =>
        mergedOf(bars.slice(at * size, (at + 1) * size))
      );
}

/** The parts that any bar has, in the order they are counted. */
export function partsOf(bars: readonly StepBar[]): Part[] {
  return [BUSY, ...PARTS].filter(({ id }) => bars.some(({ parts }) => (parts.get(id) ?? 0) > 0));
}

/** Mean and median of the times that `steps` takes them of: to the next step, of whole steps that compiled nothing. */
export function typical(table: Columns, rows: readonly number[]): { mean_ps: number; median_ps: number } {
  const counted = measured(table, rows);
  const toTheNext = counted.map((row) => numberAt(table, 'step_time_ps', row)).filter(Number.isFinite);
  const times = toTheNext.length > 0 ? toTheNext : counted.map((row) => stepTime(table, row));
  const ordered = [...times].filter(Number.isFinite).sort((a, b) => a - b);
  const middle = (ordered.length - 1) / 2;
  const median =
    ((ordered[Math.floor(middle)] ?? Number.NaN) + (ordered[Math.ceil(middle)] ?? Number.NaN)) / 2;
  return { mean_ps: mean(ordered), median_ps: median };
}

/** The rows that means are made of: of whole steps, and of those that compiled nothing where there are any. */
export function measured(table: Columns, rows: readonly number[]): readonly number[] {
  const whole = rows.filter((row) => numberAt(table, 'is_partial', row) !== 1);
  const settled = whole.filter((row) => !hasCompiled(table, row));
  return settled.length > 0 ? settled : whole;
}

/** What a bar says of itself. */
export function explained(bar: StepBar): string[] {
  const several = bar.devices > 1 ? `, mean of ${count(bar.devices)} devices` : '';
  const parts = [...bar.parts].filter(([, ps]) => ps > 0);
  return [
    bar.title,
    `${time(bar.time_ps)} to the next step${several}`,
    ...(bar.longest_ps > bar.shortest_ps
      ? [`${time(bar.shortest_ps)} to ${time(bar.longest_ps)} by device`]
      : []),
    ...parts.map(([id, ps]) => `${partOf(id)?.label ?? id} ${time(ps)}, ${percent(ps / bar.time_ps)}`),
    ...(bar.work_ps > bar.time_ps * 1.0005
      ? [`its ops took ${time(bar.work_ps)}: they ran on after the next step had begun`]
      : []),
    ...(bar.leftOut ? [`in no mean: ${bar.leftOut}`] : [])
  ];
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function grouped(
  table: Columns,
  rows: readonly number[],
  partsAtRow: (row: number) => ReadonlyMap<string, number>
): StepBar[] {
  const byStep = new Map<number, number[]>();
  for (const row of rows) {
    const step = numberAt(table, 'step', row);
    if (!Number.isNaN(step)) {
      const found = byStep.get(step);
      if (found === undefined) {
        byStep.set(step, [row]);
      } else {
        found.push(row);
      }
    }
  }
  return [...byStep]
    .map(([step, mine]) => {
      const times = mine.map((row) => stepTime(table, row));
      const work = mine.map((row) => numberAt(table, 'busy_time_ps', row)).filter(Number.isFinite);
      return {
        step,
        title: titleOf(table, step, mine[0] as number),
        time_ps: mean(times),
        shortest_ps: least(times),
        longest_ps: most(times),
        devices: mine.length,
        parts: meanParts(mine.map(partsAtRow)),
        work_ps: mean(work),
        leftOut: leftOutOf(table, mine)
      };
    })
    .sort((a, b) => a.step - b.step);
}

function titleOf(table: Columns, step: number, row: number): string {
  const kind = stringAt(table, 'kind', row);
  const name = stringAt(table, 'name', row) ?? '';
  const told = name === '' || name === String(step) ? '' : ` of ${name}`;
  return `step ${step}${kind === null ? '' : `, ${kind}`}${told}`;
}

function leftOutOf(table: Columns, rows: readonly number[]): string {
  const cut = rows.find((row) => numberAt(table, 'is_partial', row) === 1);
  if (cut !== undefined) {
    return stringAt(table, 'cut', cut) ?? 'cut by an edge';
  }
  const compiled = rows.find((row) => hasCompiled(table, row));
  const length = numberAt(table, 'compile_time_ps', compiled ?? -1);
  return compiled === undefined ? '' : `it compiled${length > 0 ? ` for ${time(length)}` : ''}`;
}

function busyAndIdle(table: Columns, row: number, total: number): ReadonlyMap<string, number> {
  const work = numberAt(table, 'busy_time_ps', row);
  if (Number.isNaN(work)) {
    return new Map([['idle', total]]);
  }
  // Ops that ran on after the step cannot fill more of it than there is.
  const busy = Math.min(work, total);
  return new Map([
    ['busy', busy],
    ['idle', total - busy]
  ]);
}

function partsAt(table: Columns, row: number): ReadonlyMap<string, number> {
  return new Map(PARTS.map(({ id }) => [id, numberAt(table, `${id}_ps`, row) || 0]));
}

function meanParts(all: readonly ReadonlyMap<string, number>[]): ReadonlyMap<string, number> {
  const ids = new Set(all.flatMap((parts) => [...parts.keys()]));
  return new Map([...ids].map((id) => [id, mean(all.map((parts) => parts.get(id) ?? 0))]));
}

function mergedOf(bars: readonly StepBar[]): StepBar {
  const longest = bars.reduce((found, bar) => (bar.time_ps > found.time_ps ? bar : found));
  const last = bars[bars.length - 1] as StepBar;
  return {
    step: longest.step,
    title: `steps ${bars[0]?.step} to ${last.step}: ${count(bars.length)}, their mean; the longest is ${longest.step}`,
    time_ps: mean(bars.map((bar) => bar.time_ps)),
    shortest_ps: least(bars.map((bar) => bar.shortest_ps)),
    longest_ps: most(bars.map((bar) => bar.longest_ps)),
    devices: most(bars.map((bar) => bar.devices)),
    parts: meanParts(bars.map((bar) => bar.parts)),
    work_ps: mean(bars.map((bar) => bar.work_ps)),
    leftOut: bars.find((bar) => bar.leftOut)?.leftOut ?? ''
  };
}

/** The last step of a device has no next one: then its own length. */
function stepTime(table: Columns, row: number): number {
  const toTheNext = numberAt(table, 'step_time_ps', row);
  return Number.isNaN(toTheNext) ? numberAt(table, 'duration_ps', row) : toTheNext;
}

/** `steps` says for how long, the input pipeline that it did. */
function hasCompiled(table: Columns, row: number): boolean {
  return numberAt(table, 'compile_time_ps', row) > 0 || numberAt(table, 'is_compiling', row) === 1;
}

function identity(table: Columns, row: number): string {
  return `${numberAt(table, 'step', row)}\n${stringAt(table, 'device', row)}\n${stringAt(table, 'host', row)}`;
}

function least(values: readonly number[]): number {
  return values.reduce((found, value) => Math.min(found, value), Number.POSITIVE_INFINITY);
}

function most(values: readonly number[]): number {
  return values.reduce((found, value) => Math.max(found, value), Number.NEGATIVE_INFINITY);
}
