/** Steps as a chart: one stacked bar a step, hatched when it counts in no mean, outlined when it is chosen. */
import type { Model, Plot, Source } from '../chart/bokeh';
import { ChartBox } from '../chart/box';
import type { Kit } from '../chart/kit';
import { adoptStyle, h } from '../dom';
import { count, time } from '../format';
import type { Host } from '../host';
import { explained, joined, partsOf, type StepBar } from './bars';
import { type Part, swatch } from './parts';
import style from './style.css?inline';

const MOST_BARS = 400;
const BAR_WIDTH = 0.8;

/** A horizontal line with a name. */
export interface Level {
  readonly label: string;
  readonly time_ps: number;
  readonly dash: 'dashed' | 'dotted';
}

export interface Drawn {
  readonly bars: readonly StepBar[];
  readonly levels: readonly Level[];
}

export interface StepChartOptions {
  readonly title: string;
  /** In px. */
  readonly height: number;
  /** A bar was clicked; null when the click was beside all. */
  choose(step: number | null): void;
}

export class StepChart {
  readonly node: HTMLElement;
  readonly box: ChartBox;
  private readonly _legend = h('div', { class: 'jp-XprofSteps-legend', attrs: { role: 'list' } });
  private _drawn: Drawn = { bars: [], levels: [] };
  private _chosen: number | undefined;
  private _source: Source | null = null;

  constructor(
    host: Host,
    private readonly _options: StepChartOptions
  ) {
    const { title, height } = _options;
    this.box = new ChartBox(host, {
      title,
      description: 'One bar a step, stacked by what its time went to.',
      height,
      draw: (kit) => this._draw(kit)
    });
    this.node = h('div', { class: 'jp-XprofSteps' }, this.box.node, this._legend);
  }

  get bars(): readonly StepBar[] {
    return this._drawn.bars;
  }

  start(): void {
    adoptStyle(this.node, style);
    this.box.start();
  }

  show({ bars, levels }: Drawn): void {
    this._drawn = { bars: joined(bars, MOST_BARS), levels };
    this._drawLegend();
    void this.box.redraw();
  }

  /** Outline a step, or none. */
  mark(step: number | undefined): void {
    if (step !== this._chosen && this._source !== null) {
      this._chosen = step;
      this._source.data = { ...this._source.data, edge: this._edges() };
      if (step === undefined) {
        this._source.selected.indices = [];
      }
    }
    this._chosen = step;
  }

  dispose(): void {
    this.box.dispose();
  }

  private _edges(): number[] {
    return this.bars.map(({ step }) => (step === this._chosen ? 1 : 0));
  }

  private _drawLegend(): void {
    const { bars, levels } = this._drawn;
    const item = (...children: (Node | string)[]) => h('span', { attrs: { role: 'listitem' } }, ...children);
    this._legend.replaceChildren(
      ...partsOf(bars).map((part) => item(swatch(part), part.label)),
      ...(bars.some(({ leftOut }) => leftOut) ? [item('▦ crossed: counts in no mean')] : []),
      ...(bars.some((bar) => bar.longest_ps > bar.shortest_ps) ? [item('┃ from device to device')] : []),
      ...levels.map(({ label, time_ps, dash }) =>
        item(`${dash === 'dashed' ? '╌' : '┈'} ${label} ${time(time_ps)}`)
      )
    );
  }

  private _draw(kit: Kit): Plot {
    const { bars, levels } = this._drawn;
    const parts = partsOf(bars);
    const top = Math.max(1, ...bars.map((bar) => Math.max(bar.time_ps, bar.longest_ps)));
    const plot = kit.plot({
      x: {
        scale: 'linear',
        range: [-1, Math.max(bars.length, 1)],
        label: 'step',
        write: (at) => (bars[at] === undefined ? '' : count(bars[at].step))
      },
      y: { scale: 'linear', range: [0, top * 1.05], label: 'time', write: time },
      height: this._options.height
    });
    const source = kit.source(glyphColumns(bars, parts, this._edges()));
    const renderers = parts.map((part, at) =>
      bar(kit, plot, source, {
        ...fill(kit, part),
        bottom: { field: `level${at}` },
        top: { field: `level${at + 1}` }
      })
    );
    const whole = { bottom: { value: 0 }, top: { field: 'time' }, fill_color: null };
    bar(kit, plot, source, {
      ...whole,
      hatch_pattern: { field: 'cross' },
      hatch_color: kit.colours.ink,
      hatch_alpha: 0.6
    });
    bar(kit, plot, source, {
      ...whole,
      line_color: kit.colours.select,
      line_width: 2,
      line_alpha: { field: 'edge' }
    });
    plot.add_glyph(
      kit.model('Segment', {
        x0: { field: 'at' },
        x1: { field: 'at' },
        y0: { field: 'shortest' },
        y1: { field: 'longest' },
        line_color: kit.colours.ink,
        line_alpha: { field: 'spread' }
      }),
      source
    );
    for (const { time_ps, dash } of levels.filter((level) => Number.isFinite(level.time_ps))) {
      plot.add_layout(
        kit.model('Span', {
          dimension: 'width',
          location: time_ps,
          line_color: kit.colours.ink,
          line_dash: dash
        })
      );
    }
    kit.hover(plot, renderers, (row) => (bars[row] === undefined ? [] : explained(bars[row])));
    kit.clicks(plot, renderers, source, (row) => {
      if (row !== null || this._chosen !== undefined) {
        this._options.choose(row === null ? null : (bars[row]?.step ?? null));
      }
    });
    this._source = source;
    return plot;
  }
}

/** One bar a row of a source. */
function bar(kit: Kit, plot: Plot, source: Source, style: object): Model {
  const glyph = kit.model('VBar', { x: { field: 'at' }, width: BAR_WIDTH, line_color: null, ...style });
  const renderer = plot.add_glyph(glyph, source);
  // What is chosen is outlined; it does not fade the rest.
  renderer.nonselection_glyph = null;
  return renderer;
}

function fill(kit: Kit, { kind, alpha, hatch }: Part): object {
  return {
    fill_color: kit.kind(kind),
    fill_alpha: alpha,
    hatch_pattern: hatch,
    hatch_color: kit.colours.faint,
    hatch_alpha: 0.4,
    hatch_scale: 8
  };
}

/** What is drawn: `level0` … are the edges of the parts, from below. */
export function glyphColumns(
  bars: readonly StepBar[],
  parts: readonly Part[],
  edge: readonly number[]
): { readonly [column: string]: readonly unknown[] } {
  const levels = bars.map((each) => {
    let level = 0;
    return [0, ...parts.map(({ id }) => (level += each.parts.get(id) ?? 0))];
  });
  return {
    at: bars.map((_, at) => at),
    step: bars.map(({ step }) => step),
    time: bars.map(({ time_ps }) => time_ps),
    shortest: bars.map(({ shortest_ps }) => shortest_ps),
    longest: bars.map(({ longest_ps }) => longest_ps),
    spread: bars.map(({ shortest_ps, longest_ps }) => (longest_ps > shortest_ps ? 1 : 0)),
    cross: bars.map(({ leftOut }) => (leftOut ? 'x' : ' ')),
    edge,
    ...Object.fromEntries(
      Array.from({ length: parts.length + 1 }, (_, at) => [`level${at}`, levels.map((each) => each[at])])
    )
  };
}
