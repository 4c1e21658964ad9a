/** Looks for names in the whole run: the host counts and finds, a snapshot looks through what it holds. */
import { type Columns, numberAt } from '../columns';
import type { Host, Summary } from '../host';
import { number, record } from '../payload';
import { expression } from './arrangement';
import type { NameTest } from './boxes';
import type { Levels } from './levels';
import { type Picked, pickedFrom, pickedOf } from './picking';
import type { Span } from './span';

/** One hit, and where it stands among all. */
export interface Hit {
  readonly picked: Picked;
  /** Counts from 1; NaN when not known. */
  readonly index: number;
}

export interface Found {
  readonly count: number;
  readonly nameCount: number;
  readonly next: Hit | null;
  readonly density: readonly Span[];
}

const NOTHING: Found = { count: 0, nameCount: 0, next: null, density: [] };

/** What a typed text finds: any case, anywhere in the name; between slashes a regular expression, case and all. */
export function nameTest(typed: string): NameTest | null {
  const text = typed.trim();
  if (text === '') {
    return null;
  }
  const pattern = /^\/(.+)\/$/.exec(text)?.[1];
  const needle = text.toLowerCase();
  const regular = pattern === undefined ? null : expression(pattern, '');
  return { text, matches: (name) => regular?.test(name) ?? name.toLowerCase().includes(needle) };
}

/** Where to look from: the hit gone to last, else the left edge of the window; and which way. */
export interface From {
  readonly from: Picked | null;
  readonly startPs: number;
  readonly by: 1 | -1;
  /** All if left out. */
  readonly tracks?: readonly number[];
}

/** The next hit after the current one, or before it; round and round. */
export async function lookFor(
  host: Host,
  levels: Levels,
  text: string,
  where: From,
  signal: AbortSignal
): Promise<Found> {
  const test = nameTest(text);
  if (test === null) {
    return NOTHING;
  }
  if (host.kind === 'static') {
    return among(hitsIn(levels, test, where.tracks), where);
  }
  const { from, startPs, by, tracks } = where;
  const ask = async (position: number | null) => {
    const params = { text: test.text, from_ps: position, forward: by === 1, ...(tracks && { tracks }) };
    const { table, summary } = await host.request('trace_search', params, signal);
    return foundOf(table, summary);
  };
  const found = await ask(from === null ? startPs - by : from.start);
  return found.next === null && found.count > 0 ? ask(null) : found;
}

/** Step through hits that are all known. */
export function among(hits: readonly Picked[], { from, startPs, by }: From): Found {
  const after = from?.start ?? startPs - by;
  const ordered = by === 1 ? hits : [...hits].reverse();
  const next = ordered.find((hit) => by * (hit.start - after) > 0) ?? ordered[0];
  return {
    count: hits.length,
    nameCount: new Set(hits.map((hit) => hit.name)).size,
    next: next === undefined ? null : { picked: next, index: hits.indexOf(next) + 1 },
    density: hits
  };
}

function hitsIn(levels: Levels, test: NameTest, tracks?: readonly number[]): Picked[] {
  const found = new Map<string, Picked>();
  for (const boxes of levels.answers) {
    const matches = boxes.matching(test);
    for (let row = 0; row < boxes.rows; row++) {
      const isWanted = boxes.count(row) === 1 && (tracks?.includes(boxes.track(row)) ?? true);
      if (isWanted && matches?.(row) === true) {
        const picked = pickedOf(boxes, row);
        found.set(`${picked.track}/${picked.lane}/${picked.start}`, picked);
      }
    }
  }
  return [...found.values()].sort((a, b) => a.start - b.start);
}

function foundOf(table: Columns, summary: Summary): Found {
  const next = record(summary.next);
  return {
    count: number(summary.count) || 0,
    nameCount: number(summary.names_count) || 0,
    next: Number.isNaN(number(next.start_ps))
      ? null
      : { picked: pickedFrom(next), index: number(next.index) + 1 },
    density: Array.from({ length: table.rows }, (_, row) => {
      const begin = numberAt(table, 'start_ps', row);
      return { start: begin, end: begin + numberAt(table, 'duration_ps', row) };
    })
  };
}
