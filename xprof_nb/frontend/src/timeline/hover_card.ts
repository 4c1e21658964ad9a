/** The card beside the pointer. */
import { h } from '../dom';
import { hideOverlay, showOverlay } from '../shell/overlay';

const OFFSET_PX = 12;

export class HoverCard {
  readonly node = h('div', {
    class: 'jp-XprofTooltip jp-Timeline-card',
    attrs: { role: 'tooltip', hidden: '' }
  });
  private _shown = '';

  show(lines: readonly string[], x: number, y: number): void {
    const text = lines.join('\n');
    if (text !== this._shown) {
      this._shown = text;
      const [name = '', ...rest] = lines;
      this.node.replaceChildren(
        h('div', { class: 'jp-Timeline-cardName' }, name),
        ...rest.map((line) => h('div', {}, line))
      );
    }
    showOverlay(this.node, { left: x + OFFSET_PX, right: x, top: y, bottom: y + OFFSET_PX });
  }

  hide(): void {
    hideOverlay(this.node);
  }
}
