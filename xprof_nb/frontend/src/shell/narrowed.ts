/** What a view is narrowed to, and the way back: stands above its answer. */
import { button, h } from '../dom';
import { time } from '../format';
import { described, type Filters } from './link';

export class NarrowedBar {
  readonly node = h('div', { class: 'jp-XprofNarrowed', attrs: { role: 'status', hidden: '' } });

  constructor(private readonly _showAll: () => void) {}

  update(filters: Filters): void {
    const words = described(filters, time);
    this.node.hidden = words === '';
    this.node.replaceChildren(
      h('span', {}, `Narrowed to ${words}`),
      button('Show all', { class: 'jp-XprofButton', click: this._showAll })
    );
  }
}
