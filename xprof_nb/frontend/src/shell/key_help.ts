/** The list of keys that `?` shows. */
import { h } from '../dom';
import { type KeyBinding, keyList } from '../keys';
import { hideOverlay, showOverlay } from './overlay';

export class KeyHelp {
  readonly node = h('div', { class: 'jp-XprofOverlay', attrs: { hidden: '' } });

  constructor(private readonly _closed: () => void) {}

  get isOpen(): boolean {
    return !this.node.hidden;
  }

  toggle(bindings: readonly KeyBinding[], near: Element): void {
    if (this.isOpen) {
      this.close();
      return;
    }
    this.node.replaceChildren(keyList(bindings, () => this.close()));
    const { left, top, right } = near.getBoundingClientRect();
    showOverlay(this.node, { left, right, top, bottom: top }, 'right');
    this.node.querySelector('button')?.focus();
  }

  close(): void {
    hideOverlay(this.node);
    this._closed();
  }
}
