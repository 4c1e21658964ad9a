/** A chart in a view: keeps its room while BokehJS loads, follows the theme, and can be drawn again. */
import { adoptStyle, button, h } from '../dom';
import type { Host } from '../host';
import { showFailure } from '../shell/status';
import { followTheme } from '../theme';
import { bokeh, drawPlot, type Plot } from './bokeh';
import { coloursOf, Kit } from './kit';
import style from './style.css?inline';

export interface ChartOptions {
  readonly title: string;
  /** What the picture says, for who cannot see it. */
  readonly description: string;
  /** In px. */
  readonly height: number;
  /** What dragging does, where it does not pan. */
  readonly dragging?: string;
  /** Makes the plot; called again when the theme or the data change. */
  draw(kit: Kit): Plot;
}

export class ChartBox {
  readonly node: HTMLElement;
  /** What is on screen now; null before the first drawing. */
  plot: Plot | null = null;
  private readonly _place: HTMLElement;
  private _erase: () => void = () => {};
  private _drawings = 0;
  private _stop: () => void = () => {};

  constructor(
    private readonly _host: Host,
    private readonly _options: ChartOptions
  ) {
    const { title, description, height } = _options;
    this._place = h('div', {
      class: 'jp-XprofChart-place',
      attrs: { role: 'img', 'aria-label': `${title}. ${description}` }
    });
    this._place.style.height = `${height}px`;
    this.node = h(
      'figure',
      { class: 'jp-XprofChart' },
      h(
        'figcaption',
        { class: 'jp-XprofChart-title' },
        title,
        button('Reset', {
          class: 'jp-XprofButton',
          title: `Show all of it again. Dragging ${_options.dragging ?? 'pans'}, Ctrl and the wheel zoom.`,
          click: () => void this.redraw()
        })
      ),
      this._place
    );
  }

  /** Begin, now that it is in the page. */
  start(): void {
    adoptStyle(this.node, style);
    const view = this.node.closest<HTMLElement>('.jp-XprofView') ?? this.node;
    let theme = '';
    this._stop = followTheme(this.node, () => {
      // The view's own theme is set by the same change, perhaps after this.
      queueMicrotask(() => {
        const now = `${view.dataset.theme} ${getComputedStyle(view).backgroundColor}`;
        if (now !== theme) {
          theme = now;
          void this.redraw();
        }
      });
    });
  }

  async redraw(): Promise<void> {
    const drawing = ++this._drawings;
    try {
      const library = await bokeh(this._host);
      if (drawing !== this._drawings || !this.node.isConnected) {
        return;
      }
      const plot = this._options.draw(new Kit(library, coloursOf(this.node)));
      // Below the old picture, out of sight, until it is drawn.
      const place = h('div', {});
      this._place.append(place);
      const erase = await drawPlot(library, plot, place);
      if (drawing !== this._drawings) {
        erase();
        return;
      }
      this._erase();
      this._erase = erase;
      this.plot = plot;
      this._place.replaceChildren(place);
    } catch (error) {
      this._place.replaceChildren();
      showFailure(this._place, error, () => void this.redraw());
    }
  }

  dispose(): void {
    this._drawings++;
    this._stop();
    this._erase();
    this.plot = null;
    this.node.remove();
  }
}
