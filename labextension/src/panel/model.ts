/** The runs on show: what the server found, searched, sorted and grouped by log dir. */
import { Poll } from '@lumino/polling';
import { type ISignal, Signal } from '@lumino/signaling';
import { asHostError, type HostError } from '@xprof-nb/views';
import type { RunEntry, RunList, RunsApi } from '../runs_api';
import { searched } from './search';
import { grouped, type Order, type RunGroup } from './sort';

/** While the server still looks through the log dirs. */
const SCANNING_INTERVAL_MS = 1_000;

export class RunsModel {
  private readonly _changed = new Signal<this, void>(this);
  private readonly _poll: Poll;
  private _heard: RunList | null = null;
  private _list: RunList | null = null;
  private _error: HostError | null = null;
  private _search = '';
  private _order: Order = 'newest';
  private _groups: readonly RunGroup[] = [];

  constructor(
    private readonly _api: Pick<RunsApi, 'list'>,
    private _intervalMs: number
  ) {
    this._poll = new Poll({
      auto: false,
      name: 'xprof-nb:runs',
      factory: () => this._fetch(),
      frequency: { interval: _intervalMs, backoff: true, max: 300_000 },
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

  get search(): string {
    return this._search;
  }

  set search(value: string) {
    this._search = value;
    this._regroup();
  }

  get order(): Order {
    return this._order;
  }

  set order(value: Order) {
    this._order = value;
    this._regroup();
  }

  set intervalMs(value: number) {
    this._intervalMs = value;
    this._pace();
  }

  get groups(): readonly RunGroup[] {
    return this._groups;
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
      const list = await this._api.list();
      const hadFailed = this._error !== null;
      this._error = null;
      const isNews = list !== this._heard && JSON.stringify(list) !== JSON.stringify(this._list);
      this._heard = list;
      if (isNews) {
        this._list = { ...list, runs: sameWhereEqual(list.runs, this._list?.runs ?? []) };
        this._pace();
        this._regroup();
      } else if (hadFailed) {
        this._changed.emit();
      }
    } catch (error) {
      this._error = asHostError(error);
      this._changed.emit();
      throw error;
    }
  }

  private _regroup(): void {
    this._groups = grouped((this._list?.runs ?? []).filter(searched(this._search)), this._order);
    this._changed.emit();
  }

  private _pace(): void {
    const interval = this._list?.scanning ? SCANNING_INTERVAL_MS : this._intervalMs;
    this._poll.frequency = { ...this._poll.frequency, interval };
  }
}

/** New entries, those that say nothing new replaced by the old ones: their rows stay as they are drawn. */
export function sameWhereEqual(now: readonly RunEntry[], before: readonly RunEntry[]): RunEntry[] {
  const known = new Map(before.map((run) => [run.path, run]));
  return now.map((run) => {
    const old = known.get(run.path);
    return old !== undefined && JSON.stringify(old) === JSON.stringify(run) ? old : run;
  });
}
