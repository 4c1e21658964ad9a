/** What the server works on, each with how long and a button that ends it. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { Poll } from '@lumino/polling';
import { asHostError, format, VIEWS } from '@xprof-nb/views';
import { element } from '../dom';
import type { RunsApi, ServerJob } from '../runs_api';

const INTERVAL_MS = 3_000;
const WORKING_INTERVAL_MS = 1_000;
const PS_PER_S = 1e12;
/** What has been done by the next look is not worth a line that comes and goes. */
const SHOW_AFTER_S = 1;

export class JobList {
  readonly node = element('section', 'jp-XprofJobs');
  private readonly _rows = new Map<string, JobRow>();
  private readonly _poll: Poll;

  constructor(
    private readonly _api: Pick<RunsApi, 'jobs' | 'cancel'>,
    private readonly _trans: TranslationBundle
  ) {
    this.node.setAttribute('aria-label', _trans.__('What the server works on'));
    this.node.hidden = true;
    this._poll = new Poll({
      auto: false,
      name: 'xprof-nb:jobs',
      factory: () => this._look(),
      frequency: { interval: INTERVAL_MS, backoff: true, max: 60_000 },
      standby: 'when-hidden'
    });
  }

  start(): void {
    void this._poll.refresh();
  }

  stop(): void {
    void this._poll.stop();
  }

  dispose(): void {
    this._poll.dispose();
  }

  private async _look(): Promise<void> {
    this._show((await this._api.jobs()).filter(({ elapsedSeconds }) => !(elapsedSeconds < SHOW_AFTER_S)));
  }

  private _show(jobs: readonly ServerJob[]): void {
    const ids = new Set(jobs.map(({ id }) => id));
    for (const [id, row] of this._rows) {
      if (!ids.has(id)) {
        row.node.remove();
        this._rows.delete(id);
      }
    }
    for (const job of jobs) {
      this._rowOf(job).update(job);
    }
    this.node.hidden = jobs.length === 0;
    const interval = jobs.length === 0 ? INTERVAL_MS : WORKING_INTERVAL_MS;
    this._poll.frequency = { ...this._poll.frequency, interval };
  }

  private _rowOf(job: ServerJob): JobRow {
    let row = this._rows.get(job.id);
    if (row === undefined) {
      row = new JobRow(job, this._trans, () => this._cancel(job.id));
      this._rows.set(job.id, row);
      this.node.append(row.node);
    }
    return row;
  }

  private async _cancel(id: string): Promise<void> {
    try {
      await this._api.cancel(id);
    } finally {
      void this._poll.refresh();
    }
  }
}

class JobRow {
  readonly node: HTMLElement;
  private readonly _doing = element('span', 'jp-XprofJobs-doing');
  private _refusal = '';

  constructor(
    { run, query }: ServerJob,
    private readonly _trans: TranslationBundle,
    cancel: () => Promise<void>
  ) {
    const label = VIEWS.get(query)?.label ?? query;
    const name = run.replace(/\/+$/, '').split('/').pop() || run;
    const button = element('button', 'jp-XprofPanel-textButton', _trans.__('Cancel'));
    button.type = 'button';
    button.setAttribute('aria-label', _trans.__('Cancel %1 of %2', label, name));
    button.addEventListener('click', () => {
      button.disabled = true;
      cancel().catch((error) => {
        button.disabled = false;
        this._refusal = asHostError(error).message;
        this._doing.textContent = this._refusal;
      });
    });
    const what = element('span', 'jp-XprofJobs-what', _trans.__('%1 of %2', label, name));
    what.title = run;
    this.node = element('div', 'jp-XprofJobs-job', what, this._doing, button);
  }

  update({ state, elapsedSeconds }: ServerJob): void {
    const elapsed = Number.isFinite(elapsedSeconds) ? format.time(elapsedSeconds * PS_PER_S) : '';
    const progress =
      state === 'queued' ? this._trans.__('waiting %1', elapsed) : this._trans.__('%1 so far', elapsed);
    this._doing.textContent = this._refusal || progress;
  }
}
