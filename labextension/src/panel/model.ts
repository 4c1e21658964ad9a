/** The runs on show: what the server found, filtered and grouped by log dir. */
import { Poll } from '@lumino/polling';
import { type ISignal, Signal } from '@lumino/signaling';
import { asHostError, type HostError } from '@xprof-nb/views';
import type { Api, RunEntry, RunList } from '../api';

/** The runs of one log dir, newest first. */
export interface RunGroup {
  readonly logdir: string;
  readonly runs: readonly RunEntry[];
}

export class RunsModel {
  private readonly _changed = new Signal<this, void>(this);
  private readonly _poll: Poll;
  private _list: RunList | null = null;
  private _error: HostError | null = null;
  private _filter = '';
  private _seen = '';

  constructor(
    private readonly _api: Pick<Api, 'runs'>,
    intervalMs: number
  ) {
    this._poll = new Poll({
      auto: false,
      name: 'xprof-nb:runs',
      factory: () => this._fetch(),
      frequency: { interval: intervalMs, backoff: true, max: 300_000 },
      standby: 'when-hidden'
    });
  }

  dispose(): void {
    this._poll.dispose();
    Signal.clearData(this);
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** What the server found; null until it has answered once. */
  get list(): RunList | null {
    return this._list;
  }

  /** Why the last look failed; null when it did not. */
  get error(): HostError | null {
    return this._error;
  }

  get filter(): string {
    return this._filter;
  }

  set filter(value: string) {
    this._filter = value;
    this._changed.emit();
  }

  set intervalMs(value: number) {
    this._poll.frequency = { ...this._poll.frequency, interval: value };
  }

  get groups(): RunGroup[] {
    return grouped((this._list?.runs ?? []).filter((run) => matches(run, this._filter)));
  }

  /** Look now, and again and again until `pause`. */
  async refresh(): Promise<void> {
    await this._poll.refresh();
    await this._poll.tick;
  }

  pause(): void {
    void this._poll.stop();
  }

  private async _fetch(): Promise<void> {
    try {
      const list = await this._api.runs();
      const seen = JSON.stringify(list);
      const isNew = seen !== this._seen || this._error !== null;
      this._list = list;
      this._seen = seen;
      this._error = null;
      if (isNew) {
        this._changed.emit();
      }
    } catch (error) {
      this._error = asHostError(error);
      this._changed.emit();
      throw error;
    }
  }
}

/** Runs by log dir: the log dir with the newest run first, runs newest first. */
export function grouped(runs: readonly RunEntry[]): RunGroup[] {
  const groups = new Map<string, RunEntry[]>();
  const newestFirst = [...runs].sort((a, b) => (b.started?.getTime() ?? 0) - (a.started?.getTime() ?? 0));
  for (const run of newestFirst) {
    const group = groups.get(run.logdir);
    if (group === undefined) {
      groups.set(run.logdir, [run]);
    } else {
      group.push(run);
    }
  }
  return [...groups].map(([logdir, members]) => ({ logdir, runs: members }));
}

/** Whether every word of a filter is found in what the panel shows of a run. */
export function matches(run: RunEntry, filter: string): boolean {
  const haystack = [run.run, run.device, run.note, run.logdir, run.origin, ...run.tags]
    .join('\n')
    .toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => haystack.includes(word));
}
