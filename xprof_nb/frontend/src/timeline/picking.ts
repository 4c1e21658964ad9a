/** From a point on screen, or from one event to the next: which box is meant. */
import type { Summary } from '../host';
import { number, text } from '../payload';
import type { Boxes } from './boxes';
import { laneAt, laneTop, type Seen } from './layout';
import type { Stretch } from './levels';
import type { Frame } from './paint_over';
import type { Scale } from './span';

/** One box, whichever answer it came from. */
export interface Picked {
  readonly track: number;
  /** NaN until an answer tells. */
  readonly lane: number;
  /** NaN for several events drawn as one. */
  readonly event: number;
  readonly start: number;
  readonly end: number;
  readonly name: string;
  readonly kind: string;
  readonly count: number;
  readonly busyShare: number;
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

const REACH_PX = 4;

export function pickedOf(boxes: Boxes, row: number): Picked {
  return {
    track: boxes.track(row),
    lane: boxes.lane[row] ?? 0,
    event: boxes.count(row) === 1 ? boxes.event(row) : Number.NaN,
    start: boxes.start[row] ?? 0,
    end: boxes.end[row] ?? 0,
    name: boxes.name(row),
    kind: boxes.kind(row),
    count: boxes.count(row),
    busyShare: boxes.busyShare(row),
    value: boxes.value?.[row] ?? Number.NaN,
    low: boxes.low?.[row] ?? Number.NaN,
    high: boxes.high?.[row] ?? Number.NaN
  };
}

/** A box as JSON. */
export function entryOf(picked: Picked): Summary {
  const { track, lane, event, start, end, name, kind, count, busyShare, value, low, high } = picked;
  const times = { start_ps: start, duration_ps: end - start };
  return {
    track,
    lane,
    event,
    ...times,
    name,
    work_kind: kind,
    count,
    busy_fraction: busyShare,
    value,
    low,
    high
  };
}

/** An event that an answer names, or a box that was kept. */
export function pickedFrom(entry: Summary): Picked {
  const start = number(entry.start_ps);
  return {
    track: number(entry.track),
    lane: number(entry.lane),
    event: number(entry.event),
    start,
    end: start + (number(entry.duration_ps) || 0),
    name: text(entry.name),
    kind: text(entry.work_kind),
    count: number(entry.count) || 1,
    busyShare: number(entry.busy_fraction) || 1,
    value: number(entry.value),
    low: number(entry.low),
    high: number(entry.high)
  };
}

/** The box at a point of a track, or one so near that nobody can aim better. */
export function pickAt(
  seen: Seen,
  x: number,
  y: number,
  scale: Scale,
  stretches: readonly Stretch[]
): Picked | null {
  const time = scale.time(x);
  const { id } = seen.place.row.track;
  const stretch = stretches.find(({ span }) => span.start <= time && time <= span.end);
  const row = stretch?.boxes.find(id, laneAt(seen, y), time, scale.psPerPixel * REACH_PX) ?? -1;
  return stretch === undefined || row < 0 ? null : pickedOf(stretch.boxes, row);
}

/** The box that begins next after one in its lane, or before it; the first or last on screen when there is none yet. */
export function neighbour(
  track: number,
  from: { readonly lane: number; readonly start: number } | null,
  by: 1 | -1,
  stretches: readonly Stretch[]
): Picked | null {
  const lane = from?.lane ?? 0;
  const after = from?.start ?? (by === 1 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY);
  const ordered = by === 1 ? stretches : [...stretches].reverse();
  for (const { boxes, span } of ordered) {
    const rows = boxes.lanes(track).get(lane);
    if (rows === undefined) {
      continue;
    }
    const isNext = (row: number) => {
      const start = boxes.start[row] ?? 0;
      return by * (start - after) > 0 && start < span.end && (boxes.end[row] ?? 0) >= span.start;
    };
    for (let i = 0; i < rows.to - rows.from; i++) {
      const row = by === 1 ? rows.from + i : rows.to - 1 - i;
      if (isNext(row)) {
        return pickedOf(boxes, row);
      }
    }
  }
  return null;
}

/** Whether two picks are the same event. */
export function isSamePick(a: Picked | null, b: Picked | null): boolean {
  return (
    a === b || (a !== null && b !== null && a.track === b.track && a.lane === b.lane && a.start === b.start)
  );
}

/** Where a box is on screen. */
export function frameOf(box: { start: number; end: number; lane: number }, seen: Seen, scale: Scale): Frame {
  const left = Math.max(-4, scale.x(box.start));
  const right = Math.min(scale.width + 4, scale.x(box.end));
  return {
    x: left,
    y: laneTop(seen, box.lane),
    width: Math.max(1, right - left),
    height: seen.place.laneHeight - 1
  };
}
