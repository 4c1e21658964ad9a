/** Buttons that open a menu. */
import { button, h } from '../dom';
import { type MenuItem, Popup } from './popup';

export type { MenuItem } from './popup';

/** What can be done with a view as a whole. */
export function menuButton(items: readonly MenuItem[]): HTMLElement {
  const title = 'More: copy, download, keys';
  return dropDown({ label: '⋯', name: 'More actions', title, class: 'jp-XprofMenu-opener' }, () => items);
}

export interface Opener {
  readonly label: string;
  readonly title: string;
  /** What a screen reader calls it, when that is not its label. */
  readonly name?: string;
  readonly class?: string;
}

/** A button that opens a menu of what there is then. */
export function dropDown(look: Opener, items: () => readonly MenuItem[]): HTMLElement {
  const popup = new Popup((byKeyboard) => {
    opener.setAttribute('aria-expanded', 'false');
    if (byKeyboard) {
      opener.focus();
    }
  });
  const opener = button(look.label, {
    class: `jp-XprofButton ${look.class ?? ''}`.trim(),
    title: look.title,
    attrs: { 'aria-haspopup': 'menu', 'aria-expanded': false, 'aria-label': look.name ?? look.label },
    click: () => {
      if (popup.isOpen) {
        popup.close(false);
      } else {
        opener.setAttribute('aria-expanded', 'true');
        popup.open(items(), opener.getBoundingClientRect(), 'right');
      }
    }
  });
  // A press on the button closes by its click, not also as a press outside.
  opener.addEventListener('pointerdown', (event) => popup.isOpen && event.stopPropagation());
  return h('span', {}, opener, popup.node);
}
