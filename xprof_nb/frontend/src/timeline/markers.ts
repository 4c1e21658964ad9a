/** Named moments: put, named, coloured, deleted, measured between, and kept with the run. */
import type { Json } from '../columns';
import { number, record, text } from '../payload';
import { type Span, spanOf } from './span';

export interface Marker {
  readonly id: string;
  readonly name: string;
  readonly colour: string;
  readonly time: number;
}

/** Dark enough for white names. */
export const MARKER_COLOURS = ['#c0392b', '#1f7a4d', '#7d3cb5', '#b35c00', '#1d6fa5', '#a3286d'];
const MOST = 1000;
const LONGEST_NAME = 200;

export class Markers {
  private _list: Marker[] = [];

  /** In order of time. */
  get list(): readonly Marker[] {
    return this._list;
  }

  read(saved: Json | undefined): void {
    const entries = Array.isArray(saved) ? saved.slice(0, MOST) : [];
    this._list = entries.map(readMarker).filter((marker) => marker !== null);
    this._sort();
  }

  get saved(): Json {
    return this._list.map(({ id, name, colour, time }) => ({ id, name, color: colour, time_ps: time }));
  }

  /** Put a marker; null when there are as many as can be kept. */
  put(time: number): Marker | null {
    if (this._list.length >= MOST) {
      return null;
    }
    const name = freeName(this._list.map((marker) => marker.name));
    const colour = MARKER_COLOURS[this._list.length % MARKER_COLOURS.length] as string;
    const marker = { id: freeId(this._list), name, colour, time };
    this._list.push(marker);
    this._sort();
    return marker;
  }

  change(id: string, changes: Partial<Pick<Marker, 'name' | 'colour' | 'time'>>): void {
    const name = changes.name?.trim().slice(0, LONGEST_NAME);
    this._list = this._list.map((marker) =>
      marker.id === id ? { ...marker, ...changes, name: name || marker.name } : marker
    );
    this._sort();
  }

  remove(id: string): void {
    this._list = this._list.filter((marker) => marker.id !== id);
  }

  /** The stretch between a marker and the next one; null for the last. */
  after(id: string): Span | null {
    const at = this._list.findIndex((marker) => marker.id === id);
    const [from, to] = [this._list[at], this._list[at + 1]];
    return from !== undefined && to !== undefined ? spanOf(from.time, to.time) : null;
  }

  /** The stretch between two neighbours that comes next after the one in focus, or before it; round and round. */
  step(focus: Span | null, by: 1 | -1): Span | null {
    const spans = this._list.slice(0, -1).map(({ id }) => this.after(id) as Span);
    const at = spans.findIndex((span) => span.start === focus?.start && span.end === focus.end);
    const next = at < 0 ? (by === 1 ? 0 : spans.length - 1) : (at + by + spans.length) % spans.length;
    return spans[next] ?? null;
  }

  private _sort(): void {
    this._list = [...this._list].sort((a, b) => a.time - b.time);
  }
}

function readMarker(value: Json): Marker | null {
  const entry = record(value);
  const time = number(entry.time_ps);
  if (Number.isNaN(time) || text(entry.id) === '') {
    return null;
  }
  const colour = text(entry.color);
  return {
    id: text(entry.id),
    name: text(entry.name).slice(0, LONGEST_NAME) || '?',
    colour: /^#[\da-f]{6}$/i.test(colour) ? colour : (MARKER_COLOURS[0] as string),
    time
  };
}

/** A, B … Z, A2 … */
function freeName(taken: readonly string[]): string {
  for (let i = 0; ; i++) {
    const name = String.fromCharCode(65 + (i % 26)) + (i < 26 ? '' : String(Math.floor(i / 26) + 1));
    if (!taken.includes(name)) {
      return name;
    }
  }
}

function freeId(taken: readonly Marker[]): string {
  for (let i = taken.length; ; i++) {
    const id = `m${i}`;
    if (!taken.some((marker) => marker.id === id)) {
      return id;
    }
  }
}
