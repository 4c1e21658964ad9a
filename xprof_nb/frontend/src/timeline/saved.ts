/** The windows that a snapshot holds, so that it can be drawn with nobody to ask. */
import { decodeBase64, type Json } from '../columns';
import type { Snapshot, Summary } from '../host';
import { record, text } from '../payload';
import { Boxes } from './boxes';
import type { Tracks } from './tracks';

const MOST_WINDOWS = 200;
const LARGEST_CHARACTERS = 8_000_000;

/** What can be drawn at once; a window that is damaged is left out. */
export function savedWindows({ extra }: Snapshot, tracks: Tracks): Boxes[] {
  const windows = Array.isArray(extra.windows) ? extra.windows.slice(0, MOST_WINDOWS) : [];
  return windows.map((window) => readWindow(window, tracks)).filter((boxes) => boxes !== null);
}

function readWindow(window: Json, tracks: Tracks): Boxes | null {
  const encoded = text(window);
  if (encoded === '' || encoded.length > LARGEST_CHARACTERS) {
    return null;
  }
  try {
    const table = decodeBase64(encoded);
    const summary = record(table.meta.summary ?? table.meta) as Summary;
    return new Boxes(table, summary, askedFor(summary, tracks));
  } catch {
    return null;
  }
}

/** The tracks of a window: those it names, else all that are shown by default. */
function askedFor(summary: Summary, tracks: Tracks): Set<number> {
  if (Array.isArray(summary.tracks)) {
    return new Set(summary.tracks.filter((id) => typeof id === 'number'));
  }
  return new Set(tracks.openByDefault.map((track) => track.id));
}
