/** The row of views that a run's document offers. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { views } from '@xprof-nb/views';
import { element } from '../dom';

let documents = 0;

export class ViewTabs {
  readonly node = element('div', 'jp-XprofDocument-views');
  private readonly _tabs: HTMLButtonElement[];

  constructor(
    current: string,
    panel: HTMLElement,
    trans: TranslationBundle,
    private readonly _choose: (view: string) => void
  ) {
    this.node.setAttribute('role', 'tablist');
    this.node.setAttribute('aria-label', trans.__('Views of this run'));
    panel.id = `xprof-nb-run-view-${documents++}`;
    panel.setAttribute('role', 'tabpanel');
    const labels: Record<string, string> = {
      op_profile: trans.__('op profile'),
      trace: trans.__('timeline')
    };
    this._tabs = [...views.keys()].map((view) => {
      const tab = element('button', '', labels[view] ?? view);
      tab.type = 'button';
      tab.dataset.view = view;
      tab.setAttribute('role', 'tab');
      tab.setAttribute('aria-controls', panel.id);
      tab.addEventListener('click', () => this._select(tab));
      tab.addEventListener('keydown', (event) => this._keyPressed(event, tab));
      return tab;
    });
    this.node.append(...this._tabs);
    this._mark(current);
  }

  private _select(tab: HTMLButtonElement): void {
    const view = tab.dataset.view ?? '';
    if (tab.getAttribute('aria-selected') !== 'true') {
      this._mark(view);
      this._choose(view);
    }
  }

  private _mark(view: string): void {
    for (const tab of this._tabs) {
      const isCurrent = tab.dataset.view === view;
      tab.setAttribute('aria-selected', String(isCurrent));
      tab.tabIndex = isCurrent ? 0 : -1;
    }
  }

  private _keyPressed(event: KeyboardEvent, tab: HTMLButtonElement): void {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by !== undefined) {
      event.preventDefault();
      const all = this._tabs;
      const next = all[(all.indexOf(tab) + by + all.length) % all.length];
      next?.focus();
      next?.click();
    }
  }
}
