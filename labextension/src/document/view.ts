/** One run as a main-area document: the same views that cells show, answered by the server. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Message } from '@lumino/messaging';
import { type ISignal, Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import {
  HostError,
  isAbort,
  type Json,
  type Mounted,
  onStateChanged,
  readState,
  resume,
  showFailure,
  showWaiting,
  stateOf,
  type ViewState,
  views
} from '@xprof-nb/views';
import type { Api } from '../api';
import { element } from '../dom';
import { RestHost } from '../hosts/rest';
import { EXPLORER } from '../tokens';
import { versionWarning } from '../version';

/** What has the keyboard in a view. */
const MAIN_PART = '[role=treegrid], [role=application]';

export class RunView extends Widget {
  private readonly _place = element('div', 'jp-XprofDocument-place');
  private _loading: AbortController | null = null;
  private _mounted: Mounted | null = null;
  private _isLoaded = false;
  private _state: ViewState | null = null;
  private readonly _changed = new Signal<this, void>(this);

  constructor(
    private readonly _api: Api,
    /** What the server opens: a path below its roots. */
    readonly run: string,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this.addClass('jp-XprofDocument');
    // A main-area widget focuses its content when it is activated.
    this.node.tabIndex = -1;
    this.node.append(this._place);
    onStateChanged(this._place, (state) => {
      this._state = state;
      this._changed.emit();
      return this._trans.__('kept in this workspace');
    });
  }

  /** How the document stands: which view it shows, and how each of them does. */
  get state(): Json {
    return this._state === null ? null : { shown: this._state.shown, made: this._state.made };
  }

  /** Go on as a document of this run stood before. */
  restore(before: Json | undefined): void {
    if (before !== null && before !== undefined) {
      this._state = readState(before);
      stateOf(this._place)?.write(this._state);
    }
  }

  /** Emitted when `state` has changed. */
  get stateChanged(): ISignal<this, void> {
    return this._changed;
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._loading?.abort();
      this._mounted?.dispose();
      Signal.clearData(this);
      super.dispose();
    }
  }

  protected override onAfterShow(_message: Message): void {
    this._loadOnce();
  }

  protected override onAfterAttach(_message: Message): void {
    // A restored tab that is not in front waits until somebody looks at it.
    if (this.isVisible) {
      this._loadOnce();
    }
  }

  protected override onActivateRequest(_message: Message): void {
    const part = this.node.querySelector<HTMLElement>(MAIN_PART);
    (part ?? this.node).focus({ preventScroll: true });
  }

  private _loadOnce(): void {
    if (!this._isLoaded) {
      this._isLoaded = true;
      void this._warnOfVersion();
      void this._load();
    }
  }

  private async _load(): Promise<void> {
    const loading = new AbortController();
    this._loading = loading;
    this._mounted?.dispose();
    this._mounted = null;
    this._place.replaceChildren();
    const waiting = showWaiting(this._place, this._trans.__('Opening %1', this.run), () => loading.abort());
    try {
      const { mount, host } = await this._fetch(loading.signal);
      waiting.remove();
      if (!this.isDisposed && this._loading === loading) {
        this._mounted = resume(mount, host, this._place, this._state);
      }
    } catch (error) {
      waiting.remove();
      const shown = isAbort(error) ? new HostError(this._trans.__('Cancelled.')) : error;
      if (!this.isDisposed && this._loading === loading) {
        showFailure(this._place, shown, () => void this._load());
      }
    }
  }

  private async _fetch(signal: AbortSignal) {
    const load = views.get(EXPLORER);
    if (load === undefined) {
      throw new HostError(`There is no view ${EXPLORER}.`);
    }
    const [{ mount }, host] = await Promise.all([
      load(),
      RestHost.open(this._api, this.run, EXPLORER, {}, signal)
    ]);
    return { mount, host };
  }

  private async _warnOfVersion(): Promise<void> {
    const warning = await versionWarning(this._api, this._trans);
    if (warning !== null && !this.isDisposed) {
      const banner = element('div', 'jp-XprofPanel-warning', warning);
      banner.setAttribute('role', 'status');
      this.node.prepend(banner);
    }
  }
}
