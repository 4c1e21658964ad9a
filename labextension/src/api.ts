/** The only place that talks to our server extension. */
import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import {
  type Answer,
  answerOf,
  decode,
  errorOf,
  HostError,
  isAbort,
  type Library,
  number,
  type Params,
  record,
  text,
  texts
} from '@xprof-nb/views';

const ROOT = 'xprof-nb/api/v1';

/** One run the server found. */
export interface RunEntry {
  readonly run: string;
  readonly path: string;
  readonly logdir: string;
  readonly started: Date | null;
  /** NaN when not known. */
  readonly durationSeconds: number;
  readonly hostCount: number;
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
}

/** Our part of the Jupyter server. Every method throws a `HostError` that says what to do next. */
export class Api {
  constructor(private readonly _settings: ServerConnection.ISettings) {}

  async version(signal?: AbortSignal): Promise<string> {
    return text(record(await this._json('version', { signal })).version);
  }

  async runs(signal?: AbortSignal): Promise<RunList> {
    const data = record(await this._json('runs', { signal }));
    return {
      runs: Array.isArray(data.runs) ? data.runs.map(readRun) : [],
      roots: texts(data.roots),
      truncated: data.truncated === true
    };
  }

  /** The payload of a view of a run, as a notebook would save it. */
  snapshot(run: string, view: string, params: Params, signal?: AbortSignal): Promise<unknown> {
    return this._json('snapshot', post({ run, view, params }, signal));
  }

  async query(run: string, query: string, params: Params, signal?: AbortSignal): Promise<Answer> {
    const response = await this._request('query', post({ run, query, params }, signal));
    return answerOf(decode(await response.arrayBuffer()));
  }

  /** The source of a library that draws charts. */
  async library(name: Library): Promise<string> {
    return (await this._request(`library/${name}`, {})).text();
  }

  private async _json(route: string, init: RequestInit): Promise<unknown> {
    return (await this._request(route, init)).json();
  }

  private async _request(route: string, init: RequestInit): Promise<Response> {
    const url = URLExt.join(this._settings.baseUrl, ROOT, route);
    let response: Response;
    try {
      response = await ServerConnection.makeRequest(url, init, this._settings);
    } catch (error) {
      if (isAbort(error) || init.signal?.aborted) {
        throw new DOMException('No longer needed', 'AbortError');
      }
      throw new HostError(
        'The Jupyter server does not answer.',
        'Check that it is still running.',
        'NetworkError'
      );
    }
    if (!response.ok) {
      throw await failure(response);
    }
    return response;
  }
}

function post(body: object, signal: AbortSignal | undefined): RequestInit {
  return { method: 'POST', body: JSON.stringify(body), signal };
}

async function failure(response: Response): Promise<HostError> {
  const body = record(await response.json().catch(() => null));
  if (body.error !== undefined) {
    return errorOf(body.error);
  }
  if (response.status === 404) {
    return new HostError(
      'The Jupyter server has no xprof_nb extension.',
      'Install xprof-nb into the environment that runs JupyterLab and restart it.',
      'NoExtension'
    );
  }
  return new HostError(`The Jupyter server answered ${response.status} ${response.statusText}.`);
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
    bytes: number(run.bytes),
    origin: text(run.origin),
    device: text(run.device),
    note: text(run.note),
    tags: texts(run.tags)
  };
}
