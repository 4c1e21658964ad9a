/** Keeps the markers: with the run where that can be written, else with the page that shows it. */
import type { Json } from '../columns';
import { type Host, isAbort, type Summary } from '../host';
import { text } from '../payload';
import type { Markers } from './markers';

export interface MarkerStoreEvents {
  /** The markers, or what is known of where they are kept, changed. */
  changed(): void;
  /** The markers are not kept with the run: returns where the page keeps them, empty when nowhere. */
  keep(): string;
}

export class MarkerStore {
  /** Where the markers are kept, in words. */
  kept = '';
  /** Whether they are the page's to keep, not the run's. */
  private _isOurs = false;
  private _task: AbortController | null = null;

  constructor(
    private readonly _host: Host,
    private readonly _markers: Markers,
    private readonly _events: MarkerStoreEvents
  ) {}

  /** What the page is to keep. */
  get made(): Summary {
    return this._isOurs ? { markers: this._markers.saved } : {};
  }

  /** Go on with markers that a page has kept. */
  adopt({ markers }: Summary): void {
    if (Array.isArray(markers)) {
      this._isOurs = true;
      this._markers.read(markers as Json);
      this._keepOurselves('');
    }
  }

  /** Read what was kept with the run before. */
  async load(): Promise<void> {
    const answer = await this._ask({});
    if (answer !== null && !this._isOurs) {
      this._markers.read(answer.markers);
      this._events.changed();
    }
  }

  /** Keep what there is now. */
  async save(): Promise<void> {
    this._events.changed();
    if (this._host.kind === 'static') {
      this._keepOurselves('');
      return;
    }
    const answer = await this._ask({ markers: this._markers.saved });
    if (answer === null) {
      return;
    }
    if (answer.saved === true) {
      this._isOurs = false;
      this._events.keep();
      this.kept = 'kept with the run';
    } else {
      this._keepOurselves(text(answer.reason));
    }
    this._events.changed();
  }

  dispose(): void {
    this._task?.abort();
  }

  private _keepOurselves(why: string): void {
    this._isOurs = true;
    const where = this._events.keep() || 'in this view only, until it is closed';
    this.kept = why === '' ? where : `${where} (${why.replace(/\.$/, '')})`;
    this._events.changed();
  }

  /** The answer; null when it is no longer wanted, or there is none. */
  private async _ask(params: Summary): Promise<Summary | null> {
    if (this._host.kind === 'static') {
      return null;
    }
    this._task?.abort();
    const task = new AbortController();
    this._task = task;
    try {
      const { summary } = await this._host.request('trace_marks', params, task.signal);
      return task.signal.aborted ? null : summary;
    } catch (error) {
      // Who may look but not write is refused.
      return isAbort(error) ? null : { saved: false, markers: this._markers.saved };
    }
  }
}
