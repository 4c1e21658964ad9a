/** Asks for what the view needs: the tracks and times on screen first, then what a person is likely to go to next. */
import { type Host, isAbort } from '../host';
import { Boxes } from './boxes';
import { type Levels, overlap } from './levels';
import { isSame, lengthOf, type Span } from './span';

const LARGEST_PIXELS = 8192;
/** Requests begin at least this far apart: a wheel turns faster than anybody reads. */
const PACE_MS = 40;
/** Nothing is asked ahead while a person is on the move: that would take the time that drawing needs. */
const REST_MS = 120;
/** An answer this many times too coarse for the view is of no use any more. */
const TOO_COARSE = 6;

/** What is on screen. */
export interface Wish {
  readonly span: Span;
  readonly pixels: number;
  readonly tracks: readonly number[];
}

export interface LoaderEvents {
  /** Something new can be drawn. */
  arrived(boxes: Boxes): void;
  failed(error: unknown): void;
  /** Whether what is on screen is being waited for. */
  waiting(isWaiting: boolean): void;
}

interface Pending extends Wish {
  readonly abort: AbortController;
  readonly isAhead: boolean;
}

/** Tracks that were never answered may have to be laid out first, which takes a while: the others do not wait. */
type Slot = 'seen' | 'new';

export class Loader {
  private _wish: Wish | null = null;
  private readonly _pending: { [slot in Slot]: Pending | null } = { seen: null, new: null };
  private _timer = 0;
  private _begun = Number.NEGATIVE_INFINITY;
  private _movedAt = Number.NEGATIVE_INFINITY;
  private _failedFor: Wish | null = null;

  constructor(
    private readonly _host: Host,
    private readonly _levels: Levels,
    private readonly _bounds: Span,
    private readonly _events: LoaderEvents
  ) {}

  /** Tell what is on screen now; what it needs and is not there is asked for. */
  want(wish: Wish): void {
    if (this._wish === null || !isSame(wish.span, this._wish.span)) {
      this._movedAt = performance.now();
    }
    this._wish = wish;
    for (const slot of ['seen', 'new'] as const) {
      const pending = this._pending[slot];
      // Of a new track even a coarse answer is a first picture.
      const isLate =
        pending !== null && (slot === 'new' ? !overlap(pending.span, wish.span) : isStale(pending, wish));
      if (pending !== null && (pending.isAhead || isLate) && this._lacking(wish).length > 0) {
        pending.abort.abort();
        this._pending[slot] = null;
      }
    }
    this._next();
  }

  /** Ask again what failed. */
  retry(): void {
    this._failedFor = null;
    this._next();
  }

  dispose(): void {
    clearTimeout(this._timer);
    this._wish = null;
    for (const slot of ['seen', 'new'] as const) {
      this._pending[slot]?.abort.abort();
      this._pending[slot] = null;
    }
  }

  private _lacking({ tracks, span, pixels }: Wish): number[] {
    return this._levels.lacking(tracks, span, lengthOf(span) / pixels);
  }

  private _next(): void {
    const wish = this._wish;
    const { seen, new: first } = this._pending;
    if (wish === null || this._host.kind === 'static' || wish === this._failedFor || (seen && first)) {
      return;
    }
    const now = performance.now();
    if (this._later(this._begun + PACE_MS - now)) {
      return;
    }
    const lacking = this._lacking(wish);
    this._events.waiting(lacking.length > 0);
    const known = lacking.filter((track) => this._levels.knows(track));
    const unknown = lacking.filter((track) => !known.includes(track));
    if (known.length > 0 && seen === null) {
      void this._ask('seen', { ...wish, tracks: known }, false);
    }
    if (unknown.length > 0 && first === null) {
      void this._ask('new', { ...wish, tracks: unknown }, false);
    }
    const isBusy = this._pending.seen !== null || this._pending.new !== null;
    if (isBusy || this._later(this._movedAt + REST_MS - now)) {
      return;
    }
    for (const ahead of aheadOf(wish, this._bounds)) {
      const missing = this._lacking(ahead);
      if (missing.length > 0) {
        void this._ask('seen', { ...ahead, tracks: missing }, true);
        return;
      }
    }
  }

  /** Come back after a while; returns whether there is a while to wait. */
  private _later(milliseconds: number): boolean {
    if (milliseconds > 0) {
      clearTimeout(this._timer);
      this._timer = window.setTimeout(() => this._next(), milliseconds);
    }
    return milliseconds > 0;
  }

  private async _ask(slot: Slot, wish: Wish, isAhead: boolean): Promise<void> {
    const pending = { ...wish, isAhead, abort: new AbortController() };
    this._pending[slot] = pending;
    this._begun = performance.now();
    const pixels = Math.min(LARGEST_PIXELS, Math.max(1, Math.ceil(wish.pixels)));
    const params = { start_ps: wish.span.start, end_ps: wish.span.end, pixels, tracks: wish.tracks };
    try {
      const { table, summary } = await this._host.request('trace_window', params, pending.abort.signal);
      if (this._pending[slot] !== pending) {
        return;
      }
      this._pending[slot] = null;
      // The answer says which window it is of; what it does not say is what was asked.
      const asked = { start_ps: wish.span.start, end_ps: wish.span.end, pixels };
      const boxes = new Boxes(table, { ...summary, ...asked }, new Set(wish.tracks));
      this._levels.add(boxes);
      this._events.arrived(boxes);
      this._next();
    } catch (error) {
      if (this._pending[slot] !== pending) {
        return;
      }
      this._pending[slot] = null;
      this._failedFor = this._wish;
      if (!isAbort(error) && !isAhead) {
        this._events.waiting(false);
        this._events.failed(error);
      }
    }
  }
}

/** Whether what was asked for no longer helps to draw what is on screen. */
export function isStale(asked: Wish, wish: Wish): boolean {
  const resolution = (of: Wish) => lengthOf(of.span) / of.pixels;
  return !overlap(asked.span, wish.span) || resolution(asked) > resolution(wish) * TOO_COARSE;
}

/** Where a person may go next: to the right, to the left, out to everything. */
export function aheadOf(wish: Wish, bounds: Span): Wish[] {
  const length = lengthOf(wish.span);
  const right = { start: wish.span.end, end: Math.min(wish.span.end + length, bounds.end) };
  const left = { start: Math.max(wish.span.start - length, bounds.start), end: wish.span.start };
  const beside = [right, left]
    .filter((span) => lengthOf(span) > length / 1000)
    .map((span) => ({ ...wish, span, pixels: Math.max(1, (wish.pixels * lengthOf(span)) / length) }));
  return [...beside, { ...wish, span: bounds }];
}
