/** What a row of the panel says of a run. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { format } from '@xprof-nb/views';
import type { RunEntry } from '../runs_api';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const SHOW_DATE_AFTER = 30 * DAY;
const PS_PER_S = 1e12;
const CAPTURED = 'captured';
/** Of a note, beside a run. */
export const MOST_LETTERS = 500;

/** `3 min ago`; the date once it is more than a month. */
export function ago(then: Date, now: Date, trans: TranslationBundle): string {
  const seconds = Math.max(0, (now.getTime() - then.getTime()) / 1000);
  if (seconds < MINUTE) {
    return trans.__('just now');
  }
  if (seconds < HOUR) {
    return trans.__('%1 min ago', Math.floor(seconds / MINUTE));
  }
  if (seconds < DAY) {
    return trans.__('%1 h ago', Math.floor(seconds / HOUR));
  }
  if (seconds < SHOW_DATE_AFTER) {
    return trans._n('yesterday', '%1 days ago', Math.floor(seconds / DAY));
  }
  return then.toLocaleDateString();
}

/** What is known of a run, the most telling first: `1.20 s · 12.1 MiB · TPU v6 Lite × 4 · 2 hosts · captured`. */
export function facts(run: RunEntry, trans: TranslationBundle): string {
  const duration = Number.isFinite(run.durationSeconds) ? format.time(run.durationSeconds * PS_PER_S) : '';
  const size = Number.isFinite(run.bytes) ? format.bytes(run.bytes) : '';
  const hosts = run.hostCount > 1 ? trans.__('%1 hosts', run.hostCount) : '';
  const known = [duration, size, run.device, hosts];
  const origin = originName(run.origin, trans);
  // Most runs are captured; what is not is said where no narrow panel cuts it.
  return (run.origin === CAPTURED ? [...known, origin] : [origin, ...known]).filter(Boolean).join(' · ');
}

/** Where a run is from, in words; a word of a later version as it is. */
function originName(origin: string, trans: TranslationBundle): string {
  const names: Readonly<Record<string, string>> = {
    [CAPTURED]: trans.__('captured'),
    opened: trans.__('opened'),
    forecast: trans.__('forecast'),
    sweep: trans.__('sweep')
  };
  return Object.hasOwn(names, origin) ? (names[origin] ?? origin) : origin;
}

/** What hovering a run says. */
export function exactly(run: RunEntry): string {
  const started = run.started?.toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'medium' });
  const bytes = Number.isFinite(run.bytes) ? format.exact(run.bytes, 'bytes') : '';
  return [run.path, started, bytes, run.origin, run.tags.join(', '), run.note.slice(0, MOST_LETTERS)]
    .filter(Boolean)
    .join('\n');
}
