/** Binds the timeline to the other views of its run: tells them what is chosen here and follows what is chosen there. */
import type { Run, Summary } from '../host';
import { text } from '../payload';
import { type Choice, type Filters, type Link, linkOf } from '../shell/link';
import type { Clock } from './clock';
import type { Follower } from './follow';
import type { Span } from './span';

export class Bond {
  private readonly _link: Link;
  /** What was told or followed last: it is news to nobody. */
  private _choice = '{}';
  private _filters = '{}';
  private _stop = () => {};
  private _isOver = false;

  constructor(
    run: Run,
    private readonly _clock: Clock,
    private readonly _follower: Follower
  ) {
    this._link = linkOf(run);
  }

  /** What the timeline has told or followed, for one that goes on from here. */
  get known(): Summary {
    return { choice: this._choice, filters: this._filters };
  }

  set known({ choice, filters }: Summary) {
    this._choice = text(choice) || '{}';
    this._filters = text(filters) || '{}';
  }

  /** Follow from now on; first what was chosen before this view was there, when it has been told how it stands. */
  start(): void {
    this._stop = this._link.subscribe(this, ({ choice, filters }) => this._take(choice, filters));
    queueMicrotask(() => {
      if (!this._isOver) {
        this._take(this._link.choice, this._link.filters);
      }
    });
  }

  /** Choose in all views; `view` asks to see it there. */
  choose(choice: Choice, view?: string): void {
    const told = JSON.stringify(choice);
    if (told !== this._choice || view !== undefined) {
      this._choice = told;
      this._link.choose(choice, this, view);
    }
  }

  /** Narrow all views to a stretch of time; null for the whole run. */
  narrow(span: Span | null): void {
    const { window_ps: _, ...others } = this._link.filters;
    const filters: Filters = span === null ? others : { ...others, window_ps: this._clock.ofProfile(span) };
    this._filters = JSON.stringify(filters);
    this._link.narrow(filters, this);
  }

  dispose(): void {
    this._isOver = true;
    this._stop();
  }

  private _take(choice: Choice, filters: Filters): void {
    const [chosen, narrowed] = [JSON.stringify(choice), JSON.stringify(filters)];
    if (narrowed !== this._filters) {
      this._filters = narrowed;
      this._follower.narrow(filters);
    }
    if (chosen !== this._choice) {
      this._choice = chosen;
      this._follower.choose(choice);
    }
  }
}
