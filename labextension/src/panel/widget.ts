/** The XProf panel in the side bar: a browser of profiled runs. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { refreshIcon } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import { showFailure } from '@xprof-nb/views';
import type { Api } from '../api';
import { element } from '../dom';
import { xprofIcon } from '../icon';
import type { RunsApi } from '../runs_api';
import { PANEL_ID } from '../tokens';
import { versionWarning } from '../version';
import { emptyState } from './empty';
import type { JobList } from './jobs';
import type { KernelList } from './kernels';
import type { RunsModel } from './model';
import { tagSearch } from './search';
import { ORDERS, type Order } from './sort';
import type { Standing } from './standing';
import type { RunTree } from './tree';

/** What the panel is made of. */
export interface Parts {
  readonly tree: RunTree;
  readonly kernels: KernelList;
  readonly jobs: JobList;
}

export class RunsPanel extends Widget {
  private readonly _warning = element('div', 'jp-XprofPanel-warning');
  private readonly _said = element('div', 'jp-XprofPanel-said');
  private readonly _status = element('p', 'jp-XprofPanel-status jp-mod-faint');
  private readonly _search = element('input', 'jp-XprofPanel-filter');
  private readonly _order = element('select', 'jp-XprofPanel-order');
  private readonly _refreshButton = element('button', 'jp-XprofPanel-button');
  private _onStanding: () => void = () => undefined;

  constructor(
    private readonly _model: RunsModel,
    private readonly _api: Api,
    private readonly _runs: Pick<RunsApi, 'askAbilities' | 'can'>,
    private readonly _trans: TranslationBundle,
    private readonly _parts: Parts,
    private readonly _insert: ((code: string) => void) | null
  ) {
    super();
    const { tree, kernels, jobs } = _parts;
    this.id = PANEL_ID;
    this.title.icon = xprofIcon;
    this.title.caption = _trans.__('XProf: profiled runs');
    this.addClass('jp-XprofPanel');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', _trans.__('XProf: profiled runs'));
    this._warning.hidden = true;
    this._warning.setAttribute('role', 'status');
    this._said.append(element('p', 'jp-mod-faint', _trans.__('Looking for runs…')));
    tree.node.hidden = true;
    this._status.setAttribute('role', 'status');
    const body = element('div', 'jp-XprofPanel-body', this._said, tree.node, this._status);
    this.node.append(this._header(), this._warning, kernels.node, jobs.node, body);
    _model.changed.connect(this._draw, this);
  }

  /** Which runs come first, and what is open. */
  get standing(): Standing {
    return { order: this._model.order, toggled: this._parts.tree.toggled };
  }

  set standing({ order, toggled }: Standing) {
    this._order.value = order;
    this._model.order = order;
    this._parts.tree.toggled = toggled;
  }

  onStanding(listener: () => void): void {
    this._onStanding = listener;
  }

  /** Tell that the panel stands otherwise than before. */
  stood(): void {
    this._onStanding();
  }

  /** Show the runs with a tag. */
  searchTag(tag: string): void {
    this._search.value = tagSearch(tag);
    this._find();
  }

  override dispose(): void {
    if (!this.isDisposed) {
      const { tree, kernels, jobs } = this._parts;
      tree.dispose();
      kernels.stop();
      jobs.dispose();
      this._model.dispose();
      super.dispose();
    }
  }

  protected override onActivateRequest(_message: Message): void {
    (this._parts.tree.node.hidden ? this._search : this._parts.tree.node).focus();
  }

  protected override onAfterShow(_message: Message): void {
    this._parts.kernels.start();
    void this._start();
    void this._checkVersion();
  }

  protected override onAfterAttach(_message: Message): void {
    if (this.isVisible) {
      this.onAfterShow(_message);
    }
  }

  protected override onBeforeHide(_message: Message): void {
    this._model.pause();
    this._parts.kernels.stop();
    this._parts.jobs.stop();
  }

  private async _start(): Promise<void> {
    // Whatever keeps the server from saying so, the look at its runs says it.
    await this._runs.askAbilities().catch(() => undefined);
    if (this.isVisible) {
      this._look();
      if (this._runs.can('jobs')) {
        this._parts.jobs.start();
      }
    }
  }

