/** The tree of runs as rows, one below the other: log dir, run, host. */
import type { RunEntry } from '../runs_api';
import type { RunGroup } from './sort';

interface Place {
  /** What a row is known by from one list to the next. */
  readonly key: string;
  readonly parent: string | null;
  readonly level: number;
  /** From 1, among the children of its parent. */
  readonly position: number;
  readonly siblings: number;
  /** Null when it has nothing to show below it. */
  readonly expanded: boolean | null;
}

export interface LogdirRow extends Place {
  readonly kind: 'logdir';
  readonly logdir: string;
  readonly runCount: number;
}

export interface RunRow extends Place {
  readonly kind: 'run';
  readonly run: RunEntry;
}

export interface HostRow extends Place {
  readonly kind: 'host';
  readonly run: RunEntry;
  readonly host: string;
}

export type Row = LogdirRow | RunRow | HostRow;

/** The rows on show; log dirs are open and runs closed, except those in `toggled`. */
export function rowsOf(groups: readonly RunGroup[], toggled: ReadonlySet<string>): Row[] {
  return groups.flatMap((group, index) => {
    const key = `logdir:${group.logdir}`;
    const expanded = !toggled.has(key);
    const row: LogdirRow = {
      kind: 'logdir',
      key,
      parent: null,
      level: 1,
      position: index + 1,
      siblings: groups.length,
      expanded,
      logdir: group.logdir,
      runCount: group.runs.length
    };
    return expanded
      ? [row, ...group.runs.flatMap((run, at) => runRows(run, key, at, group, toggled))]
      : [row];
  });
}

/** What a row says when it is searched by typing. */
export function nameOf(row: Row): string {
  return row.kind === 'logdir' ? row.logdir : row.kind === 'run' ? row.run.run : row.host;
}

function runRows(
  run: RunEntry,
  parent: string,
  at: number,
  group: RunGroup,
  toggled: ReadonlySet<string>
): Row[] {
  const key = `run:${run.path}`;
  const expanded = run.hosts.length === 0 ? null : toggled.has(key);
  const row: RunRow = {
    kind: 'run',
    key,
    parent,
    level: 2,
    position: at + 1,
    siblings: group.runs.length,
    expanded,
    run
  };
  return expanded ? [row, ...run.hosts.map((host, index) => hostRow(run, host, index, key))] : [row];
}

function hostRow(run: RunEntry, host: string, index: number, parent: string): HostRow {
  return {
    kind: 'host',
    key: `host:${run.path}\n${host}`,
    parent,
    level: 3,
    position: index + 1,
    siblings: run.hosts.length,
    expanded: null,
    run,
    host
  };
}
