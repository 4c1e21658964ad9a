/** A made-up run for the tests of the timeline, and a host that answers its questions from a list of events. */
import type { Columns } from '../columns';
import type { Answer, Params, Snapshot, Summary } from '../host';
import { Boxes } from '../timeline/boxes';
import type { Span } from '../timeline/span';
import { Tracks } from '../timeline/tracks';
import { rowsTable, snapshot } from './fixtures';

export interface Happening {
  readonly track: number;
  readonly lane?: number;
  readonly start: number;
  readonly length: number;
  readonly name: string;
  readonly kind?: string;
}

/** A host with a device of three tracks and a counter, and folded threads below. */
export const TRACKS: readonly Record<string, number | string>[] = [
  { track: 0, parent: -1, kind: 'host', name: 'vm', lanes: 0 },
  { track: 1, parent: 0, kind: 'device', name: 'TPU:0', lanes: 0 },
  { track: 2, parent: 1, kind: 'steps', name: 'Steps', lanes: 1, event_count: 2, busy_ps: 9e6 },
  { track: 3, parent: 1, kind: 'ops', name: 'Ops', lanes: 2, event_count: 5, busy_ps: 5e6 },
  { track: 4, parent: 1, kind: 'memory', name: 'HBM', lanes: 1, unit: 'B', minimum: 0, maximum: 2 ** 30 },
  { track: 5, parent: 0, kind: 'threads', name: 'Threads (2)', lanes: 0, folded: 1 },
  { track: 6, parent: 5, kind: 'thread', name: 'worker/1', lanes: 1, event_count: 1, busy_ps: 1e6 },
  { track: 7, parent: 5, kind: 'thread', name: 'worker/2', lanes: 1, event_count: 1, busy_ps: 1e6 }
];

export const EVENTS: readonly Happening[] = [
  { track: 2, start: 0, length: 4_000_000, name: 'train 7', kind: 'control' },
  { track: 2, start: 5_000_000, length: 5_000_000, name: 'train 8', kind: 'control' },
  { track: 3, start: 0, length: 2_000_000, name: 'fusion.1', kind: 'matrix' },
  { track: 3, lane: 1, start: 500_000, length: 500_000, name: 'dot.2', kind: 'matrix' },
  { track: 3, start: 3_000_000, length: 1_000_000, name: 'all-reduce.3', kind: 'collective' },
  { track: 3, start: 6_000_000, length: 1_000_000, name: 'fusion.1', kind: 'matrix' },
  { track: 3, start: 8_000_000, length: 1_000_000, name: '<img src=x onerror="globalThis.pwned=1">' },
  { track: 6, start: 1_000_000, length: 1_000_000, name: 'dispatch', kind: 'host' }
];

export const BOUNDS: Span = { start: 0, end: 10_000_000 };

export function tracks(rows: readonly Record<string, number | string>[] = TRACKS): Tracks {
  return new Tracks(rowsTable(rows));
}

/** An answer about a window in which every event is a box of its own. */
export function windowTable(events: readonly Happening[], window: Span, ids: readonly number[]): Columns {
  const inside = events
    .map((event, index) => ({ ...event, event: index }))
    .filter(
      ({ track, start, length }) => ids.includes(track) && start < window.end && start + length > window.start
    )
    .sort((a, b) => a.track - b.track || (a.lane ?? 0) - (b.lane ?? 0) || a.start - b.start);
  return rowsTable(
    inside.map(({ track, lane, start, length, name, kind, event }) => ({
      track,
      lane: lane ?? 0,
      start_ps: start,
      duration_ps: length,
      name,
      work_kind: kind ?? '',
      count: 1,
      busy_ps: length,
      event
    }))
  );
}

export function boxes(
  rows: readonly Record<string, number | string>[],
  { span = BOUNDS, pixels = 1000, ids = [2, 3, 4] }: { span?: Span; pixels?: number; ids?: number[] } = {}
): Boxes {
  const summary = { start_ps: span.start, end_ps: span.end, pixels };
  return new Boxes(rowsTable(rows), summary, new Set(ids));
}

export function eventBoxes(events: readonly Happening[] = EVENTS, span: Span = BOUNDS, pixels = 1000): Boxes {
  const ids = TRACKS.map(({ track }) => Number(track));
  const summary = { start_ps: span.start, end_ps: span.end, pixels };
  return new Boxes(windowTable(events, span, ids), summary, new Set(ids));
}

export function traceSnapshot(changes: Record<string, unknown> = {}): Snapshot {
  const summary = { start_ps: BOUNDS.start, end_ps: BOUNDS.end, markers: [], sentence: '10 µs of 1 host.' };
  return {
    ...snapshot({ view: 'trace', title: 'timeline of run', notes: [] }),
    table: rowsTable(TRACKS),
    summary,
    extra: {},
    state: { shown: {}, made: {} },
    ...changes
  };
}

/** Answers as `analysis/timeline.py` does, for few events. */
export async function answerTrace(query: string, params: Params): Promise<Answer> {
  const reply = (table: Columns, summary: Summary): Answer => ({ table, summary, notes: [] });
  const nothing = rowsTable([]);
  switch (query) {
    case 'trace_window': {
      const window = { start: Number(params.start_ps), end: Number(params.end_ps) };
      return reply(windowTable(EVENTS, window, params.tracks as number[]), { exact: true });
    }
    case 'trace_search': {
      const text = String(params.text).toLowerCase();
      const hits = EVENTS.map((event, index) => ({ ...event, index })).filter(({ name }) =>
        name.toLowerCase().includes(text)
      );
      const from = Number(params.from_ps ?? (params.forward ? -1 : 1e18));
      const next = params.forward
        ? hits.find(({ start }) => start > from)
        : hits.filter(({ start }) => start < from).at(-1);
      const found =
        next === undefined
          ? null
          : {
              track: next.track,
              lane: next.lane ?? 0,
              event: next.index,
              start_ps: next.start,
              duration_ps: next.length,
              name: next.name,
              index: hits.indexOf(next)
            };
      return reply(nothing, {
        count: hits.length,
        names_count: new Set(hits.map(({ name }) => name)).size,
        next: found
      });
    }
    case 'trace_event': {
      const event = EVENTS[Number(params.event)] as Happening;
      return reply(nothing, {
        name: event.name,
        work_kind: event.kind ?? '',
        self_time_ps: event.length,
        op: event.name,
        program_id: '12345678901234567890',
        program: 'jit_f',
        flops: 2e6,
        flops_per_s: 1e12,
        stats: { run_id: '7' },
        parent: null,
        flows: []
      });
    }
    case 'trace_selection': {
      const row = {
        name: '=fusion',
        work_kind: 'matrix',
        kind: 'ops',
        count: 2,
        total_ps: 3e6,
        mean_ps: 1.5e6
      };
      return reply(rowsTable([row]), { busy_ps: 3e6, utilization_fraction: 0.3, sentence: '2 ops.' });
    }
    default:
      return reply(nothing, { markers: params.markers ?? [], saved: params.markers !== undefined });
  }
}
