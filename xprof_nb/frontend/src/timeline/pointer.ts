/** Mouse, pen and touch on the canvases: what was done, in pixels; what that means is the view's. */

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface PointerEvents {
  /** Zoom so that the point keeps its place; a factor below 1 is closer. */
  zoom(factor: number, x: number): void;
  pan(byX: number, byY: number): void;
  hover(at: Point | null): void;
  click(at: Point): void;
  doubleClick(at: Point): void;
  /** A box is drawn from one point to another; `isDone` with the last one. */
  select(from: Point, to: Point, isDone: boolean): void;
  menu(at: Point, clientX: number, clientY: number): void;
}

const CLICK_PX = 4;
const ZOOM_PER_PX = 0.0022;
const LINE_PX = 16;
const LARGEST_STEP_PX = 240;
/** A scroll of the page that comes by goes on; one that begins here zooms. */
const SAME_SCROLL_MS = 250;

export class Pointer {
  private readonly _stops: (() => void)[] = [];
  private _scrolledBy = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly _area: HTMLElement,
    private readonly _events: PointerEvents
  ) {
    this._on(_area, 'wheel', (event) => this._wheel(event), { passive: false });
    this._on(_area, 'pointerdown', (event) => this._down(event));
    this._on(_area, 'pointermove', (event) => {
      if (event.buttons === 0) {
        _events.hover(this._point(event));
      }
    });
    this._on(_area, 'pointerleave', () => _events.hover(null));
    this._on(_area, 'dblclick', (event) => _events.doubleClick(this._point(event)));
    this._on(_area, 'contextmenu', (event) => {
      event.preventDefault();
      _events.menu(this._point(event), event.clientX, event.clientY);
    });
    const elsewhere = (event: WheelEvent) => {
      if (event.target instanceof Node && !_area.contains(event.target)) {
        this._scrolledBy = performance.now();
      }
    };
    document.addEventListener('wheel', elsewhere, { capture: true, passive: true });
    this._stops.push(() => document.removeEventListener('wheel', elsewhere, { capture: true }));
  }

  dispose(): void {
    for (const stop of this._stops) {
      stop();
    }
  }

  private _wheel(event: WheelEvent): void {
    const now = performance.now();
    if (now - this._scrolledBy < SAME_SCROLL_MS) {
      this._scrolledBy = now;
      return;
    }
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1;
    const clamp = (delta: number) => Math.max(-LARGEST_STEP_PX, Math.min(delta * unit, LARGEST_STEP_PX));
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this._events.pan(-clamp(event.deltaX || event.deltaY), 0);
    } else {
      this._events.zoom(Math.exp(clamp(event.deltaY) * ZOOM_PER_PX), this._point(event).x);
    }
  }

  private _down(event: PointerEvent): void {
    if (event.button !== 0) {
      return;
    }
    const from = this._point(event);
    const isSelecting = event.shiftKey;
    let last = from;
    let isDrag = false;
    const move = (moved: PointerEvent) => {
      const at = this._point(moved);
      isDrag ||= Math.hypot(at.x - from.x, at.y - from.y) > CLICK_PX;
      if (isDrag && isSelecting) {
        this._events.select(from, at, false);
      } else if (isDrag) {
        this._area.classList.add('jp-mod-panning');
        this._events.pan(at.x - last.x, at.y - last.y);
      }
      last = at;
    };
    const end = (ended: PointerEvent, isCancelled: boolean) => {
      this._area.classList.remove('jp-mod-panning');
      this._area.removeEventListener('pointermove', move);
      this._area.removeEventListener('pointerup', up);
      this._area.removeEventListener('pointercancel', cancel);
      if (isDrag && isSelecting) {
        this._events.select(from, this._point(ended), true);
      } else if (!isDrag && !isCancelled) {
        this._events.click(from);
      }
    };
    const up = (ended: PointerEvent) => end(ended, false);
    const cancel = (ended: PointerEvent) => end(ended, true);
    this._area.setPointerCapture?.(event.pointerId);
    this._area.addEventListener('pointermove', move);
    this._area.addEventListener('pointerup', up);
    this._area.addEventListener('pointercancel', cancel);
  }

  private _point(event: MouseEvent): Point {
    const { left, top } = this._area.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  }

  private _on<K extends keyof HTMLElementEventMap>(
    target: HTMLElement,
    name: K,
    listener: (event: HTMLElementEventMap[K]) => void,
    options?: AddEventListenerOptions
  ): void {
    target.addEventListener(name, listener, options);
    this._stops.push(() => target.removeEventListener(name, listener, options));
  }
}

/** Follow one drag along a strip; the places are pixels from its left edge. */
export function dragAlong(
  strip: HTMLElement,
  begin: (x: number) => { move(x: number): void; end(x: number, isDrag: boolean): void }
): void {
  strip.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) {
      return;
    }
    event.preventDefault();
    const { left } = strip.getBoundingClientRect();
    const from = event.clientX - left;
    const drag = begin(from);
    let isDrag = false;
    const move = (moved: PointerEvent) => {
      const x = moved.clientX - left;
      isDrag ||= Math.abs(x - from) > CLICK_PX;
      if (isDrag) {
        drag.move(x);
      }
    };
    strip.setPointerCapture?.(event.pointerId);
    strip.addEventListener('pointermove', move);
    const end = (ended: PointerEvent) => {
      strip.removeEventListener('pointermove', move);
      strip.removeEventListener('pointerup', end);
      strip.removeEventListener('pointercancel', end);
      drag.end(ended.clientX - left, isDrag);
    };
    strip.addEventListener('pointerup', end);
    strip.addEventListener('pointercancel', end);
  });
}
