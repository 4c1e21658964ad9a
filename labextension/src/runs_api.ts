/** What the server says of runs and does with them; every method throws a `HostError` that says what to do next. */
import { number, record, text, texts } from '@xprof-nb/views';
import { type Api, NOT_MODIFIED } from './api';

/** One run the server found. */
export interface RunEntry {
  readonly run: string;
  readonly path: string;
  readonly logdir: string;
  readonly started: Date | null;
  /** NaN when not known. */
  readonly durationSeconds: number;
  readonly hostCount: number;
  /** Names; fewer than `hostCount` when the server does not say. */
  readonly hosts: readonly string[];
  readonly bytes: number;
  readonly origin: string;
  readonly device: string;
  readonly note: string;
  readonly tags: readonly string[];
}

export interface RunList {
  readonly runs: readonly RunEntry[];
  /** The folders that were searched. */
  readonly roots: readonly string[];
  /** There were more than the server was willing to look through. */
  readonly truncated: boolean;
  /** The server still looks: there will be more. */
  readonly scanning: boolean;
}

/** How a run went, small enough for a row. */
export interface Thumbnail {
  /** Share of each stretch of the run that its devices were busy, 0 to 1; NaN when not known. */
  readonly busy: readonly number[];
  readonly stepTimesPs: readonly number[];
}

/** What a person says of a run. */
export interface RunChange {
  readonly name?: string;
  readonly note?: string;
  readonly tags?: readonly string[];
}

/** A run in the trash, by what brings it back. */
export interface Trashed {
  readonly run: string;
  readonly trash: string;
}

/** What a server may do beyond answering; one of an earlier version says nothing of it. */
export type Ability = 'jobs' | 'manage' | 'thumbnails' | 'transfer';

/** A question the server works on. */
export interface ServerJob {
  readonly id: string;
  readonly run: string;
  readonly query: string;
  readonly state: string;
  /** NaN when not known. */
  readonly elapsedSeconds: number;
}

export class RunsApi {
  private _etag = '';
  private _last: RunList | null = null;
  private _abilities: ReadonlySet<string> = new Set();

  constructor(private readonly _api: Pick<Api, 'request' | 'url'>) {}

  /** Whether the server can do more than answer; false until it has been asked. */
  can(ability: Ability): boolean {
    return this._abilities.has(ability);
  }

  async askAbilities(): Promise<void> {
    this._abilities = new Set(texts(record(await this._json('version', {})).capabilities));
  }

  /** The runs under the roots; the same object as the last time when nothing has changed. */
  async list(): Promise<RunList> {
    const headers: Record<string, string> = this._last && this._etag ? { 'If-None-Match': this._etag } : {};
    const response = await this._api.request('runs', { headers });
    if (response.status === NOT_MODIFIED && this._last !== null) {
      return this._last;
    }
    const data = record(await response.json());
    this._etag = response.headers.get('ETag') ?? '';
    this._last = {
      runs: rows(data.runs).map(readRun),
      roots: texts(data.roots),
      truncated: data.truncated === true,
      scanning: data.scanning === true
    };
    return this._last;
  }

  async thumbnail(path: string, signal: AbortSignal): Promise<Thumbnail> {
    const data = record(await this._json(`thumbnail?run=${encodeURIComponent(path)}`, { signal }));
    return { busy: numbers(data.busy), stepTimesPs: numbers(data.step_time_ps) };
  }

  async change(path: string, change: RunChange): Promise<void> {
    await this._api.request('run', withBody('PATCH', { run: path, ...change }));
  }

  async discard(paths: readonly string[]): Promise<Trashed[]> {
    const data = record(await this._json('trash', withBody('POST', { runs: paths })));
    return rows(data.trashed).map((row) => ({ run: text(record(row).run), trash: text(record(row).trash) }));
  }

  async restore(trashed: readonly Trashed[]): Promise<void> {
    await this._api.request('restore', withBody('POST', { trash: trashed.map(({ trash }) => trash) }));
  }

  /** Where a run is had as a zip. */
  exportUrl(path: string): string {
    return `${this._api.url('export')}?run=${encodeURIComponent(path)}`;
  }

  /** Put the run of a zip into a log dir; returns its path. */
  async import(zip: Blob, logdir: string): Promise<string> {
    const init = { method: 'POST', body: zip, headers: { 'Content-Type': 'application/zip' } };
    return text(record(await this._json(`import?logdir=${encodeURIComponent(logdir)}`, init)).run);
  }

  async jobs(): Promise<ServerJob[]> {
    return rows(record(await this._json('jobs', {})).jobs).map((row) => {
      const job = record(row);
      return {
        id: text(job.id),
        run: text(job.run),
        query: text(job.query),
        state: text(job.state),
        elapsedSeconds: number(job.elapsed_s)
      };
    });
  }

  async cancel(job: string): Promise<void> {
    await this._api.request(`jobs/${encodeURIComponent(job)}`, { method: 'DELETE' });
  }

  private async _json(route: string, init: RequestInit): Promise<unknown> {
    return (await this._api.request(route, init)).json();
  }
}

function withBody(method: string, body: object): RequestInit {
  return { method, body: JSON.stringify(body) };
}

function rows(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function numbers(value: unknown): number[] {
  return rows(value).map(number);
}

function readRun(value: unknown): RunEntry {
  const run = record(value);
  const started = new Date(text(run.started));
  return {
    run: text(run.run),
    path: text(run.path),
    logdir: text(run.logdir),
    started: Number.isNaN(started.getTime()) ? null : started,
    durationSeconds: number(run.duration_s),
    hostCount: number(run.host_count),
    hosts: texts(run.hosts),
    bytes: number(run.bytes),
    origin: text(run.origin),
    device: text(run.device),
    note: text(run.note),
    tags: texts(run.tags)
  };
}
