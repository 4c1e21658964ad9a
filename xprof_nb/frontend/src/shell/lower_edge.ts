/** The edge below something that makes it taller or lower, by pointer and by arrow keys. */
import { h } from '../dom';

const STEP_PX = 24;

export interface EdgeOptions {
  /** What gets taller: `Height of the table`. */
  readonly label: string;
  readonly least: number;
  readonly most: number;
  height(): number;
  resize(height: number): void;
}

/** A handle to put below; `aria-valuenow` is what it was last set to. */
export function lowerEdge({ label, least, most, height, resize }: EdgeOptions): HTMLElement {
  const edge = h('div', {
    class: 'jp-XprofEdge',
    title: 'Drag, or arrow keys, to change the height',
    attrs: {
      role: 'separator',
      tabindex: 0,
      'aria-orientation': 'horizontal',
      'aria-label': label,
      'aria-valuemin': least,
      'aria-valuemax': most,
      'aria-valuenow': least
    }
  });
  const become = (wanted: number) => {
    const px = Math.round(Math.min(most, Math.max(least, wanted)));
    edge.setAttribute('aria-valuenow', String(px));
    resize(px);
  };
  edge.addEventListener('focus', () => edge.setAttribute('aria-valuenow', String(Math.round(height()))));
  edge.addEventListener('keydown', (event) => {
    const by = { ArrowDown: STEP_PX, ArrowUp: -STEP_PX }[event.key];
    if (by !== undefined) {
      event.preventDefault();
      event.stopPropagation();
      become(height() + by);
    }
  });
  edge.addEventListener('pointerdown', (event) => {
    const from = height() - event.clientY;
    const move = (moved: PointerEvent) => become(from + moved.clientY);
    event.preventDefault();
    edge.setPointerCapture(event.pointerId);
    edge.addEventListener('pointermove', move);
    edge.addEventListener('lostpointercapture', () => edge.removeEventListener('pointermove', move), {
      once: true
    });
  });
  return edge;
}
