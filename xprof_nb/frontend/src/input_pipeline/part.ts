/** What stands above the table of the input pipeline: verdict, chart, shares with definitions, the host's input ops. */
import { adoptStyle, h } from '../dom';
import { MISSING, percent, time } from '../format';
import { record, text } from '../payload';
import type { AnswerFrame, Part } from '../shell/answer';
import type { Choice } from '../shell/link';
import { barsOfPipeline, mean } from '../steps/bars';
import { StepChart } from '../steps/chart';
import { swatch } from '../steps/parts';
import barTableStyle from '../style/bar_table.css?inline';
import { SideTable } from '../table/side';
import { HIGH_FRACTION, inputFraction, MODERATE_FRACTION, type Share, sharesOf, verdict } from './shares';
import style from './style.css?inline';

const HEIGHT_PX = 220;

export class PipelinePart implements Part {
  readonly node: HTMLElement;
  private readonly _chart: StepChart;
  private readonly _verdict = h('div', { class: 'jp-InputPipeline-verdict' });
  private readonly _shares = h('tbody', {});
  private readonly _inputOps = new SideTable(
    'Input and transfers on the host',
    ['op', { name: 'kind', width: 120 }, { name: 'occurrences', label: 'count' }, 'self_time_ps', 'time_ps'],
    'No input pipeline, and no transfer of the host, was recorded in this part of the profile.'
  );

  constructor(private readonly _frame: AnswerFrame) {
    this._chart = new StepChart(_frame.host, {
      title: 'Where the time of each step went',
      height: HEIGHT_PX,
      choose: (step) => _frame.choose(step === null ? {} : { step })
    });
    const heads = [
      ['part', ''],
      ['share of step time', 'jp-mod-number'],
      ['mean of a step', 'jp-mod-number'],
      ['a moment counts here when, first that applies:', '']
    ] as const;
    this.node = h(
      'div',
      { class: 'jp-InputPipeline' },
      this._verdict,
      this._chart.node,
      h(
        'table',
        { class: 'jp-XprofBarTable jp-InputPipeline-shares', attrs: { 'aria-label': 'Shares of step time' } },
        h(
          'thead',
          {},
          h('tr', {}, ...heads.map(([head, kind]) => h('th', { class: kind, attrs: { scope: 'col' } }, head)))
        ),
        this._shares
      ),
      this._inputOps.node
    );
  }

  start(): void {
    adoptStyle(this.node, barTableStyle);
    adoptStyle(this.node, style);
    this._chart.start();
  }

  update(): void {
    const { answer, grid } = this._frame;
    const { table, summary } = answer;
    const shares = sharesOf(table, grid.shown);
    const bars = barsOfPipeline(table, grid.shown);
    const time_ps = mean(bars.filter(({ leftOut }) => !leftOut).map((bar) => bar.time_ps));
    this._chart.show({
      bars,
      levels: Number.isNaN(time_ps) ? [] : [{ label: 'mean', time_ps, dash: 'dashed' }]
    });
    this._drawVerdict(inputFraction(shares));
    const definitions = record(summary.definitions);
    this._shares.replaceChildren(...shares.map((share) => row(share, text(definitions[share.part.id]))));
    this._inputOps.show(Array.isArray(summary.input_ops) ? summary.input_ops.map(record) : []);
  }

  follow({ step }: Choice): void {
    this._chart.mark(step);
  }

  dispose(): void {
    this._chart.dispose();
    this._inputOps.dispose();
  }

  private _drawVerdict(fraction: number): void {
    const fill = h('span', { class: 'jp-InputPipeline-fill' });
    fill.style.width = `${100 * Math.min(fraction || 0, 1)}%`;
    const marks = [MODERATE_FRACTION, HIGH_FRACTION].map((at) => {
      const mark = h('span', { class: 'jp-InputPipeline-mark' });
      mark.style.left = `${100 * at}%`;
      return mark;
    });
    this._verdict.replaceChildren(
      h('strong', {}, `${percent(fraction)} of step time waits for input: ${verdict(fraction)}`),
      h('span', { class: 'jp-InputPipeline-meter', attrs: { 'aria-hidden': true } }, fill, ...marks),
      h(
        'span',
        { class: 'jp-InputPipeline-faint' },
        `from ${percent(MODERATE_FRACTION)} on moderately, from ${percent(HIGH_FRACTION)} on highly input-bound`
      )
    );
  }
}

function row({ part, fraction, mean_ps }: Share, definition: string): HTMLElement {
  const bar = h('span', {
    class: 'jp-XprofBarTable-bar',
    data: { part: part.id },
    attrs: { 'aria-hidden': true }
  });
  bar.style.width = `${100 * (fraction || 0)}%`;
  const isNone = !(fraction > 0);
  return h(
    'tr',
    { class: isNone ? 'jp-mod-none' : '', data: { part: part.id } },
    h('th', { title: definition, attrs: { scope: 'row' } }, swatch(part), part.label),
    h('td', { class: 'jp-mod-number' }, bar, h('span', {}, percent(fraction))),
    h('td', { class: 'jp-mod-number' }, Number.isFinite(mean_ps) ? time(mean_ps) : MISSING),
    h('td', { class: 'jp-InputPipeline-faint' }, definition)
  );
}
