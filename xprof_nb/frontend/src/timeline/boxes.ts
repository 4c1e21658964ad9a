/** One answer of what to draw: the boxes of a window, ready for drawing and for finding what is under the pointer. */
import { type Columns, type Numbers, numberAt, stringAt } from '../columns';
import type { Summary } from '../host';
import { KINDS, kindOf, shade } from '../kinds';
import { number, record } from '../payload';
import type { Span } from './span';

/** Rows of one track: from, to (exclusive). */
export interface Rows {
  readonly from: number;
  readonly to: number;
}

/** Shades of a kind that names may have, and the code of a kind's shade. */
export const SHADES = 5;

const NO_ROWS: Rows = { from: 0, to: 0 };
const KIND_INDEX = new Map(KINDS.map((kind, index) => [kind.id, index]));

export class Boxes {
  readonly span: Span;
  readonly psPerPixel: number;
  /** A sketch does not know which events its boxes are: it is drawn until a better answer is there. */
  readonly isSketch: boolean;
  /** How many lanes each track has, where the answer says so. */
  readonly laneCounts: ReadonlyMap<number, number>;
  readonly rows: number;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly lane: Int32Array;
  readonly value: Numbers | null;
  readonly low: Numbers | null;
  readonly high: Numbers | null;
  readonly counts: Numbers | null;
  readonly busy: Numbers | null;
  /** Kind and shade of every box in one number. */
  readonly colour: Uint8Array;
  private readonly _byTrack = new Map<number, Map<number, Rows>>();
  private readonly _merged = new Set<number>();
  private _matches: { readonly text: string; readonly names: Uint8Array } = {
    text: '',
    names: new Uint8Array(0)
  };

  constructor(
    private readonly _table: Columns,
    summary: Summary,
    /** The tracks that were asked for: one without boxes is empty here, not unknown. */
    readonly tracks: ReadonlySet<number>
  ) {
    this.span = { start: number(summary.start_ps), end: number(summary.end_ps) };
    this.psPerPixel = (this.span.end - this.span.start) / Math.max(1, number(summary.pixels) || 1);
    this.isSketch = !_table.numbers.has('event');
    this.laneCounts = new Map(
      Object.entries(record(summary.lanes)).map(([track, lanes]) => [Number(track), number(lanes)])
    );
    this.rows = _table.rows;
    this.start = Float64Array.from(column(_table, 'start_ps'));
    this.end = Float64Array.from(
      column(_table, 'duration_ps'),
      (duration, row) => (this.start[row] ?? 0) + duration
    );
    this.lane = Int32Array.from(column(_table, 'lane'));
    this.value = _table.numbers.get('value') ?? null;
    this.low = _table.numbers.get('low') ?? null;
    this.high = _table.numbers.get('high') ?? null;
    this.counts = _table.numbers.get('count') ?? null;
    this.busy = _table.numbers.get('busy_ps') ?? null;
    this.colour = colours(_table);
    this._group(column(_table, 'track'));
  }

  /** The least and the most value of every track that has values. */
  get ranges(): ReadonlyMap<number, { readonly least: number; readonly most: number }> {
    const found = new Map<number, { least: number; most: number }>();
    for (let row = 0; row < this.rows; row++) {
      const value = this.value?.[row] ?? Number.NaN;
      if (!Number.isNaN(value)) {
        const range = found.get(this.track(row)) ?? { least: value, most: value };
        range.least = Math.min(range.least, this.low?.[row] ?? value);
        range.most = Math.max(range.most, this.high?.[row] ?? value);
        found.set(this.track(row), range);
      }
    }
    return found;
  }

  /** Whether every event of a track is a box of its own: then no closer look shows more. */
  isExact(track: number): boolean {
    return !this._merged.has(track);
  }

  /** The rows of one lane of a track, in order of time. */
  lanes(track: number): ReadonlyMap<number, Rows> {
    return this._byTrack.get(track) ?? new Map();
  }

