/** Things that float above a view: in the browser's top layer, so that no output area clips them. */

import { adoptStyle } from '../dom';
import style from '../style/overlay.css?inline';

const MARGIN = 4;

export interface Anchor {
  readonly left: number;
  readonly top: number;
  readonly bottom: number;
  readonly right: number;
}

/** Show an element that is already in the page beside an anchor, inside the window. */
export function showOverlay(overlay: HTMLElement, anchor: Anchor, align: 'left' | 'right' = 'left'): void {
  adoptStyle(overlay, style);
  overlay.popover = 'manual';
  overlay.hidden = false;
  overlay.showPopover?.();
  const { width, height } = overlay.getBoundingClientRect();
  const wanted = align === 'left' ? anchor.left : anchor.right - width;
  const left = Math.max(MARGIN, Math.min(wanted, window.innerWidth - width - MARGIN));
  const below = anchor.bottom + MARGIN;
  const top = below + height <= window.innerHeight ? below : anchor.top - height - MARGIN;
  overlay.style.left = `${left}px`;
  overlay.style.top = `${Math.max(MARGIN, top)}px`;
}

export function hideOverlay(overlay: HTMLElement): void {
  if (!overlay.hidden) {
    overlay.hidePopover?.();
    overlay.hidden = true;
  }
}
