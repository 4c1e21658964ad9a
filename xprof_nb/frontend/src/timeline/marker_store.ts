/** Keeps the markers with the run, where that can be written. */
import { type Host, isAbort } from '../host';
import { text } from '../payload';
import type { Markers } from './markers';

export class MarkerStore {
  /** Where the markers are kept, in words. */
  kept = '';
  private _task: AbortController | null = null;

  constructor(
    private readonly _host: Host,
    private readonly _markers: Markers,
    private readonly _changed: () => void
  ) {
    if (_host.kind === 'static') {
      this.kept = 'in this page only';
    }
  }

  /** Read what was kept before. */
  load(): void {
    void this._ask(null);
  }

  /** Keep what there is now. */
  save(): void {
    void this._ask(this._markers);
  }

  dispose(): void {
    this._task?.abort();
  }

  private async _ask(markers: Markers | null): Promise<void> {
    this._changed();
    if (this._host.kind === 'static') {
      return;
    }
    this._task?.abort();
    const task = new AbortController();
    this._task = task;
    try {
      const params = markers === null ? {} : { markers: markers.saved };
      const { summary } = await this._host.request('trace_marks', params, task.signal);
      if (markers === null) {
        this._markers.read(summary.markers);
      } else {
        this.kept =
          summary.saved === true ? 'kept with the run' : `in this view only: ${text(summary.reason)}`;
      }
    } catch (error) {
      if (isAbort(error)) {
        return;
      }
      this.kept = 'in this view only';
    }
    this._changed();
  }
}
