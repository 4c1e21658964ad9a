/** The search as a person drives it: type, see how many there are, step from one to the next. */
import { type Host, isAbort } from '../host';
import type { Picked } from './picking';
import { type Found, lookFor, nameTest } from './search';
import type { State } from './state';
import type { Toolbar } from './toolbar';

export interface FinderEvents {
  /** What is searched for, or what was found, changed. */
  changed(): void;
  go(picked: Picked): void;
  failed(error: unknown): void;
  /** Where the search begins: the left edge of the window. */
  start(): number;
}

const AFTER_MS = 200;

export class Finder {
  private _text = '';
  private _timer = 0;
  private _task: AbortController | null = null;
  private _current: Picked | null = null;
  /** Found while typing, and not gone to yet. */
  private _offered: Found['next'] = null;

  constructor(
    private readonly _host: Host,
    private readonly _state: State,
    private readonly _toolbar: Toolbar,
    private readonly _events: FinderEvents
  ) {}

  get text(): string {
    return this._text;
  }

  get isActive(): boolean {
    return this._text !== '';
  }

  /** Search for another text; the first hit is offered, and gone to when it is asked for. */
  search(text: string): void {
    this._text = text.trim();
    this._current = null;
    this._offered = null;
    this._state.names = nameTest(text);
    clearTimeout(this._timer);
    this._task?.abort();
    if (this._text === '') {
      this._state.hits = [];
      this._toolbar.hits = null;
    } else {
      this._timer = window.setTimeout(() => void this._look(1), AFTER_MS);
    }
    this._events.changed();
  }

  /** Go to the next hit, or the one before. */
  async step(by: 1 | -1): Promise<void> {
    if (!this.isActive) {
      return;
    }
    clearTimeout(this._timer);
    if (this._offered === null || by === -1) {
      await this._look(by);
    }
    const next = this._offered;
    this._offered = null;
    if (next !== null) {
      this._current = next.picked;
      this._events.go(next.picked);
    }
  }

  dispose(): void {
    clearTimeout(this._timer);
    this._task?.abort();
  }

  private async _look(by: 1 | -1): Promise<void> {
    this._task?.abort();
    const task = new AbortController();
    this._task = task;
    const { levels } = this._state;
    try {
      const where = { from: this._current, startPs: this._events.start(), by };
      const found = await lookFor(this._host, levels, this._text, where, task.signal);
      if (task.signal.aborted) {
        return;
      }
      this._offered = found.next;
      this._state.hits = found.density;
      this._toolbar.hits = { ...found, index: found.next?.index ?? Number.NaN };
      this._events.changed();
    } catch (error) {
      if (!isAbort(error)) {
        this._events.failed(error);
      }
    }
  }
}
