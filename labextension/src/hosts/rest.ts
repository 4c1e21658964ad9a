/** A host over the Jupyter server: answers without a kernel. */
import {
  type Answer,
  type Host,
  HostError,
  type Library,
  type Params,
  readPayload,
  type Snapshot
} from '@xprof-nb/views';
import type { Api } from '../api';

export class RestHost implements Host {
  readonly kind = 'server';

  private constructor(
    private readonly _api: Api,
    private readonly _run: string,
    readonly snapshot: Snapshot,
    private readonly _isSameRun: () => Promise<void>
  ) {}

  /** The host of a run that the server opens now. */
  static async open(
    api: Api,
    run: string,
    view: string,
    params: Params,
    signal?: AbortSignal
  ): Promise<RestHost> {
    const snapshot = readPayload(await api.snapshot(run, view, params, signal));
    return new RestHost(api, run, snapshot, async () => {});
  }

  /** The host of a snapshot that was saved earlier; the run is opened, and compared, with the first question. */
  static resume(api: Api, saved: Snapshot): RestHost {
    let check: Promise<void> | null = null;
    return new RestHost(api, saved.run.path, saved, () => {
      check ??= assertSameRun(api, saved).catch((error: unknown) => {
        check = null;
        throw error;
      });
      return check;
    });
  }

  async request(query: string, params: Params, signal?: AbortSignal): Promise<Answer> {
    await this._isSameRun();
    return this._api.query(this._run, query, params, signal);
  }

  async open(view: string, params: Params, signal?: AbortSignal): Promise<Host> {
    await this._isSameRun();
    return RestHost.open(this._api, this._run, view, params, signal);
  }

  library(name: Library): Promise<string> {
    return this._api.library(name);
  }
}

async function assertSameRun(api: Api, saved: Snapshot): Promise<void> {
  const now = readPayload(await api.snapshot(saved.run.path, saved.view, saved.params));
  if (saved.run.identity && now.run.identity && saved.run.identity !== now.run.identity) {
    throw new HostError(
      'The files of this run are not those that this output was made from.',
      'Run the cell again, or open the run from the XProf panel.',
      'ChangedRun'
    );
  }
}