  private _look(): void {
    // What went wrong is in the model and drawn in place.
    this._model.refresh().catch(() => undefined);
  }

  private _find(): void {
    this._parts.tree.node.scrollTop = 0;
    this._model.search = this._search.value;
  }

  private _header(): HTMLElement {
    const refresh = this._refreshButton;
    refresh.type = 'button';
    refresh.title = this._trans.__('Look for runs again');
    refresh.setAttribute('aria-label', refresh.title);
    refresh.addEventListener('click', () => this._look());
    refreshIcon.element({ container: refresh, stylesheet: 'toolbarButton' });
    this._search.type = 'search';
    this._search.placeholder = this._trans.__('Search runs');
    this._search.title = this._trans.__(
      'Words of a name, device, note, tag, host or folder; of one of them only: %1',
      'tag:baseline origin:captured device:tpu note:"batch 8" name: host: dir:'
    );
    this._search.setAttribute(
      'aria-label',
      this._trans.__('Search runs by name, device, note, tag or folder')
    );
    this._search.addEventListener('input', () => this._find());
    this._search.addEventListener('keydown', (event) => {
      if (event.key === 'ArrowDown') {
        event.preventDefault();
        this._parts.tree.node.focus();
      }
    });
    const title = element('h2', 'jp-XprofPanel-title', this._trans.__('XProf'));
    const tools = element('div', 'jp-XprofPanel-tools', this._search, this._orders(), refresh);
    return element('div', 'jp-XprofPanel-header', title, tools);
  }

  private _orders(): HTMLElement {
    const labels: Readonly<Record<Order, string>> = {
      newest: this._trans.__('Newest'),
      name: this._trans.__('Name'),
      size: this._trans.__('Largest'),
      duration: this._trans.__('Longest')
    };
    const orders = this._order;
    orders.setAttribute('aria-label', this._trans.__('Which runs come first'));
    orders.append(...ORDERS.map((order) => new Option(labels[order], order)));
    orders.addEventListener('change', () => {
      this._parts.tree.node.scrollTop = 0;
      this._model.order = ORDERS[orders.selectedIndex] ?? 'newest';
      this.stood();
    });
    return orders;
  }

  private _draw(): void {
    const { list, error, groups, search } = this._model;
    const said: Node[] = [];
    if (error !== null) {
      const place = element('div', 'jp-XprofPanel-error');
      showFailure(place, error, () => this._look());
      said.push(place);
    }
    if (list !== null && groups.length === 0) {
      said.push(this._absence(list.runs.length, list.roots, list.scanning, search));
    }
    this._said.replaceChildren(...said);
    this._parts.tree.node.hidden = groups.length === 0;
    this._parts.tree.show(groups);
    this._status.textContent = this._statusWords();
  }

  /** How many runs are found, and why there may be more. */
  private _statusWords(): string {
    const { list, groups, search } = this._model;
    const found = groups.reduce((sum, { runs }) => sum + runs.length, 0);
    const total = list?.runs.length ?? 0;
    return [
      search.trim() && total > 0 ? this._trans.__('%1 of %2 runs.', found, total) : '',
      list?.scanning && total > 0 ? this._trans.__('Still looking for runs…') : '',
      list?.truncated
        ? this._trans.__('There are more runs than were searched: point a log dir nearer to them.')
        : ''
    ]
      .filter(Boolean)
      .join(' ');
  }

  private _absence(count: number, roots: readonly string[], scanning: boolean, search: string): HTMLElement {
    if (count > 0) {
      return element('p', 'jp-mod-faint', this._trans.__('No run matches “%1”.', search));
    }
    return scanning
      ? element('p', 'jp-mod-faint', this._trans.__('Looking for runs…'))
      : emptyState(roots, this._trans, this._insert);
  }

  private async _checkVersion(): Promise<void> {
    const warning = await versionWarning(this._api, this._trans);
    this._warning.hidden = warning === null;
    this._warning.textContent = warning;
  }
}
