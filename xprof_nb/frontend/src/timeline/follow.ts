/** Follows what was chosen in another view of the run: an op, or a stretch of time. */
import { type Host, isAbort, type Selection } from '../host';
import { text } from '../payload';
import type { Camera } from './camera';
import type { Picked } from './picking';
import { type From, lookFor } from './search';
import { around } from './span';
import type { State } from './state';

export interface FollowerEvents {
  /** Search for a text and mark what it finds. */
  search(typed: string): void;
  go(picked: Picked): void;
  failed(error: unknown): void;
}

/** As many ops of one name are looked at to find the one of a program. */
const MOST_LOOKS = 12;
const MOST_TRACKS = 1000;
const LONGEST_SEARCH = 1000;

export class Follower {
  private _task: AbortController | null = null;

  constructor(
    private readonly _host: Host,
    private readonly _state: State,
    private readonly _camera: Camera,
    private readonly _events: FollowerEvents
  ) {}

  follow({ op, program_id, window_ps }: Selection): void {
    const span = this._state.clock.ofTimeline(window_ps);
    if (span !== null) {
      this._camera.glide(around(span, this._state.bounds), 'follow');
    }
    if (op !== undefined && op !== '') {
      this._task?.abort();
      this._task = new AbortController();
      this._show(op, program_id ?? '', this._task.signal).catch((error: unknown) => {
        if (!isAbort(error)) {
          this._events.failed(error);
        }
      });
    }
  }

  dispose(): void {
    this._task?.abort();
  }

  /** Search for an op by its whole name, and go to one of that program, or of any. */
  private async _show(op: string, program: string, signal: AbortSignal): Promise<void> {
    const whole = `/^${op.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$/`;
    const typed = whole.length <= LONGEST_SEARCH ? whole : op.slice(0, LONGEST_SEARCH);
    this._events.search(typed);
    const tracks = this._state.tracks.all.filter(({ kind }) => kind === 'ops').map(({ id }) => id);
    const on = tracks.length > 0 && tracks.length <= MOST_TRACKS ? { tracks } : {};
    let from: From = { from: null, startPs: this._camera.target.start, by: 1, ...on };
    let first: Picked | null = null;
    for (let look = 0; look < MOST_LOOKS; look++) {
      const found = (await lookFor(this._host, this._state.levels, typed, from, signal)).next?.picked;
      if (signal.aborted || found === undefined) {
        break;
      }
      first ??= found;
      if (await this._isOf(found, program, signal)) {
        first = found;
        break;
      }
      from = { ...from, from: found };
    }
    if (first !== null && !signal.aborted) {
      this._events.go(first);
    }
  }

  private async _isOf({ track, event }: Picked, program: string, signal: AbortSignal): Promise<boolean> {
    if (program === '' || this._host.kind === 'static') {
      return true;
    }
    const { summary } = await this._host.request('trace_event', { track, event }, signal);
    return text(summary.program_id) === program;
  }
}
