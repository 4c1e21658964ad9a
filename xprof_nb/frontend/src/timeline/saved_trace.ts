/** What a snapshot holds of the timeline as Chrome's trace JSON, which Perfetto opens too. */
import type { Boxes } from './boxes';
import { rowsOnce } from './levels';
import type { State } from './state';
import { isArea, isHeading, pathOf, type Track } from './tracks';

const PS_PER_US = 1e6;

interface TraceEvent {
  readonly [name: string]: unknown;
}

/** The best that is known of every track; several events that are drawn as one are one. */
export function savedTrace(state: State, run: string, hint: string): string {
  const note = `This is what a snapshot holds: short events are summed up. ${hint}`;
  const events = state.tracks.all
    .filter((track) => !isHeading(track))
    .flatMap((track) => eventsOf(state, track));
  const trace = { displayTimeUnit: 'ns', otherData: { run, note }, traceEvents: events };
  // Harmless inside a script element of a page as well.
  return JSON.stringify(trace).replaceAll('<', '\\u003c').replaceAll('>', '\\u003e');
}

function eventsOf(state: State, track: Track): TraceEvent[] {
  const place = { pid: (track.parent?.id ?? track.id) + 1, tid: track.id };
  const known = rowsOnce(state.stretches(track.id, state.bounds, 0), track.id, state.bounds);
  const found = known.map(({ boxes, row }) => ({ ...place, ...eventOf(boxes, row, track) }));
  const named = (what: string, name: string) => ({ ...place, ph: 'M', name: what, args: { name } });
  const process = track.parent === null ? track.name : pathOf(track.parent);
  return found.length === 0
    ? []
    : [named('process_name', process), named('thread_name', track.name), ...found];
}

function eventOf(boxes: Boxes, row: number, track: Track): TraceEvent {
  const [start, end] = [boxes.start[row] ?? 0, boxes.end[row] ?? 0];
  const ts = start / PS_PER_US;
  if (isArea(track)) {
    return { ph: 'C', ts, name: track.name, args: { value: boxes.value?.[row] ?? 0 } };
  }
  const count = boxes.count(row);
  const name = count > 1 ? `${count} events, mostly ${boxes.name(row)}` : boxes.name(row);
  return { ph: 'X', ts, dur: (end - start) / PS_PER_US, name, cat: boxes.kind(row) };
}
