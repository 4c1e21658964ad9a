/** Draws a saved view at once, then makes it live: through the kernel that made it, else through the server. */
import type { ISessionContext } from '@jupyterlab/apputils';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Panel, Widget } from '@lumino/widgets';
import {
  type Host,
  HostError,
  MIME,
  type Mounted,
  onStateChanged,
  readPayload,
  resume,
  type Snapshot,
  type Stateful,
  StaticHost,
  showFailure,
  stateOf,
  type ViewState,
  views
} from '@xprof-nb/views';
import { RestHost } from '../hosts/rest';
import { KeptWithOutput } from './kept';
import { hasLiveWidget, WIDGET_MIME, widgetId } from './kernel';
import type { KnownRuns } from './known';

const WIDGET_DRAWN_WITHIN_MS = 15_000;

/** The notebook an output is in; null elsewhere, in a console for one. */
export interface Surroundings {
  readonly sessionContext: ISessionContext;
  readonly rendermime: IRenderMimeRegistry;
}

export class ViewRenderer extends Panel implements IRenderMime.IRenderer {
  private _mounted: Mounted | null = null;
  private _drawings = 0;
  private _kept: KeptWithOutput | null = null;
  /** Whether something had been done with the view before it was drawn here. */
  private _isGoingOn = false;
  /** How the view stood when it had just been drawn. */
  private _drawn = '';

  constructor(
    private readonly _known: KnownRuns,
    private readonly _surroundings: Surroundings | null
  ) {
    super();
    this.addClass('jp-XprofOutput');
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._clear();
      super.dispose();
    }
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    if (this._kept?.isWriting === true) {
      return;
    }
    const drawing = ++this._drawings;
    try {
      const snapshot = readPayload(model.data[MIME]);
      this._kept = new KeptWithOutput(model, this._surroundings !== null);
      this._isGoingOn = this._kept.isOfSession;
      const host = new StaticHost(snapshot, (name) => this._known.api.library(name));
      await this._draw(host, this._kept.state);
      // Not awaited: the output counts as drawn.
      void this._goLive(model, snapshot, () => drawing === this._drawings && !this.isDisposed);
    } catch (error) {
      this._clear();
      showFailure(this.node, error);
    }
  }

  private async _goLive(
    model: IRenderMime.IMimeModel,
    snapshot: Snapshot,
    isCurrent: () => boolean
  ): Promise<void> {
    const id = widgetId(model);
    if (id !== null && this._surroundings !== null && (await hasLiveWidget(this._surroundings, id))) {
      if (isCurrent() && (await this._handOver(model, this._surroundings, isCurrent))) {
        return;
      }
    }
    if (isCurrent() && (await this._known.has(snapshot.run.path)) && isCurrent()) {
      await this._draw(RestHost.resume(this._known.api, snapshot), this._stateNow());
    }
  }

  private async _draw(host: Host, state: ViewState | null): Promise<void> {
    const load = views.get(host.snapshot.view);
    if (load === undefined) {
      throw new HostError(
        `This page cannot draw the view “${host.snapshot.view}”.`,
        'Upgrade xprof_nb and reload the page.'
      );
    }
    const { mount } = await load();
    if (this.isDisposed) {
      return;
    }
    this._clear();
    const place = new Widget();
    this.addWidget(place);
    this._keepStateOf(place.node);
    this._mounted = resume(mount, host, place.node, state);
    this._drawn = JSON.stringify(this._stateNow());
  }

  private _stateNow(): ViewState | null {
    return stateOf(this.node)?.read() ?? null;
  }

  private _keepStateOf(place: HTMLElement): void {
    onStateChanged(place, (state) => this._kept?.write(state) ?? '');
  }

  /** Let the widget of the kernel draw beside the snapshot, unseen, and show it once it has; tells whether it did. */
  private async _handOver(
    model: IRenderMime.IMimeModel,
    { rendermime }: Surroundings,
    isCurrent: () => boolean
  ): Promise<boolean> {
    const live = rendermime.createRenderer(WIDGET_MIME);
    live.hide();
    this.addWidget(live);
    const drawn = isDrawn(live.node);
    try {
      await live.renderModel(model);
      if ((await drawn) && isCurrent()) {
        const state = this._stateNow();
        const isTouched = this._isGoingOn || JSON.stringify(state) !== this._drawn;
        this._mounted?.dispose();
        this._mounted = null;
        for (const widget of [...this.widgets]) {
          if (widget !== live) {
            widget.dispose();
          }
        }
        this._keepStateOf(live.node);
        handOver(state, stateOf(live.node), isTouched);
        live.show();
        return true;
      }
    } catch {
      // The kernel has let go of the widget meanwhile: what is on screen stays.
    }
    live.dispose();
    return false;
  }

  private _clear(): void {
    this._mounted?.dispose();
    this._mounted = null;
    for (const widget of [...this.widgets]) {
      widget.dispose();
    }
    this.node.replaceChildren();
  }
}

/** Let a view of the kernel stand as the one before; the kernel knows how its view stood before the page was loaded. */
function handOver(state: ViewState | null, live: Stateful | null, isTouched: boolean): void {
  if (state === null || live === null) {
    return;
  }
  if (isTouched) {
    live.write(state);
  } else if (Object.keys(state.made).length > 0) {
    live.write({ shown: live.read().shown, made: state.made });
  }
}

/** Whether a view appears in an element before patience runs out. */
function isDrawn(node: HTMLElement): Promise<boolean> {
  return new Promise((resolve) => {
    const finish = (drawn: boolean) => {
      observer.disconnect();
      clearTimeout(timer);
      resolve(drawn);
    };
    const look = () => {
      if (node.querySelector('.jp-XprofView') !== null) {
        finish(true);
      }
    };
    const observer = new MutationObserver(look);
    const timer = setTimeout(() => finish(false), WIDGET_DRAWN_WITHIN_MS);
    observer.observe(node, { childList: true, subtree: true });
    look();
  });
}
