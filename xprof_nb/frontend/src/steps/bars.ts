/** The bars of the step view: one a step, the mean of its devices, busy below and idle above. */
import type { Model, Plot } from '../chart/bokeh';
import { ChartBox } from '../chart/box';
import type { Kit } from '../chart/kit';
import { numberAt } from '../columns';
import { count, time } from '../format';
import type { AnswerFrame, Part } from '../shell/answer';
import type { Choice } from '../shell/link';

const HEIGHT_PX = 220;

/** One step over all devices shown. */
export interface StepBar {
  readonly step: number;
  readonly time_ps: number;
  readonly busy_ps: number;
  readonly isPartial: boolean;
  readonly devices: number;
}

export class StepBars implements Part {
  readonly node: HTMLElement;
  private readonly _chart: ChartBox;
  private _bars: readonly StepBar[] = [];
  private _choice: Choice = {};

  constructor(private readonly _frame: AnswerFrame) {
    this._chart = new ChartBox(_frame.host, {
      title: 'Step time',
      description: 'One bar a step, busy time below and idle time above.',
      height: HEIGHT_PX,
      draw: (kit) => this._draw(kit)
    });
    this.node = this._chart.node;
  }

  start(): void {
    this._chart.start();
  }

  update(): void {
    this._bars = stepBars(this._frame);
    void this._chart.redraw();
  }

  follow(choice: Choice): void {
    if (choice.step !== this._choice.step) {
      this._choice = choice;
      void this._chart.redraw();
    }
  }

  dispose(): void {
    this._chart.dispose();
  }

  private _draw(kit: Kit): Plot {
    const bars = this._bars;
    const steps = bars.map(({ step }) => step);
    const most = Math.max(1, ...bars.map((bar) => bar.time_ps));
    const plot = kit.plot({
      x: {
        scale: 'linear',
        range: [Math.min(0, ...steps) - 1, Math.max(0, ...steps) + 1],
        label: 'step',
        write: (step) => (Number.isInteger(step) ? count(step) : '')
      },
      y: { scale: 'linear', range: [0, most * 1.05], label: 'time', write: time },
      height: HEIGHT_PX
    });
    const source = kit.source({
      step: steps,
      busy: bars.map((bar) => bar.busy_ps),
      total: bars.map((bar) => bar.time_ps),
      outline: bars.map((bar) => (bar.step === this._choice.step ? kit.colours.select : 'transparent'))
    });
    const bar = (bottom: object, top: object, style: object): Model =>
      plot.add_glyph(kit.model('VBar', { x: { field: 'step' }, width: 0.8, bottom, top, ...style }), source);
    const line = { line_color: { field: 'outline' }, line_width: 2 };
    const busy = bar({ value: 0 }, { field: 'busy' }, { fill_color: kit.kind('matrix'), ...line });
    const idle = bar(
      { field: 'busy' },
      { field: 'total' },
      {
        fill_color: kit.kind('idle'),
        hatch_pattern: '/',
        hatch_color: kit.colours.faint,
        hatch_alpha: 0.4,
        ...line
      }
    );
    kit.hover(plot, [busy, idle], (row) => this._explain(row));
    kit.clicks(plot, [busy, idle], source, (row) => {
      const chosen = row === null ? undefined : bars[row];
      this._frame.choose(chosen === undefined ? {} : { step: chosen.step });
    });
    return plot;
  }

  private _explain(row: number): readonly string[] {
    const bar = this._bars[row];
    return bar === undefined
      ? []
      : [
          `step ${bar.step}${bar.isPartial ? ', cut by an edge of the capture' : ''}`,
          `${time(bar.time_ps)}, mean of ${count(bar.devices)} device${bar.devices === 1 ? '' : 's'}`,
          `busy ${time(bar.busy_ps)}, idle ${time(bar.time_ps - bar.busy_ps)}`
        ];
  }
}

/** The bars of the rows that are shown. */
export function stepBars({ answer: { table }, grid }: AnswerFrame): StepBar[] {
  const byStep = new Map<number, number[]>();
  for (const row of grid.shown) {
    const step = numberAt(table, 'step', row);
    byStep.set(step, [...(byStep.get(step) ?? []), row]);
  }
  return [...byStep]
    .filter(([step]) => !Number.isNaN(step))
    .map(([step, rows]) => ({
      step,
      time_ps: mean(rows.map((row) => numberAt(table, 'duration_ps', row))),
      busy_ps: mean(rows.map((row) => numberAt(table, 'busy_time_ps', row))),
      isPartial: rows.some((row) => numberAt(table, 'is_partial', row) === 1),
      devices: rows.length
    }))
    .sort((a, b) => a.step - b.step);
}

function mean(values: readonly number[]): number {
  const known = values.filter((value) => !Number.isNaN(value));
  return known.reduce((sum, value) => sum + value, 0) / Math.max(known.length, 1);
}
