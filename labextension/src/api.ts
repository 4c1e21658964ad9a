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
  type Params,
  record,
  text
} from '@xprof-nb/views';

const ROOT = 'xprof-nb/api/v1';
/** Status of an answer that says only that it is the one the client has. */
export const NOT_MODIFIED = 304;

/** Our part of the Jupyter server. Every method throws a `HostError` that says what to do next. */
export class Api {
  constructor(private readonly _settings: ServerConnection.ISettings) {}

  async version(signal?: AbortSignal): Promise<string> {
    return text(record(await this._json('version', { signal })).version);
  }

  /** The payload of a view of a run, as a notebook would save it. */
  snapshot(run: string, view: string, params: Params, signal?: AbortSignal): Promise<unknown> {
    return this._json('snapshot', post({ run, view, params }, signal));
  }

  async query(run: string, query: string, params: Params, signal?: AbortSignal): Promise<Answer> {
    const response = await this.request('query', post({ run, query, params }, signal));
    return answerOf(decode(await response.arrayBuffer()));
  }

  /** The source of a library that draws charts. */
  async library(name: Library): Promise<string> {
    return (await this.request(`library/${name}`, {})).text();
  }

  /** The address of a route, for what the browser itself fetches. */
  url(route: string): string {
    return URLExt.join(this._settings.baseUrl, ROOT, route);
  }

  /** Send a request to a route; an answer that nothing has changed is an answer. */
  async request(route: string, init: RequestInit): Promise<Response> {
    const url = this.url(route);
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
    if (!response.ok && response.status !== NOT_MODIFIED) {
      throw await failure(response);
    }
    return response;
  }

  private async _json(route: string, init: RequestInit): Promise<unknown> {
    return (await this.request(route, init)).json();
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
