/** Moves the window over the run: at once or gliding, with the way back. */
import { History } from './history';
import { between, isSame, type Span, within } from './span';

const GLIDE_MS = 160;

export class Camera {
  private readonly _history = new History();
  private _span: Span;
  private _target: Span;
  private _frame = 0;

  constructor(
    private readonly _bounds: Span,
    first: Span,
    private readonly _moved: () => void
  ) {
    this._span = within(first, _bounds);
    this._target = this._span;
  }

  /** What is on screen this moment. */
  get span(): Span {
    return this._span;
  }

  /** Where a glide is going: what the next move starts from. */
  get target(): Span {
    return this._target;
  }

  get canUndo(): boolean {
    return this._history.canUndo;
  }

  get canRedo(): boolean {
    return this._history.canRedo;
  }

  /** Show another window at once; moves of one kind in a row are undone together. */
  move(to: Span, kind: string): void {
    if (this._leave(to, kind)) {
      cancelAnimationFrame(this._frame);
      this._span = this._target;
      this._moved();
    }
  }

  /** Go to another window, fast but so that the eye can follow. */
  glide(to: Span, kind: string): void {
    if (this._leave(to, kind)) {
      this._glide();
    }
  }

  /** Begin elsewhere: there is no way back to where nobody was. */
  begin(at: Span): void {
    cancelAnimationFrame(this._frame);
    this._target = within(at, this._bounds);
    this._span = this._target;
    this._moved();
  }

  undo(): boolean {
    return this._return(this._history.undo(this._target));
  }

  redo(): boolean {
    return this._return(this._history.redo(this._target));
  }

  dispose(): void {
    cancelAnimationFrame(this._frame);
  }

  private _leave(to: Span, kind: string): boolean {
    const target = within(to, this._bounds);
    if (isSame(target, this._target)) {
      return false;
    }
    this._history.leave(this._target, kind, performance.now());
    this._target = target;
    return true;
  }

  private _return(to: Span | null): boolean {
    if (to !== null) {
      this._target = to;
      this._glide();
    }
    return to !== null;
  }

  private _glide(): void {
    cancelAnimationFrame(this._frame);
    if (window.matchMedia?.('(prefers-reduced-motion: reduce)').matches) {
      this._span = this._target;
      this._moved();
      return;
    }
    const from = this._span;
    const begun = performance.now();
    const step = (now: number) => {
      const part = Math.min(1, Math.max(0, (now - begun) / GLIDE_MS));
      this._span = part === 1 ? this._target : between(from, this._target, 1 - (1 - part) ** 3);
      if (part < 1) {
        this._frame = requestAnimationFrame(step);
      }
      this._moved();
    };
    this._frame = requestAnimationFrame(step);
  }
}
