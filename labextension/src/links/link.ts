/** Addresses that show a run as it is seen now: `…/lab?xprof=<link>`. */
import { type Json, record, text } from '@xprof-nb/views';

/** Name of the query parameter. */
export const PARAMETER = 'xprof';

const VERSION = 1;
const LONGEST_PATH = 4_096;
/** Servers and mail programs cut what is longer; then the run is shown, but not as it stood. */
const LONGEST_LINK = 6_000;

/** What a link leads to. */
export interface Target {
  readonly path: string;
  readonly name: string;
  /** How the document stands; null for its beginning. */
  readonly state: Json;
}

export function encodeLink(target: Target): string {
  const link = encoded({ v: VERSION, ...target });
  return link.length <= LONGEST_LINK ? link : encoded({ v: VERSION, ...target, state: null });
}

/** What a link leads to; null when it is not one of ours, or damaged. */
export function decodeLink(link: string): Target | null {
  try {
    const bytes = Uint8Array.from(atob(link.replaceAll('-', '+').replaceAll('_', '/')), (letter) =>
      letter.charCodeAt(0)
    );
    const data = record(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
    const path = text(data.path);
    if (data.v !== VERSION || path === '' || path.length > LONGEST_PATH) {
      return null;
    }
    return { path, name: text(data.name), state: data.state ?? null };
  } catch {
    return null;
  }
}

/** The link of a query string; null when there is none. */
export function linkIn(search: string): string | null {
  return new URLSearchParams(search).get(PARAMETER);
}

function encoded(data: object): string {
  const bytes = new TextEncoder().encode(JSON.stringify(data));
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
