/** What hovering explains: the exact value, the formula, the source of a peak. */
import { h } from '../dom';
import { hideOverlay, showOverlay } from './overlay';

const DELAY_MS = 300;

/** Lines to show for the element under the pointer, and the element to show them beside; null for none. */
export type Explain = (
  target: Element
) => { readonly anchor: Element; readonly lines: readonly string[] } | null;

/** Explain the parts of a view on hover; returns how to stop. */
export function attachTooltip(root: HTMLElement, explain: Explain): () => void {
  const tip = h('div', { class: 'jp-XprofTooltip', attrs: { role: 'tooltip', hidden: '' } });
  root.append(tip);
  let timer = 0;
  let shown: Element | null = null;

  const hide = () => {
    clearTimeout(timer);
    shown = null;
    hideOverlay(tip);
  };
  const over = (event: Event) => {
    const explained = event.target instanceof Element ? explain(event.target) : null;
    if (explained === null || explained.lines.length === 0) {
      hide();
      return;
    }
    if (explained.anchor === shown) {
      return;
    }
    hide();
    shown = explained.anchor;
    timer = window.setTimeout(() => {
      tip.replaceChildren(...explained.lines.map((line) => h('div', {}, line)));
      showOverlay(tip, explained.anchor.getBoundingClientRect());
    }, DELAY_MS);
  };

  root.addEventListener('pointerover', over);
  root.addEventListener('pointerleave', hide);
  root.addEventListener('pointerdown', hide);
  root.addEventListener('keydown', hide);
  root.addEventListener('wheel', hide, { passive: true });
  return hide;
}
