/** What the server changes for the panel, and what the person is told of it. */
import { Notification, showErrorMessage } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { asHostError } from '@xprof-nb/views';
import type { RunChange, RunEntry, RunsApi, Trashed } from '../runs_api';

const UNDO_WITHIN_MS = 15_000;

export class RunManager {
  /** `changed` is called when the list of runs is another one. */
  constructor(
    private readonly _api: Pick<RunsApi, 'change' | 'discard' | 'restore' | 'import' | 'exportUrl'>,
    private readonly _trans: TranslationBundle,
    private readonly _changed: () => void
  ) {}

  change(runs: readonly RunEntry[], changeOf: (run: RunEntry) => RunChange): Promise<void> {
    return this._tell(this._trans.__('The run was not changed'), async () => {
      for (const run of runs) {
        await this._api.change(run.path, changeOf(run));
      }
    });
  }

  /** Move runs to the trash of their log dirs, and offer to bring them back. */
  discard(runs: readonly RunEntry[]): Promise<void> {
    return this._tell(this._trans.__('Nothing was moved to the trash'), async () => {
      const trashed = await this._api.discard(runs.map(({ path }) => path));
      const message = this._trans._n(
        'Moved “%2” to the trash of its log dir.',
        'Moved %1 runs to the trash of their log dirs.',
        trashed.length,
        runs[0]?.run ?? ''
      );
      const undo = { label: this._trans.__('Undo'), callback: () => void this._restore(trashed) };
      Notification.success(message, { autoClose: UNDO_WITHIN_MS, actions: [undo] });
    });
  }

  /** Have the browser download runs, each as a zip. */
  export(runs: readonly RunEntry[]): void {
    for (const { path, run } of runs) {
      const link = document.createElement('a');
      link.href = this._api.exportUrl(path);
      link.download = `${run}.zip`;
      link.click();
    }
  }

  import(zips: readonly File[], logdir: string): void {
    for (const zip of zips) {
      const importing = this._api.import(zip, logdir).finally(this._changed);
      Notification.promise(importing, {
        pending: { message: this._trans.__('Importing %1…', zip.name) },
        success: { message: () => this._trans.__('Imported %1 into %2.', zip.name, logdir) },
        error: { message: () => this._trans.__('%1 was not imported.', zip.name) }
      });
      importing.catch((reason) => showFailed(this._trans.__('%1 was not imported', zip.name), reason));
    }
  }

  private _restore(trashed: readonly Trashed[]): Promise<void> {
    return this._tell(this._trans.__('Nothing was restored'), () => this._api.restore(trashed));
  }

  private async _tell(failed: string, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      showFailed(failed, error);
    } finally {
      this._changed();
    }
  }
}

/** A dialog, since a notification cuts what is longer than 140 letters. */
function showFailed(title: string, reason: unknown): void {
  const { message, hint } = asHostError(reason);
  void showErrorMessage(title, [message, hint].filter(Boolean).join('\n'));
}
