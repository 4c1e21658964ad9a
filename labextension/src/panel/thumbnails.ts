/** The thumbnails of the runs in sight, asked for one after the other and kept. */
import { isAbort } from '@xprof-nb/views';
import type { RunEntry, RunsApi, Thumbnail } from '../runs_api';

/** Scrolling past a run asks for nothing. */
const REST_MS = 200;
/** What a person opens must not wait for pictures. */
const AT_ONCE = 1;
const MOST_KEPT = 2_000;
const NOTHING: Thumbnail = { busy: [], stepTimesPs: [] };

export class Thumbnails {
  private readonly _kept = new Map<string, Thumbnail>();
  private readonly _loading = new Map<string, AbortController>();
  private _wanted: readonly RunEntry[] = [];
  private _timer: ReturnType<typeof setTimeout> | undefined;

  /** `loaded` is called with the path of a run whose thumbnail has come. */
  constructor(
    private readonly _api: Pick<RunsApi, 'thumbnail' | 'can'>,
    private readonly _loaded: (path: string) => void
  ) {}

  dispose(): void {
    this.want([]);
    clearTimeout(this._timer);
  }

  /** What is known of a run now. */
  of(run: RunEntry): Thumbnail {
    return this._kept.get(versionOf(run)) ?? NOTHING;
  }

  /** Load what is missing of these runs, and no longer what is missing of others. */
  want(runs: readonly RunEntry[]): void {
    this._wanted = runs;
    const versions = new Set(runs.map(versionOf));
    for (const [version, loading] of this._loading) {
      if (!versions.has(version)) {
        loading.abort();
      }
    }
    clearTimeout(this._timer);
    this._timer = setTimeout(() => this._loadMissing(), REST_MS);
  }

  private _loadMissing(): void {
    for (const run of this._wanted) {
      if (!this._api.can('thumbnails') || this._loading.size >= AT_ONCE) {
        return;
      }
      const version = versionOf(run);
      if (!this._kept.has(version) && !this._loading.has(version)) {
        void this._load(run, version);
      }
    }
  }

  private async _load(run: RunEntry, version: string): Promise<void> {
    const loading = new AbortController();
    this._loading.set(version, loading);
    try {
      this._keep(version, await this._api.thumbnail(run.path, loading.signal));
      this._loaded(run.path);
    } catch (error) {
      if (!isAbort(error)) {
        // A run that cannot be read says why when it is opened; here it has no picture.
        this._keep(version, NOTHING);
      }
    } finally {
      this._loading.delete(version);
      this._loadMissing();
    }
  }

  private _keep(version: string, thumbnail: Thumbnail): void {
    this._kept.set(version, thumbnail);
    const oldest = this._kept.keys().next().value;
    if (this._kept.size > MOST_KEPT && oldest !== undefined) {
      this._kept.delete(oldest);
    }
  }
}

/** A run whose files have changed is another one. */
function versionOf({ path, bytes, started }: RunEntry): string {
  return `${path}\n${bytes}\n${started?.getTime()}`;
}
