/** What stands above the table of moving ops: kinds against the link's peak, and the exposed time of each step. */
import { adoptStyle, h } from '../dom';
import { byteRate } from '../format';
import { number } from '../payload';
import type { AnswerFrame, Part } from '../shell/answer';
import type { Choice } from '../shell/link';
import barTableStyle from '../style/bar_table.css?inline';
import { ExposedChart } from './exposed_chart';
import { kindTable } from './kind_table';
import { kindsOf, kindsOfRows, type LinkPeak, peakOf, stepsOf } from './kinds';
import style from './style.css?inline';

export class CollectivesPart implements Part {
  readonly node: HTMLElement;
  private readonly _chart: ExposedChart;
  private readonly _kinds = h('div', {
    class: 'jp-Collectives-scroll',
    attrs: { tabindex: 0, role: 'group', 'aria-label': 'Kinds' }
  });
  private readonly _said = h('p', { class: 'jp-Collectives-said' });

  constructor(private readonly _frame: AnswerFrame) {
    this._chart = new ExposedChart(_frame.host, (step) => _frame.choose(step === null ? {} : { step }));
    this.node = h('div', {}, this._kinds, this._said, this._chart.box.node);
  }

  start(): void {
    adoptStyle(this.node, barTableStyle);
    adoptStyle(this.node, style);
    this._chart.box.start();
  }

  update(): void {
    const { answer, grid } = this._frame;
    const { summary, table } = answer;
    const isAll = grid.shown.length === table.rows;
    const peak = peakOf(summary);
    const steps = stepsOf(summary);
    this._kinds.replaceChildren(
      kindTable(isAll ? kindsOf(summary) : kindsOfRows(table, grid.shown, number(summary.device_count)), peak)
    );
    const isExposed = steps.some((step) => step.exposed_ps > 0 || step.copyExposed_ps > 0);
    this._chart.box.node.hidden = !isExposed;
    this._said.textContent = [
      isAll ? '' : 'Of the ops shown: exposed times are sums, overlapping ones count each.',
      said(peak),
      isExposed ? '' : whyNoChart(steps.length)
    ]
      .filter(Boolean)
      .join(' ');
    if (isExposed) {
      this._chart.show(steps);
    }
  }

  follow({ step }: Choice): void {
    this._chart.mark(step);
  }

  dispose(): void {
    this._chart.box.dispose();
  }
}

function said({ bytes_per_s, label, source }: LinkPeak): string {
  return Number.isNaN(bytes_per_s)
    ? 'The peak of this device’s link is not known: bandwidths stand alone.'
    : `┃ peak of the link, ${byteRate(bytes_per_s)} out of one chip (${label}: ${source}).`;
}

function whyNoChart(steps: number): string {
  return steps === 0
    ? 'No chart by step: no whole step is known, see steps().'
    : 'No chart by step: in no whole step was anything exposed.';
}
