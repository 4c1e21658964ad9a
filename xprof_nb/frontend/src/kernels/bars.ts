/** The most expensive kernels as bars, and what kinds of work all of them are. */

import { stringAt } from '../columns';
import { h } from '../dom';
import { count, exact, percent, time } from '../format';
import { kindOf } from '../kinds';
import type { AnswerFrame, Part } from '../shell/answer';
import { isSame, opOf } from '../shell/choice';
import { glyph } from '../shell/legend';
import type { Choice } from '../shell/link';
import { type KernelSum, type Sums, statedSums, sumsOf } from './sums';

const SHOWN = 10;

export class KernelBars implements Part {
  readonly node = h('figure', { class: 'jp-XprofKernels' });
  private _choice: Choice = {};

  constructor(private readonly _frame: AnswerFrame) {}

  update(): void {
    const { answer, grid } = this._frame;
    const isAll = grid.shown.length === answer.table.rows;
    const sums = isAll ? statedSums(answer.summary) : sumsOf(answer.table, grid.shown);
    const where = isAll || this._frame.isLive ? '' : ', of those in this snapshot';
    const longest = sums.kernels[0]?.time_ps ?? 1;
    this.node.replaceChildren(
      h('figcaption', { class: 'jp-XprofKernels-title' }, `${title(sums)}${where}`),
      kindsLine(sums),
      h(
        'ol',
        { class: 'jp-XprofKernels-bars' },
        ...sums.kernels.slice(0, SHOWN).map((sum) => h('li', {}, this._bar(sum, longest, sums.time_ps)))
      )
    );
  }

  follow(choice: Choice): void {
    this._choice = choice;
    this.update();
  }

  private _bar(sum: KernelSum, longest: number, total: number): HTMLElement {
    const choice = this._choiceOf(sum.kernel);
    const isChosen = isSame(choice, this._choice);
    const bar = h('span', { class: 'jp-XprofKernels-bar', data: { kind: sum.kind } });
    bar.style.width = `${(sum.time_ps / longest) * 100}%`;
    return h(
      'button',
      {
        class: `jp-XprofKernels-row${isChosen ? ' jp-mod-selected' : ''}`,
        title: [
          sum.kernel,
          `${exact(sum.time_ps, 'ps')} in ${count(sum.launches)} launches`,
          `${time(sum.time_ps / sum.launches)} each`,
          kindOf(sum.kind).label
        ].join('\n'),
        attrs: { type: 'button', 'aria-pressed': isChosen },
        on: { click: () => this._frame.choose(isChosen ? {} : choice) }
      },
      glyph(kindOf(sum.kind)),
      h('span', { class: 'jp-XprofKernels-name' }, sum.kernel),
      h('span', { class: 'jp-XprofKernels-track', attrs: { 'aria-hidden': true } }, bar),
      h('span', { class: 'jp-XprofKernels-time' }, time(sum.time_ps)),
      h('span', { class: 'jp-XprofKernels-share' }, percent(sum.time_ps / total))
    );
  }

  /** The op of the row of a kernel that took most. */
  private _choiceOf(kernel: string): Choice {
    const { table } = this._frame.answer;
    const row = this._frame.grid.shown.find((each) => stringAt(table, 'kernel', each) === kernel);
    return row === undefined ? {} : opOf(table, row);
  }
}

function title({ kernels, kernel_count, time_ps, tensor_core_time_ps }: Sums): string {
  const shown = Math.min(SHOWN, kernels.length);
  const onTensorCores =
    tensor_core_time_ps > 0 ? `, ${percent(tensor_core_time_ps / time_ps)} of it on tensor cores` : '';
  return `Most expensive ${shown} of ${count(kernel_count)} kernels and copies: ${time(time_ps)} altogether${onTensorCores}`;
}

/** One bar of all the time, divided by kind of work, with what each part is. */
function kindsLine({ kinds, time_ps }: Sums): HTMLElement {
  const parts = kinds.map(({ kind, time_ps: spent }) => {
    const part = h('span', {
      class: 'jp-XprofKernels-bar',
      title: `${kindOf(kind).label}: ${exact(spent, 'ps')}`,
      data: { kind }
    });
    part.style.width = `${(spent / time_ps) * 100}%`;
    return part;
  });
  const words = kinds.map(({ kind, time_ps: spent }) =>
    h('span', {}, glyph(kindOf(kind)), `${kindOf(kind).label} ${percent(spent / time_ps)}`)
  );
  return h(
    'div',
    {},
    h('div', { class: 'jp-XprofKernels-kinds', attrs: { 'aria-hidden': true } }, ...parts),
    h('div', { class: 'jp-XprofLegend' }, ...words)
  );
}
