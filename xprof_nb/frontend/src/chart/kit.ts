/** What charts are made with: BokehJS in the colours and fonts of the page, numbers as people read them. */
import { h } from '../dom';
import { KINDS } from '../kinds';
import type { Bokeh, Model, Plot, Source } from './bokeh';

/** The colours of a page, resolved: a canvas knows no CSS variables. */
export interface Colours {
  readonly page: string;
  readonly ink: string;
  readonly faint: string;
  readonly line: string;
  readonly select: string;
  readonly warn: string;
  /** By the id of a kind of work. */
  readonly kinds: ReadonlyMap<string, string>;
}

export interface AxisOptions {
  readonly label: string;
  /** How a tick is written. */
  write(value: number): string;
  /** 1024 for bytes. */
  readonly base?: number;
}

export type Scale = 'linear' | 'log';

export interface PlotOptions {
  readonly x: AxisOptions & { readonly scale: Scale; readonly range: readonly [number, number] };
  readonly y: AxisOptions & { readonly scale: Scale; readonly range: readonly [number, number] };
  /** In px. */
  readonly height: number;
}

/** Data of a glyph: columns of one length. */
export type Data = { readonly [column: string]: ArrayLike<unknown> };

export const FONT = 'system-ui, -apple-system, "Segoe UI", sans-serif';

export class Kit {
  constructor(
    readonly bokeh: Bokeh,
    readonly colours: Colours
  ) {}

  /** A model of BokehJS by its name. */
  model(name: string, properties: object = {}): Model {
    const Made = this.bokeh.Models[name];
    if (Made === undefined) {
      throw new Error(`BokehJS ${this.bokeh.version} has no ${name}`);
    }
    return new Made(properties);
  }

  source(data: Data): Source {
    return new this.bokeh.Models.ColumnDataSource({ data });
  }

  /** An empty plot with axes, that pans by dragging and zooms by Ctrl and the wheel or the toolbar. */
  plot({ x, y, height }: PlotOptions): Plot {
    const { colours } = this;
    const plot = new this.bokeh.Models.Plot({
      x_range: this._range(x.range),
      y_range: this._range(y.range),
      x_scale: this._scale(x.scale),
      y_scale: this._scale(y.scale),
      height,
      sizing_mode: 'stretch_width',
      background_fill_color: colours.page,
      border_fill_color: colours.page,
      outline_line_color: colours.line,
      toolbar_location: null,
      min_border_right: 12,
      min_border_top: 8
    });
    plot.add_layout(this._axis(x), 'below');
    plot.add_layout(this._axis(y), 'left');
    plot.add_tools(
      this.model('PanTool'),
      this.model('WheelZoomTool', { modifiers: { ctrl: true } }),
      this.model('ResetTool')
    );
    return plot;
  }

  /** Explain what the pointer is on, in lines of text. */
  hover(
    plot: Plot,
    renderers: readonly Model[],
    lines: (row: number, source: Source) => readonly string[],
    options: object = {}
  ): void {
    const tooltips = (
      source: Source,
      info: { readonly index: number; readonly indices?: readonly number[] }
    ) => card(lines(info.index, source));
    plot.add_tools(this.model('HoverTool', { renderers, tooltips, attachment: 'horizontal', ...options }));
  }

  /** Tell which row of a source is clicked; null when the click was beside all. */
  clicks(
    plot: Plot,
    renderers: readonly Model[],
    source: Source,
    clicked: (row: number | null) => void
  ): void {
    plot.add_tools(this.model('TapTool', { renderers }));
    source.selected.properties.indices.change.connect(() => clicked(source.selected.indices[0] ?? null));
  }

  /** Tell which stretch of the x axis is dragged, instead of panning. */
  ranges(plot: Plot, dragged: (start: number, end: number) => void): void {
    const tool = this.model('BoxSelectTool', { dimensions: 'width', renderers: [] });
    plot.add_tools(tool);
    (plot.toolbar as Model).active_drag = tool;
    plot.on_event('selectiongeometry', ({ geometry, final }) => {
      if (final && geometry?.x0 !== undefined && geometry.x1 !== undefined) {
        dragged(Math.min(geometry.x0, geometry.x1), Math.max(geometry.x0, geometry.x1));
      }
    });
  }

  /** A second y axis, on the right; glyphs are put on it with `{ y_range_name: name }`. */
  secondAxis(plot: Plot, name: string, y: PlotOptions['y']): void {
    plot.extra_y_ranges = { [name]: this._range(y.range) };
    const axis = this._axis(y);
    axis.y_range_name = name;
    plot.add_layout(axis, 'right');
  }

  /** The colour of a kind of work. */
  kind(id: string): string {
    return this.colours.kinds.get(id) ?? this.colours.faint;
  }

  private _range([start, end]: readonly [number, number]): Model {
    return this.model('Range1d', { start, end, reset_start: start, reset_end: end });
  }

  private _scale(scale: Scale): Model {
    return this.model(scale === 'log' ? 'LogScale' : 'LinearScale');
  }

  private _axis({ label, write, base, scale }: AxisOptions & { readonly scale: Scale }): Model {
    const { colours } = this;
    const formatter = this.model('BasicTickFormatter');
    formatter.doFormat = (ticks: readonly number[]) => ticks.map(write);
    const ticker =
      scale === 'log'
        ? this.model('LogTicker', { num_minor_ticks: 0 })
        : this.model(
            'AdaptiveTicker',
            base === 1024 ? { base, mantissas: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512] } : {}
          );
    const text = { text_font: FONT, text_font_size: '12px', text_font_style: 'normal' };
    const prefixed = (prefix: string, color: string) =>
      Object.fromEntries(
        Object.entries({ ...text, text_color: color }).map(([name, value]) => [`${prefix}_${name}`, value])
      );
    return this.model(scale === 'log' ? 'LogAxis' : 'LinearAxis', {
      axis_label: label,
      formatter,
      ticker,
      axis_line_color: colours.line,
      major_tick_line_color: colours.line,
      minor_tick_line_color: null,
      ...prefixed('axis_label', colours.faint),
      ...prefixed('major_label', colours.faint)
    });
  }
}

// BokehJS shows it in a shadow tree of its own, where no style sheet of a view reaches.
function card(lines: readonly string[]): HTMLElement {
  const node = h('div', {}, ...lines.map((line) => h('div', {}, line)));
  Object.assign(node.style, { font: `12px/1.5 ${FONT}`, maxWidth: '420px', overflowWrap: 'anywhere' });
  const [first] = node.children;
  if (first instanceof HTMLElement) {
    first.style.fontWeight = '600';
  }
  return node;
}

/** Read the colours that an element of a view has now. */
export function coloursOf(el: HTMLElement): Colours {
  const style = getComputedStyle(el);
  const probe = h('span', {});
  el.append(probe);
  const resolved = (name: string) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color || style.color;
  };
  const kinds = new Map(KINDS.map(({ id }) => [id, resolved(`--xprof-kind-${id}`)]));
  const [page, ink, faint, line, select, warn] = ['page', 'ink', 'faint', 'line', 'select', 'warn'].map(
    (name) => resolved(`--xprof-${name}`)
  ) as [string, string, string, string, string, string];
  probe.remove();
  return { page, ink, faint, line, select, warn, kinds };
}