  /** The first row of a lane that ends after a moment. */
  firstAfter({ from, to }: Rows, time: number): number {
    let low = from;
    let high = to;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.end[middle] ?? 0) > time) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  /** The box of a lane at a moment, or nearest to it within a reach; -1 when there is none. */
  find(track: number, lane: number, time: number, reach: number): number {
    const rows = this._byTrack.get(track)?.get(lane) ?? NO_ROWS;
    let best = -1;
    let least = Number.POSITIVE_INFINITY;
    for (let row = this.firstAfter(rows, time - reach); row < rows.to; row++) {
      const start = this.start[row] ?? 0;
      if (start > time + reach) {
        break;
      }
      const distance = Math.max(start - time, time - (this.end[row] ?? 0), 0);
      if (distance < least) {
        least = distance;
        best = row;
      }
    }
    return best;
  }

  /** The row of one event; -1 when it is not a box of its own here. */
  rowOf(track: number, event: number): number {
    for (const { from, to } of this.lanes(track).values()) {
      for (let row = from; row < to; row++) {
        if (numberAt(this._table, 'event', row) === event && this.count(row) === 1) {
          return row;
        }
      }
    }
    return -1;
  }

  name(row: number): string {
    return stringAt(this._table, 'name', row) ?? '';
  }

  kind(row: number): string {
    return stringAt(this._table, 'work_kind', row) ?? '';
  }

  count(row: number): number {
    return this.counts?.[row] ?? 1;
  }

  /** The id that details are asked by; NaN for several events drawn as one. */
  event(row: number): number {
    return numberAt(this._table, 'event', row);
  }

  track(row: number): number {
    return numberAt(this._table, 'track', row);
  }

  /** For how long something ran in a box, in ps. */
  busyTime(row: number): number {
    return this.busyShare(row) * ((this.end[row] ?? 0) - (this.start[row] ?? 0));
  }

  /** How much of a box something ran, 0..1. */
  busyShare(row: number): number {
    const length = (this.end[row] ?? 0) - (this.start[row] ?? 0);
    const busy = this.busy?.[row] ?? Number.NaN;
    return length > 0 && !Number.isNaN(busy) ? Math.min(1, busy / length) : 1;
  }

  /** For each row whether its name has what is looked for; null when nothing is looked for. */
  matching(test: NameTest | null): ((row: number) => boolean) | null {
    if (test === null) {
      return null;
    }
    const names = this._table.strings.get('name');
    if (names === undefined) {
      return () => false;
    }
    if (this._matches.text !== test.text || this._matches.names.length !== names.values.length) {
      this._matches = {
        text: test.text,
        names: Uint8Array.from(names.values, (name) => (test.matches(name) ? 1 : 0))
      };
    }
    const found = this._matches.names;
    return (row) => found[names.codes[row] ?? -1] === 1;
  }

  private _group(tracks: Numbers): void {
    for (let row = 0; row < this.rows; row++) {
      if (this.count(row) !== 1 || !Number.isNaN(this.value?.[row] ?? Number.NaN)) {
        this._merged.add(tracks[row] ?? -1);
      }
    }
    let from = 0;
    for (let row = 1; row <= this.rows; row++) {
      const isEnd = row === this.rows || tracks[row] !== tracks[from] || this.lane[row] !== this.lane[from];
      if (isEnd) {
        const track = tracks[from] ?? -1;
        const lanes = this._byTrack.get(track) ?? new Map<number, Rows>();
        lanes.set(this.lane[from] ?? 0, { from, to: row });
        this._byTrack.set(track, lanes);
        from = row;
      }
    }
  }
}

/** What names are searched for. */
export interface NameTest {
  readonly text: string;
  matches(name: string): boolean;
}

/** Kind and shade of a colour code. */
export function kindIndex(code: number): number {
  return Math.floor(code / SHADES);
}

/** The colour code of a kind of work and a name. */
export function colourCode(kind: string | null, name: string): number {
  const index = KIND_INDEX.get(kindOf(kind).id) ?? 0;
  return index * SHADES + (100 - shade(name)) / 6;
}

function colours(table: Columns): Uint8Array {
  const names = table.strings.get('name');
  const shades = names?.values.map((name) => (100 - shade(name)) / 6) ?? [];
  const kinds = table.strings.get('work_kind');
  const bases = kinds?.values.map((kind) => (KIND_INDEX.get(kindOf(kind).id) ?? 0) * SHADES) ?? [];
  const other = (KIND_INDEX.get(kindOf(null).id) ?? 0) * SHADES;
  const codes = new Uint8Array(table.rows);
  for (let row = 0; row < table.rows; row++) {
    codes[row] = (bases[kinds?.codes[row] ?? -1] ?? other) + (shades[names?.codes[row] ?? -1] ?? 0);
  }
  return codes;
}

function column(table: Columns, name: string): Numbers {
  return table.numbers.get(name) ?? new Float64Array(table.rows);
}
