/** The exposed time of each step as a chart: collectives and copies side by side, since they may overlap. */
import type { Model, Plot, Source } from '../chart/bokeh';
import { ChartBox } from '../chart/box';
import type { Kit } from '../chart/kit';
import { count, percent, time } from '../format';
import type { Host } from '../host';
import type { ExposedStep } from './kinds';

const HEIGHT_PX = 200;
const BARS_WIDTH = 0.8;

const SERIES = [
  { column: 'collectives', kind: 'collective', hatch: ' ', of: (step: ExposedStep) => step.exposed_ps },
  { column: 'copies', kind: 'data', hatch: '/', of: (step: ExposedStep) => step.copyExposed_ps }
] as const;

export class ExposedChart {
  readonly box: ChartBox;
  steps: readonly ExposedStep[] = [];
  private _chosen: number | undefined;
  private _source: Source | null = null;

  constructor(
    host: Host,
    private readonly _choose: (step: number | null) => void
  ) {
    this.box = new ChartBox(host, {
      title: 'Exposed time of each step: collectives ▲ and copies ◆',
      description: 'Two bars a step: collectives ▲ and copies ◆ that no computing hid.',
      height: HEIGHT_PX,
      draw: (kit) => this._draw(kit)
    });
  }

  show(steps: readonly ExposedStep[]): void {
    this.steps = steps;
    void this.box.redraw();
  }

  /** Outline a step, or none. */
  mark(step: number | undefined): void {
    const isNew = step !== this._chosen;
    this._chosen = step;
    if (isNew && this._source !== null) {
      this._source.data = { ...this._source.data, edge: this._edges() };
      if (step === undefined) {
        this._source.selected.indices = [];
      }
    }
  }

  private _edges(): number[] {
    return this.steps.map(({ step }) => (step === this._chosen ? 1 : 0));
  }

  private _draw(kit: Kit): Plot {
    const { steps } = this;
    const series = SERIES.filter(({ of }) => steps.some((step) => of(step) > 0));
    const width = BARS_WIDTH / Math.max(series.length, 1);
    const most = Math.max(1, ...steps.flatMap((step) => SERIES.map(({ of }) => of(step) || 0)));
    const plot = kit.plot({
      x: {
        scale: 'linear',
        range: [-1, Math.max(steps.length, 1)],
        label: 'step',
        write: (at) => (steps[at] === undefined ? '' : count(steps[at].step))
      },
      y: { scale: 'linear', range: [0, most * 1.05], label: 'exposed time', write: time },
      height: HEIGHT_PX
    });
    const source = kit.source({
      step: steps.map(({ step }) => step),
      edge: this._edges(),
      ...Object.fromEntries(
        series.flatMap(({ column, of }, side) => [
          [column, steps.map(of)],
          [`${column}_at`, steps.map((_, at) => at + (side + 0.5) * width - BARS_WIDTH / 2)]
        ])
      )
    });
    const renderers = series.map(({ column, kind, hatch }): Model => {
      const glyph = kit.model('VBar', {
        x: { field: `${column}_at` },
        width,
        bottom: { value: 0 },
        top: { field: column },
        fill_color: kit.kind(kind),
        hatch_pattern: hatch,
        hatch_color: kit.colours.page,
        hatch_alpha: 0.5,
        line_color: kit.colours.select,
        line_alpha: { field: 'edge' },
        line_width: 2
      });
      const renderer = plot.add_glyph(glyph, source);
      renderer.nonselection_glyph = null;
      return renderer;
    });
    kit.hover(plot, renderers, (row) => explained(steps[row]));
    kit.clicks(plot, renderers, source, (row) => {
      if (row !== null || this._chosen !== undefined) {
        this._choose(row === null ? null : (steps[row]?.step ?? null));
      }
    });
    this._source = source;
    return plot;
  }
}

function explained(step: ExposedStep | undefined): readonly string[] {
  return step === undefined
    ? []
    : [
        `step ${step.step}`,
        `${time(step.length_ps)}, mean of its devices`,
        ...SERIES.map(
          ({ column, of }) => `${column} exposed ${time(of(step))}, ${percent(of(step) / step.length_ps)}`
        )
      ];
}
