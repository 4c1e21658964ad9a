/** The orders in which runs are listed. */
import type { RunEntry } from '../runs_api';

/** The runs of one log dir, in order. */
export interface RunGroup {
  readonly logdir: string;
  readonly runs: readonly RunEntry[];
}

export const ORDERS = ['newest', 'name', 'size', 'duration'] as const;
export type Order = (typeof ORDERS)[number];

type Compare = (a: RunEntry, b: RunEntry) => number;

const byName = new Intl.Collator(undefined, { numeric: true }).compare;
const newest = largestFirst(({ started }) => started?.getTime());
const COMPARE: Readonly<Record<Order, Compare>> = {
  newest,
  name: (a, b) => byName(a.run, b.run),
  size: largestFirst(({ bytes }) => bytes),
  duration: largestFirst(({ durationSeconds }) => durationSeconds)
};

/** Runs by log dir; the log dir of the first run is first. What an order leaves open goes by age. */
export function grouped(runs: readonly RunEntry[], order: Order): RunGroup[] {
  const groups = new Map<string, RunEntry[]>();
  for (const run of [...runs].sort((a, b) => COMPARE[order](a, b) || newest(a, b))) {
    const group = groups.get(run.logdir);
    if (group === undefined) {
      groups.set(run.logdir, [run]);
    } else {
      group.push(run);
    }
  }
  return [...groups].map(([logdir, members]) => ({ logdir, runs: members }));
}

/** What is not known is last. */
function largestFirst(value: (run: RunEntry) => number | undefined): Compare {
  const known = (run: RunEntry) => {
    const number = value(run) ?? Number.NaN;
    return Number.isNaN(number) ? Number.NEGATIVE_INFINITY : number;
  };
  return (a, b) => {
    const [left, right] = [known(a), known(b)];
    return left === right ? 0 : right - left;
  };
}
