/** The list of keys that `?` shows. */
import { h } from '../dom';
import { type KeyBinding, keyList } from '../keys';
import { hideOverlay, showOverlay } from './overlay';

export class KeyHelp {
  readonly node = h('div', { class: 'jp-XprofOverlay', attrs: { hidden: '' } });

  private _cameFrom: Element | null = null;

  /** `_closed` puts the focus somewhere when what had it before is gone. */
  constructor(private readonly _closed: () => void) {}

  get isOpen(): boolean {
    return !this.node.hidden;
  }

  toggle(bindings: readonly KeyBinding[], near: Element): void {
    if (this.isOpen) {
      this.close();
      return;
    }
    this._cameFrom = document.activeElement;
    this.node.replaceChildren(keyList(bindings, () => this.close()));
    const { left, top, right } = near.getBoundingClientRect();
    showOverlay(this.node, { left, right, top, bottom: top }, 'right');
    this.node.querySelector('button')?.focus();
  }

  close(): void {
    hideOverlay(this.node);
    const before = this._cameFrom;
    if (before instanceof HTMLElement && before !== document.body && before.isConnected) {
      before.focus();
    } else {
      this._closed();
    }
  }
}
