/** Keeps how a view stands over its end: a page takes it from one view and gives it to the next. */
import type { Host, Mount, Mounted, ViewState } from '../host';
import { readState } from '../payload';

/** What a view offers to whoever keeps its state. */
export interface Stateful {
  read(): ViewState;
  /** Go on from a state; what of it is damaged, or not of this run, is left out. */
  write(state: ViewState): void;
}

/** A view's element carries its state, so that a page finds it in a view of another bundle too. */
interface StatefulElement extends Element {
  xprofState?: Stateful;
}

interface Change {
  readonly state: ViewState;
  kept: string;
}

const VIEW = '.jp-XprofView';
const CHANGED = 'xprof:state';
/** A wheel that turns, or a word being typed, is told once. */
const REST_MS = 300;

/** Draw a view, and have it go on from what was kept: by the page, else with the snapshot. */
export function resume(mount: Mount, host: Host, el: HTMLElement, kept?: ViewState | null): Mounted {
  const mounted = mount(host, el);
  const { shown, made } = kept ?? host.snapshot.state;
  if (Object.keys({ ...shown, ...made }).length > 0) {
    stateOf(el)?.write({ shown, made });
  }
  return mounted;
}

/** The state of the view in an element; null where there is none, or it keeps none. */
export function stateOf(place: ParentNode): Stateful | null {
  const view: StatefulElement | null = place.querySelector(VIEW);
  return view?.xprofState ?? null;
}

/** Keep the state of the views in an element: `keep` says in words where, empty when nowhere. Returns how to stop. */
export function onStateChanged(place: Element, keep: (state: ViewState) => string): () => void {
  const listener = (event: Event) => {
    const change = (event as CustomEvent<Change>).detail;
    change.kept = keep(readState(change.state)) || change.kept;
  };
  place.addEventListener(CHANGED, listener);
  return () => place.removeEventListener(CHANGED, listener);
}

/** Keep the states of views that are part of another one, which tells of them itself. */
export function onPartChanged(place: Element, keep: (state: ViewState) => string): () => void {
  const stop = (event: Event) => event.stopPropagation();
  const stopKeeping = onStateChanged(place, keep);
  place.addEventListener(CHANGED, stop);
  return () => {
    stopKeeping();
    place.removeEventListener(CHANGED, stop);
  };
}

/** Call back whenever a person may have changed how a view stands. */
export function onHandled(view: HTMLElement, changed: () => void): void {
  for (const kind of ['click', 'dblclick', 'change', 'input', 'keydown', 'pointerup', 'toggle']) {
    view.addEventListener(kind, changed, { capture: true });
  }
}

/** Tells the page around a view when its state has changed. */
export class StateTeller {
  private _told: string;
  private _kept = '';
  private _timer = 0;
  /** A page that is left, reloaded or put away may not come to the end of the rest, nor to the next frame. */
  private readonly _left = () => this.tell();

  constructor(
    private readonly _node: StatefulElement,
    private readonly _stateful: Stateful
  ) {
    _node.xprofState = _stateful;
    this._told = JSON.stringify(_stateful.read());
    window.addEventListener('pagehide', this._left);
    document.addEventListener('visibilitychange', this._left);
  }

  /** Something may have changed: it is told when it has come to rest. */
  changed(): void {
    clearTimeout(this._timer);
    this._timer = window.setTimeout(() => this.tell(), REST_MS);
  }

  /** Tell now; returns in words where the page keeps it, empty when nowhere. */
  tell(): string {
    clearTimeout(this._timer);
    this._timer = 0;
    const state = this._stateful.read();
    const told = JSON.stringify(state);
    if (told !== this._told) {
      this._told = told;
      const detail: Change = { state, kept: '' };
      this._node.dispatchEvent(new CustomEvent(CHANGED, { bubbles: true, composed: true, detail }));
      this._kept = detail.kept;
    }
    return this._kept;
  }

  /** Before the view leaves the page: what has not been told yet is told. */
  dispose(): void {
    if (this._timer !== 0) {
      this.tell();
    }
    window.removeEventListener('pagehide', this._left);
    document.removeEventListener('visibilitychange', this._left);
  }
}
