/** Shows what was chosen in another view of the run, and only what the run was narrowed to. */
import { type Host, isAbort } from '../host';
import { number, text } from '../payload';
import type { Choice, Filters } from '../shell/link';
import type { Camera } from './camera';
import type { Picked } from './picking';
import { type From, lookFor } from './search';
import { around, type Span } from './span';
import type { State } from './state';
import type { Track } from './tracks';

export interface FollowerEvents {
  /** Search for a text and mark what it finds. */
  search(typed: string): void;
  go(picked: Picked): void;
  /** Restrict the tables to a stretch of time; null for the whole run. */
  focus(span: Span | null): void;
  rearranged(): void;
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

  choose({ op, program_id, step }: Choice): void {
    if (op !== undefined && op !== '') {
      this._run((signal) => this._showOp(op, program_id ?? '', signal));
    } else if (step !== undefined) {
      this._run((signal) => this._showStep(step, signal));
    }
  }

  narrow({ host, device, step, window_ps }: Filters): void {
    const isOfHost = (track: Track) => host === undefined || track.host === host;
    const isOfDevice = (track: Track) => device === undefined || track.device === device;
    const isNarrow = host !== undefined || device !== undefined;
    this._state.arrangement.narrow(isNarrow ? (track) => isOfHost(track) && isOfDevice(track) : null);
    this._events.rearranged();
    this._events.focus(this._state.clock.ofTimeline(window_ps));
    if (step !== undefined) {
      this._run((signal) => this._showStep(step, signal));
    }
  }

  dispose(): void {
    this._task?.abort();
  }

  /** A newer wish replaces an older one. */
  private _run(show: (signal: AbortSignal) => Promise<void>): void {
    this._task?.abort();
    const task = new AbortController();
    this._task = task;
    show(task.signal).catch((error: unknown) => {
      if (!isAbort(error)) {
        this._events.failed(error);
      }
    });
  }

  private async _showStep(step: number, signal: AbortSignal): Promise<void> {
    if (this._host.kind === 'static') {
      return;
    }
    const { summary } = await this._host.request('trace', { step }, signal);
    const span = { start: number(summary.shown_start_ps), end: number(summary.shown_end_ps) };
    if (span.end > span.start) {
      this._camera.glide(around(span, this._state.bounds), 'follow');
    }
  }

  /** Search for an op by its whole name, and go to one of that program, or of any. */
  private async _showOp(op: string, program: string, signal: AbortSignal): Promise<void> {
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
