/** The menu of a view: what can be done with it as a whole. */
import { button, h } from '../dom';
import { type MenuItem, Popup } from './popup';

export type { MenuItem } from './popup';

/** A button that opens a menu of actions. */
export function menuButton(items: readonly MenuItem[]): HTMLElement {
  const popup = new Popup((byKeyboard) => {
    opener.setAttribute('aria-expanded', 'false');
    if (byKeyboard) {
      opener.focus();
    }
  });
  const opener = button('⋯', {
    class: 'jp-XprofButton jp-XprofMenu-opener',
    title: 'More: copy, download, keys',
    attrs: { 'aria-haspopup': 'menu', 'aria-expanded': false, 'aria-label': 'More actions' },
    click: () => {
      if (popup.isOpen) {
        popup.close(false);
      } else {
        opener.setAttribute('aria-expanded', 'true');
        popup.open(items, opener.getBoundingClientRect(), 'right');
      }
    }
  });
  // A press on the button closes by its click, not also as a press outside.
  opener.addEventListener('pointerdown', (event) => popup.isOpen && event.stopPropagation());
  return h('span', {}, opener, popup.node);
}
