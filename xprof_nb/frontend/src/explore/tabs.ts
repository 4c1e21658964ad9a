/** The row of views that a run offers: a tab list that arrow keys walk. */
import { button, h } from '../dom';
import { VIEWS } from '../views';

let rows = 0;

export class Tabs {
  readonly node = h('div', {
    class: 'jp-XprofExplore-tabs',
    attrs: { role: 'tablist', 'aria-label': 'Views of this run' }
  });
  private readonly _tabs = new Map<string, HTMLButtonElement>();

  constructor(panel: HTMLElement, choose: (view: string) => void) {
    panel.id = `xprof-views-${rows++}`;
    panel.setAttribute('role', 'tabpanel');
    for (const [view, { label, isExplored }] of VIEWS) {
      if (isExplored) {
        const tab = button(label, {
          class: 'jp-XprofExplore-tab',
          attrs: { role: 'tab', 'aria-controls': panel.id },
          data: { view },
          click: () => choose(view)
        });
        tab.addEventListener('keydown', (event) => this._keyPressed(event, tab));
        this._tabs.set(view, tab);
      }
    }
    this.node.append(...this._tabs.values());
  }

  /** Mark the tab of the view that is shown. */
  mark(view: string): void {
    for (const [name, tab] of this._tabs) {
      tab.setAttribute('aria-selected', String(name === view));
      tab.tabIndex = name === view ? 0 : -1;
    }
  }

  private _keyPressed(event: KeyboardEvent, tab: HTMLButtonElement): void {
    const all = [...this._tabs.values()];
    const at = all.indexOf(tab);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1 + all.length, Home: 0, End: all.length - 1 }[
      event.key
    ];
    if (to !== undefined) {
      event.preventDefault();
      const next = all[to % all.length];
      next?.focus();
      next?.click();
    }
  }
}
