/** All views of a run as tabs; what is chosen or narrowed in one, the others follow. */
import { adoptStyle, h } from '../dom';
import { asHostError, type Host, isAbort, type Mount, type Mounted, type ViewState } from '../host';
import { readState, record, text } from '../payload';
import { devices } from '../shell/header';
import { type Filters, linkOf } from '../shell/link';
import { onPartChanged, resume, type Stateful, StateTeller, stateOf } from '../shell/state';
import { showFailure, showWaiting } from '../shell/status';
import shellStyle from '../style/shell.css?inline';
import { followTheme } from '../theme';
import { VIEWS } from '../views';
import { Pickers } from './pickers';
import style from './style.css?inline';
import { Tabs } from './tabs';

const FIRST_VIEW = 'overview';

/** Draw all views of a host's run into an element. */
export const mount: Mount = (host, el) => {
  adoptStyle(el, shellStyle);
  adoptStyle(el, style);
  const explorer = new Explorer(host);
  el.append(explorer.node);
  explorer.start();
  return explorer;
};

export class Explorer implements Mounted, Stateful {
  readonly node: HTMLElement;
  private readonly _place = h('div', { class: 'jp-XprofExplore-place' });
  private readonly _tabs: Tabs;
  private readonly _pickers: Pickers;
  private readonly _hosts = new Map<string, Promise<Host>>();
  private readonly _stops: (() => void)[] = [];
  private readonly _first: string;
  private _view = '';
  private _mounted: Mounted | null = null;
  private _loading: AbortController | null = null;
  private readonly _states = new Map<string, ViewState>();
  private readonly _teller: StateTeller;

  constructor(private readonly _host: Host) {
    const { run, params } = _host.snapshot;
    this._tabs = new Tabs(this._place, (view) => this.show(view));
    this._pickers = new Pickers(run, (filters) => this._narrow(filters));
    this.node = h(
      'section',
      {
        class: 'jp-XprofView jp-XprofExplore',
        attrs: { 'aria-label': _host.snapshot.title || run.name, 'data-lm-suppress-shortcuts': 'true' }
      },
      h(
        'header',
        { class: 'jp-XprofHeader' },
        h('strong', { class: 'jp-XprofHeader-run', title: run.path }, run.name || 'profile'),
        h(
          'span',
          { class: 'jp-XprofHeader-part', title: run.devices.join(', ') },
          devices(run.hosts, run.devices)
        ),
        _host.kind === 'static' ? null : this._pickers.node
      ),
      this._tabs.node,
      this._place
    );
    this._first = text(params.view) || FIRST_VIEW;
    this._teller = new StateTeller(this.node, this);
    onPartChanged(this._place, (state) => {
      this._states.set(this._view, state);
      return this._teller.tell();
    });
  }

  /** Begin, now that it is in the page. */
  start(): void {
    const link = linkOf(this._host.snapshot.run);
    this._stops.push(
      followTheme(this.node),
      link.subscribe(this, ({ filters, view }) => {
        this._pickers.update(filters);
        this._teller.changed();
        if (view !== undefined) {
          this.show(view);
        }
      })
    );
    this._pickers.update(link.filters);
    this.show(this._first);
  }

  /** Which view is shown, how each of them stands, and what all of them follow. */
  read(): ViewState {
    const states = [...this._states];
    const made = states.filter((state) => Object.keys(state[1].made).length > 0);
    return {
      shown: {
        view: this._view,
        views: Object.fromEntries(states.map(([view, { shown }]) => [view, shown])),
        linked: linkOf(this._host.snapshot.run).kept
      },
      made: Object.fromEntries(made.map((state) => [state[0], state[1].made]))
    };
  }

  write({ shown, made }: ViewState): void {
    linkOf(this._host.snapshot.run).adopt(shown.linked);
    const views = record(shown.views);
    for (const name of new Set([...Object.keys(views), ...Object.keys(made)])) {
      this._states.set(name, readState({ shown: views[name], made: made[name] }));
    }
    const state = this._states.get(this._view);
    if (this._mounted !== null && state !== undefined) {
      stateOf(this._place)?.write(state);
    }
    this.show(text(shown.view));
  }

  dispose(): void {
    this._loading?.abort();
    this._mounted?.dispose();
    this._teller.dispose();
    for (const stop of this._stops) {
      stop();
    }
    this.node.remove();
  }

  /** Show a view of the run. */
  show(view: string): void {
    if (view === this._view || !VIEWS.has(view)) {
      return;
    }
    // What the view that goes has to tell is of it, not of the next.
    this._dismount();
    this._view = view;
    this._tabs.mark(view);
    this._teller.changed();
    void this._load(view);
  }

  private _narrow(filters: Filters): void {
    linkOf(this._host.snapshot.run).narrow(filters, this);
  }

  private async _load(view: string): Promise<void> {
    this._loading?.abort();
    const loading = new AbortController();
    this._loading = loading;
    this._dismount();
    const waiting = showWaiting(this._place, `Opening the ${VIEWS.get(view)?.label}`, () => loading.abort());
    try {
      const [module, host] = await Promise.all([VIEWS.get(view)?.load(), this._open(view, loading.signal)]);
      waiting.remove();
      if (this._loading === loading && module !== undefined) {
        this._mounted = resume(module.mount, host, this._place, this._states.get(view));
      }
    } catch (error) {
      waiting.remove();
      if (this._loading === loading) {
        const shown = isAbort(error) ? new Error('Cancelled.') : error;
        showFailure(this._place, asHostError(shown), () => void this._load(view));
      }
    }
  }

  private _dismount(): void {
    this._mounted?.dispose();
    this._mounted = null;
    this._place.replaceChildren();
  }

  private _open(view: string, signal: AbortSignal): Promise<Host> {
    const known = this._hosts.get(view);
    if (known !== undefined) {
      return known;
    }
    const { host, device, step, window_ps } = this._host.snapshot.params;
    const opened = this._host.open(view, { host, device, step, window_ps }, signal);
    this._hosts.set(view, opened);
    opened.catch(() => this._hosts.delete(view));
    return opened;
  }
}
