/** The XProf panel in the side bar: a browser of profiled runs. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { refreshIcon } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import { showFailure } from '@xprof-nb/views';
import type { Api, RunEntry } from '../api';
import { element } from '../dom';
import { xprofIcon } from '../icon';
import { PANEL_ID } from '../tokens';
import { versionWarning } from '../version';
import { emptyState } from './empty';
import type { KernelList } from './kernels';
import { RunList } from './list';
import type { RunsModel } from './model';

export class RunsPanel extends Widget {
  private readonly _list: RunList;
  private readonly _warning = element('div', 'jp-XprofPanel-warning');
  private readonly _body = element('div', 'jp-XprofPanel-body');
  private readonly _filter = element('input', 'jp-XprofPanel-filter');

  constructor(
    private readonly _model: RunsModel,
    private readonly _api: Api,
    private readonly _trans: TranslationBundle,
    open: (run: RunEntry) => void,
    private readonly _kernels: KernelList
  ) {
    super();
    this.id = PANEL_ID;
    this.title.icon = xprofIcon;
    this.title.caption = _trans.__('XProf: profiled runs');
    this.addClass('jp-XprofPanel');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', _trans.__('XProf: profiled runs'));
    this._list = new RunList(_trans, open);
    this._warning.hidden = true;
    this._warning.setAttribute('role', 'status');
    this._body.append(element('p', 'jp-mod-faint', _trans.__('Looking for runs…')));
    this.node.append(this._header(), this._warning, this._kernels.node, this._body);
    _model.changed.connect(this._draw, this);
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._list.dispose();
      this._kernels.stop();
      this._model.dispose();
      super.dispose();
    }
  }

  protected override onActivateRequest(_message: Message): void {
    (this._model.list?.runs.length ? this._list.node : this._filter).focus();
  }

  protected override onAfterShow(_message: Message): void {
    this._look();
    this._kernels.start();
    void this._checkVersion();
  }

  protected override onAfterAttach(_message: Message): void {
    if (this.isVisible) {
      this.onAfterShow(_message);
    }
  }

  protected override onBeforeHide(_message: Message): void {
    this._model.pause();
    this._kernels.stop();
  }

  private _look(): void {
    // What went wrong is in the model and drawn in place.
    this._model.refresh().catch(() => undefined);
  }

  private _header(): HTMLElement {
    const refresh = element('button', 'jp-XprofPanel-button');
    refresh.type = 'button';
    refresh.title = this._trans.__('Look for runs again');
    refresh.setAttribute('aria-label', refresh.title);
    refresh.addEventListener('click', () => this._look());
    refreshIcon.element({ container: refresh, stylesheet: 'toolbarButton' });
    this._filter.type = 'search';
    this._filter.placeholder = this._trans.__('Filter runs');
    this._filter.setAttribute('aria-label', this._trans.__('Filter runs by name, device, note or folder'));
    this._filter.addEventListener('input', () => {
      this._model.filter = this._filter.value;
    });
    this._filter.addEventListener('keydown', (event) => {
      if (event.key === 'ArrowDown') {
        event.preventDefault();
        this._list.node.focus();
      }
    });
    const title = element('h2', 'jp-XprofPanel-title', this._trans.__('XProf'));
    return element(
      'div',
      'jp-XprofPanel-header',
      title,
      element('div', 'jp-XprofPanel-tools', this._filter, refresh)
    );
  }

  private _draw(): void {
    const { list, error, groups, filter } = this._model;
    const parts: Node[] = [];
    if (error !== null) {
      const place = element('div', 'jp-XprofPanel-error');
      showFailure(place, error, () => this._look());
      parts.push(place);
    }
    if (list !== null && list.runs.length === 0) {
      parts.push(emptyState(list.roots, this._trans));
    } else if (list !== null && groups.length === 0) {
      parts.push(element('p', 'jp-mod-faint', this._trans.__('No run matches “%1”.', filter)));
    } else if (list !== null) {
      this._list.show(groups);
      parts.push(this._list.node);
    }
    if (list?.truncated) {
      const text = this._trans.__('There are more runs than were searched: point a log dir nearer to them.');
      parts.push(element('p', 'jp-mod-faint', text));
    }
    const hadFocus = this._list.node === document.activeElement;
    const scrolled = this._body.scrollTop;
    this._body.replaceChildren(...parts);
    this._body.scrollTop = scrolled;
    if (hadFocus) {
      this._list.node.focus();
    }
  }

  private async _checkVersion(): Promise<void> {
    const warning = await versionWarning(this._api, this._trans);
    this._warning.hidden = warning === null;
    this._warning.textContent = warning;
  }
}
