/** Which runs the server can open: asked once for all the outputs of a page that are drawn together. */
import type { Api } from '../api';

const FRESH_FOR_MS = 10_000;

export class KnownRuns {
  private _paths: Promise<ReadonlySet<string>> | null = null;
  private _asked = 0;

  constructor(readonly api: Api) {}

  /** Whether the server lists a run of that path; false when it cannot be asked. */
  async has(path: string): Promise<boolean> {
    if (path === '') {
      return false;
    }
    if (this._paths === null || Date.now() - this._asked > FRESH_FOR_MS) {
      this._asked = Date.now();
      this._paths = this._fetch();
    }
    return (await this._paths).has(path);
  }

  private async _fetch(): Promise<ReadonlySet<string>> {
    try {
      return new Set((await this.api.runs()).runs.map((run) => run.path));
    } catch {
      return new Set();
    }
  }
}
