/** The panes below the timeline: details of one event, a table of a selection. Each asks its question itself. */
import { h } from '../dom';
import { type Answer, type Host, isAbort, type Params, type Summary } from '../host';
import { liveHint } from '../hosts/static';
import { text } from '../payload';
import { showFailure, showWaiting } from '../shell/status';
import { type DetailsEvents, detailsPane, fillDetails } from './details';
import type { Picked } from './picking';
import { fillSelection, type SelectionEvents, selectionPane } from './selection_pane';
import type { Area } from './state';
import type { Track } from './tracks';

export class Panes {
  readonly node = h('div', { class: 'jp-Timeline-panes' });
  private readonly _details = h('div', { attrs: { hidden: '' } });
  private readonly _selection = h('div', { attrs: { hidden: '' } });
  private _detailsTask: AbortController | null = null;
  private _selectionTask: AbortController | null = null;
  private _answer: Answer | null = null;

  constructor(private readonly _host: Host) {
    this.node.append(this._details, this._selection);
  }

  /** The table of the selection; null while there is none. */
  get answer(): Answer | null {
    return this._answer;
  }

  get hasDetails(): boolean {
    return !this._details.hidden;
  }

  get hasSelection(): boolean {
    return !this._selection.hidden;
  }

  /** Show one event; returns what the profile says of it, null where nobody can be asked. */
  async showDetails(picked: Picked, track: Track, events: DetailsEvents): Promise<Summary | null> {
    this._detailsTask?.abort();
    const { pane, more } = detailsPane(picked, track, events);
    this._details.replaceChildren(pane);
    this._details.hidden = false;
    if (Number.isNaN(picked.event) && (picked.count > 1 || this._host.kind !== 'static')) {
      return null;
    }
    const task = new AbortController();
    this._detailsTask = task;
    const answer = await this._ask(
      'trace_event',
      { track: picked.track, event: picked.event },
      'Reading the event',
      more,
      task
    );
    if (answer === null) {
      return null;
    }
    const kind = text(answer.summary.work_kind) || picked.kind;
    const full = detailsPane({ ...picked, kind }, track, events);
    fillDetails(full.more, answer.summary, events);
    this._details.replaceChildren(full.pane);
    return answer.summary;
  }

  /** What the profile says of an event; null when it cannot be asked. */
  async lookUp(track: number, event: number): Promise<Summary | null> {
    try {
      return (await this._host.request('trace_event', { track, event })).summary;
    } catch {
      return null;
    }
  }

  /** Show what is in a stretch of some tracks. */
  async showSelection(area: Area, title: string, events: SelectionEvents): Promise<void> {
    this._selectionTask?.abort();
    this._answer = null;
    const { pane, body } = selectionPane(title, events);
    this._selection.replaceChildren(pane);
    this._selection.hidden = false;
    const task = new AbortController();
    this._selectionTask = task;
    const params = { start_ps: area.span.start, end_ps: area.span.end, tracks: area.tracks };
    const answer = await this._ask('trace_selection', params, 'Adding up the selection', body, task);
    if (answer !== null) {
      this._answer = answer;
      fillSelection(body, answer, events);
    }
  }

  closeDetails(): void {
    this._detailsTask?.abort();
    this._details.hidden = true;
    this._details.replaceChildren();
  }

  closeSelection(): void {
    this._selectionTask?.abort();
    this._answer = null;
    this._selection.hidden = true;
    this._selection.replaceChildren();
  }

  dispose(): void {
    this._detailsTask?.abort();
    this._selectionTask?.abort();
  }

  /** The answer; null when there is none, which is then said in its place, or when it is no longer wanted. */
  private async _ask(
    query: string,
    params: Params,
    what: string,
    place: HTMLElement,
    task: AbortController
  ): Promise<Answer | null> {
    if (this._host.kind === 'static') {
      const hint = liveHint(this._host.snapshot.run.path);
      place.replaceChildren(
        h('p', { class: 'jp-Timeline-muted' }, `This snapshot does not hold more about it. ${hint}`)
      );
      return null;
    }
    const waiting = showWaiting(place, what, () => task.abort());
    try {
      const answer = await this._host.request(query, params, task.signal);
      return task.signal.aborted ? null : answer;
    } catch (error) {
      if (!isAbort(error)) {
        place.replaceChildren();
        showFailure(place, error);
      }
      return null;
    } finally {
      waiting.remove();
    }
  }
}
