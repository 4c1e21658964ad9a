/** A menu that floats above a view, walked by keyboard or pointer. */
import { button, h } from '../dom';
import { type Anchor, hideOverlay, showOverlay } from './overlay';

export interface MenuItem {
  readonly label: string;
  readonly hint?: string;
  /** Of one that is on or off; the menu stays open. */
  isChecked?(): boolean;
  run(): void;
}

export class Popup {
  readonly node = h('div', { class: 'jp-XprofMenu', attrs: { role: 'menu', hidden: '' } });

  /** `closed` is told whether the keyboard closed it: then the focus goes back to where it was. */
  constructor(private readonly _closed: (byKeyboard: boolean) => void) {
    this.node.addEventListener('keydown', (event) => this._keyPressed(event));
  }

  get isOpen(): boolean {
    return !this.node.hidden;
  }

  open(items: readonly MenuItem[], anchor: Anchor, align: 'left' | 'right'): void {
    this.node.replaceChildren(
      ...items.map((item) => (item.isChecked === undefined ? this._action(item) : checkItem(item)))
    );
    showOverlay(this.node, anchor, align);
    this._entries()[0]?.focus();
    document.addEventListener('pointerdown', this._outside, true);
  }

  close(byKeyboard: boolean): void {
    if (this.isOpen) {
      hideOverlay(this.node);
      document.removeEventListener('pointerdown', this._outside, true);
      this._closed(byKeyboard);
    }
  }

  private _action(item: MenuItem): HTMLElement {
    return button(item.label, {
      class: 'jp-XprofMenu-item',
      title: item.hint,
      attrs: { role: 'menuitem', tabindex: -1 },
      click: () => {
        this.close(false);
        item.run();
      }
    });
  }

  private readonly _outside = (event: Event) => {
    if (!event.composedPath().includes(this.node)) {
      this.close(false);
    }
  };

  private _entries(): HTMLElement[] {
    return [...this.node.querySelectorAll<HTMLElement>('[role^=menuitem]')];
  }

  private _keyPressed(event: KeyboardEvent): void {
    event.stopPropagation();
    const all = this._entries();
    const at = all.indexOf(event.target as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      all[to % all.length]?.focus();
    } else if (event.key === 'Escape' || event.key === 'Tab') {
      event.preventDefault();
      this.close(true);
    }
  }
}

function checkItem(item: MenuItem): HTMLElement {
  const element = button(item.label, {
    class: 'jp-XprofMenu-item',
    title: item.hint,
    attrs: { role: 'menuitemcheckbox', tabindex: -1, 'aria-checked': item.isChecked?.() ?? false },
    click: () => {
      item.run();
      element.setAttribute('aria-checked', String(item.isChecked?.() ?? false));
    }
  });
  return element;
}
