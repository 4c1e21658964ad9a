/** The way back: what was on screen before each move. */
import { isSame, type Span } from './span';

const MOST = 200;
/** Moves of one kind that follow each other this closely are one: a turn of the wheel, a held key. */
const ONE_MOVE_MS = 700;

export class History {
  private readonly _past: Span[] = [];
  private _future: Span[] = [];
  private _kind = '';
  private _last = Number.NEGATIVE_INFINITY;

  /** Remember where a move came from. */
  leave(from: Span, kind: string, now: number): void {
    const goesOn = kind === this._kind && now - this._last < ONE_MOVE_MS;
    this._kind = kind;
    this._last = now;
    if (goesOn) {
      return;
    }
    const last = this._past.at(-1);
    if (last === undefined || !isSame(last, from)) {
      this._past.push(from);
      this._past.splice(0, this._past.length - MOST);
    }
    this._future = [];
  }

  undo(now: Span): Span | null {
    return this._step(now, this._past, this._future);
  }

  redo(now: Span): Span | null {
    return this._step(now, this._future, this._past);
  }

  get canUndo(): boolean {
    return this._past.length > 0;
  }

  get canRedo(): boolean {
    return this._future.length > 0;
  }

  private _step(now: Span, from: Span[], to: Span[]): Span | null {
    const found = from.pop();
    this._kind = '';
    if (found === undefined) {
      return null;
    }
    to.push(now);
    return found;
  }
}
