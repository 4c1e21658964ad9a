/** The menu of a view: what can be done with it as a whole. */
import { button, h } from '../dom';
import { hideOverlay, showOverlay } from './overlay';

export interface MenuItem {
  readonly label: string;
  readonly hint?: string;
  run(): void;
}

/** A button that opens a menu of actions. */
export function menuButton(items: readonly MenuItem[]): HTMLElement {
  const menu = h(
    'div',
    { class: 'jp-XprofMenu', attrs: { role: 'menu', hidden: '' } },
    ...items.map((item) =>
      button(item.label, {
        class: 'jp-XprofMenu-item',
        title: item.hint,
        attrs: { role: 'menuitem', tabindex: -1 },
        click: () => {
          close();
          item.run();
        }
      })
    )
  );
  const opener = button('⋯', {
    class: 'jp-XprofButton jp-XprofMenu-opener',
    title: 'More: copy, download, keys',
    attrs: { 'aria-haspopup': 'menu', 'aria-expanded': false, 'aria-label': 'More actions' },
    click: () => (menu.hidden ? open() : close())
  });

  const outside = (event: Event) => {
    if (!event.composedPath().includes(menu) && !event.composedPath().includes(opener)) {
      close();
    }
  };
  const entries = () => [...menu.querySelectorAll<HTMLElement>('[role=menuitem]')];
  const open = () => {
    opener.setAttribute('aria-expanded', 'true');
    showOverlay(menu, opener.getBoundingClientRect(), 'right');
    entries()[0]?.focus();
    document.addEventListener('pointerdown', outside, true);
  };
  const close = () => {
    opener.setAttribute('aria-expanded', 'false');
    hideOverlay(menu);
    document.removeEventListener('pointerdown', outside, true);
  };
  menu.addEventListener('keydown', (event) => {
    event.stopPropagation();
    const all = entries();
    const at = all.indexOf(event.target as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      all[to % all.length]?.focus();
    } else if (event.key === 'Escape' || event.key === 'Tab') {
      event.preventDefault();
      close();
      opener.focus();
    }
  });
  return h('span', {}, opener, menu);
}
