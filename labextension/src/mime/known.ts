/** Which runs the server can open: asked once for all the outputs of a page that are drawn together. */
import type { Api } from '../api';
import { RunsApi } from '../runs_api';

const FRESH_FOR_MS = 10_000;

export class KnownRuns {
  private _folders: Promise<readonly string[]> | null = null;
  private _asked = 0;
  private readonly _runs: RunsApi;

  constructor(readonly api: Api) {
    this._runs = new RunsApi(api);
  }

  /** Whether the server lists the run of a folder or file; false when it cannot be asked. */
  async has(path: string): Promise<boolean> {
    if (path === '') {
      return false;
    }
    if (this._folders === null || Date.now() - this._asked > FRESH_FOR_MS) {
      this._asked = Date.now();
      this._folders = this._fetch();
    }
    return (await this._folders).some((folder) => path === folder || path.startsWith(`${folder}/`));
  }

  private async _fetch(): Promise<readonly string[]> {
    try {
      return (await this._runs.list()).runs.map(({ path }) => path).filter(Boolean);
    } catch {
      return [];
    }
  }
}
