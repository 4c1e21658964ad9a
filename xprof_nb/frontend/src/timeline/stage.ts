/** The canvases: their place on the page, their size, and when they are drawn again. */
import { h } from '../dom';
import { lowerEdge } from '../shell/lower_edge';
import type { Span } from './span';
import { axisOf } from './ticks';
import { windowText } from './words';

/** What can be drawn anew by itself. */
export type Layer = 'tracks' | 'over' | 'ruler' | 'minimap' | 'names';

const MINIMAP_PX = 36;
const RULER_PX = 32;
const SMALLEST_PX = 120;
const DEFAULT_PX = 360;
const LARGEST_PX = 2000;

export interface StageEvents {
  paint(layers: ReadonlySet<Layer>): void;
  /** The size changed. */
  resized(): void;
  scrolled(): void;
}

export class Stage {
  readonly node: HTMLElement;
  readonly minimap = canvas('jp-Timeline-minimapCanvas');
  readonly ruler = canvas('jp-Timeline-rulerCanvas');
  readonly tracks = canvas('jp-Timeline-tracksCanvas');
  readonly over = canvas('jp-Timeline-overCanvas');
  private readonly _windowText = h('div', { class: 'jp-Timeline-window' });
  private readonly _base = h('div', { class: 'jp-Timeline-base' });
  /** What the pointer and the keyboard act on. */
  readonly area: HTMLElement;
  readonly body: HTMLElement;
  readonly minimapBox = h('div', { class: 'jp-Timeline-minimap' }, this.minimap);
  readonly rulerBox = h('div', { class: 'jp-Timeline-ruler' }, this.ruler);
  width = 0;
  height = DEFAULT_PX;
  ratio = 1;
  private readonly _handle: HTMLElement;
  private readonly _dirty = new Set<Layer>();
  private readonly _observer: ResizeObserver | null;
  private _frame = 0;
  private _scrollTop = 0;
  private _chosenHeight: number | null = null;
  private _contentHeight = DEFAULT_PX;

  constructor(
    headers: HTMLElement,
    description: string,
    private readonly _events: StageEvents
  ) {
    const described = h('p', { class: 'jp-Timeline-description', attrs: { hidden: '' } }, description);
    described.id = `xprof-nb-timeline-${Math.random().toString(36).slice(2)}`;
    this.area = h(
      'div',
      {
        class: 'jp-Timeline-area',
        attrs: {
          role: 'application',
          tabindex: 0,
          'aria-label': 'Timeline',
          'aria-describedby': described.id
        }
      },
      this.tracks,
      this.over
    );
    this.body = h('div', { class: 'jp-Timeline-body' }, headers, this.area);
    this._handle = lowerEdge({
      label: 'Height of the timeline',
      least: SMALLEST_PX,
      most: LARGEST_PX,
      height: () => this.body.offsetHeight,
      resize: (height) => this._resize(height)
    });
    this.node = h(
      'div',
      { class: 'jp-Timeline-stage' },
      described,
      h('div', { class: 'jp-Timeline-top' }, this._windowText, this.minimapBox, this._base, this.rulerBox),
      this.body,
      this._handle
    );
    this.body.addEventListener('scroll', () => this._scrolled(), { passive: true });
    this._observer = typeof ResizeObserver === 'undefined' ? null : new ResizeObserver(() => this._measure());
    this._observer?.observe(this.body);
    this._observer?.observe(this.rulerBox);
    this._applyHeight();
  }

  dispose(): void {
    cancelAnimationFrame(this._frame);
    this._observer?.disconnect();
  }

  /** Tell how high all the tracks are: a short list does not take the room of a long one. */
  set contentHeight(height: number) {
    this._contentHeight = height;
    this._applyHeight();
  }

  /** How far the tracks are scrolled; kept here since asking the page may cost a layout. */
  get scrollTop(): number {
    return this._scrollTop;
  }

  set scrollTop(top: number) {
    this.body.scrollTop = top;
    this._scrolled();
  }

  /** Draw some layers with the next frame. */
  invalidate(...layers: readonly Layer[]): void {
    for (const layer of layers) {
      this._dirty.add(layer);
    }
    if (this._frame === 0 && layers.length > 0) {
      this._frame = requestAnimationFrame(() => {
        this._frame = 0;
        const dirty = new Set(this._dirty);
        this._dirty.clear();
        this._events.paint(dirty);
      });
    }
  }

  /** The pen of a canvas, in CSS pixels; null where there is no canvas. */
  pen(of: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
    const [wide, tall] = [
      Math.max(1, Math.round(width * this.ratio)),
      Math.max(1, Math.round(height * this.ratio))
    ];
    if (of.width !== wide || of.height !== tall) {
      of.width = wide;
      of.height = tall;
      of.style.width = `${width}px`;
      of.style.height = `${height}px`;
    }
    const pen = of.getContext('2d');
    pen?.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    return pen;
  }

  /** Say how much of the run is on screen, and what the axis counts from. */
  describeWindow(span: Span, bounds: Span): void {
    const { base } = axisOf(span, this.width);
    setText(this._windowText, windowText(span, bounds));
    setText(this._base, base === '' ? '' : `${base} +`);
  }

  get minimapHeight(): number {
    return MINIMAP_PX;
  }

  get rulerHeight(): number {
    return RULER_PX;
  }

  private _scrolled(): void {
    const { scrollTop } = this.body;
    if (scrollTop !== this._scrollTop) {
      this._scrollTop = scrollTop;
      this._events.scrolled();
    }
  }

  private _measure(): void {
    const width = this.rulerBox.clientWidth;
    const height = this.body.clientHeight;
    const ratio = window.devicePixelRatio || 1;
    this.node.style.setProperty('--xprof-scrollbar', `${this.body.offsetWidth - this.body.clientWidth}px`);
    this.area.style.height = `${height}px`;
    if (width !== this.width || height !== this.height || ratio !== this.ratio) {
      this.width = width;
      this.height = height;
      this.ratio = ratio;
      this._events.resized();
    }
  }

  private _applyHeight(): void {
    const natural = Math.min(DEFAULT_PX, Math.max(SMALLEST_PX, this._contentHeight));
    this.body.style.setProperty('--xprof-height', `${this._chosenHeight ?? natural}px`);
    this.body.classList.toggle('jp-mod-chosen', this._chosenHeight !== null);
    this._handle.setAttribute('aria-valuenow', String(Math.round(this._chosenHeight ?? natural)));
  }

  private _resize(height: number): void {
    this._chosenHeight = Math.min(LARGEST_PX, Math.max(SMALLEST_PX, height));
    this._applyHeight();
  }
}

function setText(el: HTMLElement, text: string): void {
  if (el.textContent !== text) {
    el.textContent = text;
  }
}

function canvas(name: string): HTMLCanvasElement {
  return h('canvas', { class: name, attrs: { 'aria-hidden': true } });
}
