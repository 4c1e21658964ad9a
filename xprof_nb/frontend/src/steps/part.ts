/** What stands above the table of steps: their chart, and a way to look at one of them alone. */
import { button, h } from '../dom';
import { time } from '../format';
import { number } from '../payload';
import { Also } from '../shell/also';
import type { AnswerFrame, Part } from '../shell/answer';
import type { Choice } from '../shell/link';
import { barsOfSteps, typical } from './bars';
import { type Level, StepChart } from './chart';

const HEIGHT_PX = 240;

export class StepsPart implements Part {
  readonly node: HTMLElement;
  readonly chart: StepChart;
  private readonly _also: Also;
  private readonly _alone: HTMLButtonElement;
  private readonly _counted = h('span', {});
  private _chosen: number | undefined;

  constructor(private readonly _frame: AnswerFrame) {
    this._also = new Also(_frame, ['input_pipeline'], () => this.update());
    this.chart = new StepChart(_frame.host, {
      title: 'Where the time of each step went',
      height: HEIGHT_PX,
      choose: (step) => _frame.choose(step === null ? {} : { step })
    });
    this._alone = button('', { class: 'jp-XprofButton', click: () => this._narrow() });
    this.node = h(
      'div',
      {},
      this.chart.node,
      h('div', { class: 'jp-XprofAnswer-bar' }, this._alone, this._counted)
    );
    this._nameButton();
  }

  start(): void {
    this.chart.start();
  }

  update(): void {
    this._also.update();
    const { answer, grid } = this._frame;
    const pipeline = this._also.answer('input_pipeline');
    this.chart.show({
      bars: barsOfSteps(answer.table, grid.shown, pipeline?.table ?? null),
      levels: this._levels()
    });
    const partial = number(answer.summary.partial_count);
    const spread = number(answer.summary.device_spread_ps);
    this._counted.textContent = [
      partial > 0 ? `${partial} partial step${partial === 1 ? '' : 's'}: hatched, in no mean` : '',
      spread > 0 ? `devices differ by ${time(spread)} of busy time a step` : '',
      this._also.failure('input_pipeline')
    ]
      .filter(Boolean)
      .join('; ');
  }

  follow(choice: Choice): void {
    this._chosen = choice.step;
    this.chart.mark(choice.step);
    this._nameButton();
  }

  dispose(): void {
    this._also.dispose();
    this.chart.dispose();
  }

  /** As the summary has them; of a filtered table, of the rows that are left. */
  private _levels(): Level[] {
    const { answer, grid } = this._frame;
    const isWhole = grid.shown.length === answer.table.rows;
    const { mean_ps, median_ps } = isWhole
      ? {
          mean_ps: number(answer.summary.step_time_mean_ps),
          median_ps: number(answer.summary.step_time_median_ps)
        }
      : typical(answer.table, grid.shown);
    const levels: Level[] = [
      { label: 'mean', time_ps: mean_ps, dash: 'dashed' },
      { label: 'median', time_ps: median_ps, dash: 'dotted' }
    ];
    return levels.filter(({ time_ps }) => Number.isFinite(time_ps));
  }

  private _nameButton(): void {
    this._alone.textContent =
      this._chosen === undefined ? 'Narrow all views to a step' : `Narrow all views to step ${this._chosen}`;
    this._alone.title =
      this._chosen === undefined
        ? 'Choose a step first: click its bar or its row'
        : 'Show this step alone in every view';
    this._alone.setAttribute('aria-disabled', String(this._chosen === undefined));
  }

  private _narrow(): void {
    if (this._chosen !== undefined) {
      this._frame.narrow({ ...this._frame.link.filters, step: this._chosen });
    }
  }
}
