/** The one screen of the overview: tiles, steps, top ops, and who the time of the steps belongs to. */
import { adoptStyle, button, h } from '../dom';
import { percent, time } from '../format';
import { record } from '../payload';
import { Also } from '../shell/also';
import type { AnswerFrame, Part } from '../shell/answer';
import { isSame } from '../shell/choice';
import { glyph } from '../shell/legend';
import type { Choice } from '../shell/link';
import { attachTooltip } from '../shell/tooltip';
import { barsOfPipeline } from '../steps/bars';
import { StepChart } from '../steps/chart';
import { swatch } from '../steps/parts';
import { type Side, sidesOf } from './split';
import style from './style.css?inline';
import { type Tile, tilesOf } from './tiles';
import { type TopOp, topOpsOf } from './top_ops';

const CHART_HEIGHT_PX = 200;

export class Screen implements Part {
  readonly node: HTMLElement;
  private readonly _chart: StepChart;
  private readonly _also: Also;
  private readonly _tiles = h('div', { class: 'jp-Overview-tiles', attrs: { role: 'list' } });
  private readonly _noSteps = h('p', { class: 'jp-Overview-why', attrs: { hidden: '' } });
  private readonly _ops = h('ol', { class: 'jp-Overview-ops' });
  private readonly _split = h('div', { class: 'jp-Overview-split' });
  private _lines = new Map<string, readonly string[]>();
  private _topOps: readonly TopOp[] = [];
  private _hideTooltip = () => {};

  constructor(private readonly _frame: AnswerFrame) {
    this._also = new Also(_frame, ['input_pipeline'], () => this._draw());
    this._chart = new StepChart(_frame.host, {
      title: 'Where the time of each step went',
      height: CHART_HEIGHT_PX,
      choose: (step) => _frame.choose(step === null ? {} : { step })
    });
    this.node = h(
      'div',
      { class: 'jp-Overview' },
      this._tiles,
      h(
        'div',
        { class: 'jp-Overview-columns' },
        h('div', { class: 'jp-Overview-steps' }, this._chart.node, this._noSteps, this._split),
        h(
          'section',
          { attrs: { 'aria-label': 'Top ops' } },
          this._heading('Ops with the most time', 'op_profile', 'op profile'),
          this._ops
        )
      )
    );
  }

  start(): void {
    adoptStyle(this.node, style);
    this._chart.start();
    this._hideTooltip = attachTooltip(this.node, (target) => {
      const anchor = target.closest<HTMLElement>('[data-explained]');
      return anchor === null
        ? null
        : { anchor, lines: this._lines.get(anchor.dataset.explained ?? '') ?? [] };
    });
  }

  update(): void {
    this._also.update();
    this._draw();
  }

  follow(choice: Choice): void {
    this._chart.mark(choice.step);
    this._markOps(choice);
  }

  dispose(): void {
    this._hideTooltip();
    this._also.dispose();
    this._chart.dispose();
  }

  private _draw(): void {
    const { answer } = this._frame;
    const pipeline = this._also.answer('input_pipeline');
    const failure = this._also.failure('input_pipeline');
    const tiles = tilesOf(answer, { answer: pipeline, failure });
    this._topOps = topOpsOf(answer.summary);
    const sides = pipeline === null ? [] : sidesOf(pipeline.summary);
    this._lines = new Map([
      ...tiles.map((tile) => [`tile ${tile.id}`, tile.lines.filter(Boolean)] as const),
      ...this._topOps.map((op, at) => [`op ${at}`, op.lines] as const),
      ...sides
        .flatMap(({ shares }) => shares)
        .map((share) => [`part ${share.part.id}`, this._define(share)] as const)
    ]);
    this._tiles.replaceChildren(...tiles.map((tile) => this._tile(tile)));
    this._ops.replaceChildren(...this._topOps.map((op, at) => this._op(op, at)));
    this._split.replaceChildren(...(sides.length === 0 ? [] : this._sides(sides)));
    this._drawSteps();
    this._markOps(this._frame.link.choice);
  }

  private _drawSteps(): void {
    const pipeline = this._also.answer('input_pipeline');
    const table = pipeline?.table;
    const bars = table === undefined ? [] : barsOfPipeline(table, [...Array(table.rows).keys()]);
    const why =
      pipeline === null
        ? this._also.failure('input_pipeline')
        : (pipeline.notes.at(-1) ?? 'No step was found.');
    const isKnownEmpty = bars.length === 0 && (pipeline !== null || why !== '');
    this._chart.node.hidden = isKnownEmpty;
    this._noSteps.hidden = !isKnownEmpty;
    this._noSteps.textContent = isKnownEmpty ? `No steps to draw. ${why}` : '';
    if (bars.length > 0) {
      const { step_time_mean_ps } = this._frame.answer.summary;
      const mean = typeof step_time_mean_ps === 'number' ? step_time_mean_ps : Number.NaN;
      this._chart.show({
        bars,
        levels: Number.isNaN(mean) ? [] : [{ label: 'mean', time_ps: mean, dash: 'dashed' }]
      });
    }
  }

  private _define({ part, fraction }: Side['shares'][number]): string[] {
    const { definitions, mean_ps } = this._also.answer('input_pipeline')?.summary ?? {};
    const mean = record(mean_ps)[part.id];
    return [
      `${part.label}: ${percent(fraction)} of the time of the steps`,
      typeof mean === 'number' ? `${time(mean)} a step on average` : '',
      String(record(definitions)[part.id] ?? '')
    ].filter(Boolean);
  }

  private _tile(tile: Tile): HTMLElement {
    const opener = button('', {
      class: 'jp-Overview-tile',
      attrs: {
        'aria-label': `${tile.label}: ${[tile.value, tile.spread, tile.of].filter(Boolean).join(' ')}. Opens its evidence: ${named(tile.view)}`
      },
      data: { explained: `tile ${tile.id}`, tile: tile.id },
      click: () => this._open(tile.view)
    });
    opener.append(
      h('span', { class: 'jp-Overview-label' }, tile.label),
      ' ',
      h(
        'span',
        { class: 'jp-Overview-value' },
        `${tile.value}${tile.spread && ' '}`,
        h('small', {}, tile.spread)
      ),
      ' ',
      h('span', { class: 'jp-Overview-of' }, tile.of)
    );
    if (!Number.isNaN(tile.fraction)) {
      const bar = h('span', { class: 'jp-Overview-fill' });
      bar.style.width = `${100 * Math.min(tile.fraction, 1)}%`;
      opener.append(h('span', { class: 'jp-Overview-track', attrs: { 'aria-hidden': true } }, bar));
    }
    return h('div', { attrs: { role: 'listitem' } }, opener);
  }

  private _op(op: TopOp, at: number): HTMLElement {
    const bar = h('span', {
      class: 'jp-Overview-opBar',
      data: { kind: op.kind.id },
      attrs: { 'aria-hidden': true }
    });
    bar.style.width = `${100 * Math.min(op.fraction || 0, 1)}%`;
    const row = button('', {
      class: 'jp-Overview-op',
      data: { explained: `op ${at}`, op: op.name },
      attrs: { 'aria-pressed': false },
      click: () => this._frame.choose(op.choice)
    });
    row.append(
      bar,
      h('span', { class: 'jp-Overview-opName' }, glyph(op.kind), op.name),
      h('span', { class: 'jp-Overview-opBound' }, op.boundBy),
      h('span', { class: 'jp-Overview-opShare' }, percent(op.fraction)),
      h('span', { class: 'jp-Overview-opTime' }, time(op.time_ps))
    );
    return h('li', {}, row);
  }

  private _markOps(choice: Choice): void {
    const rows = [...this._ops.querySelectorAll('button')];
    for (const [at, row] of rows.entries()) {
      row.setAttribute('aria-pressed', String(isSame(this._topOps[at]?.choice ?? {}, choice)));
    }
  }

  private _sides(sides: readonly Side[]): HTMLElement[] {
    const bar = h('div', { class: 'jp-Overview-bar', attrs: { 'aria-hidden': true } });
    for (const { part, fraction } of sides.flatMap(({ shares }) => shares)) {
      const piece = swatch(part);
      piece.dataset.explained = `part ${part.id}`;
      piece.style.width = `${100 * fraction}%`;
      bar.append(piece);
    }
    return [
      this._heading('Device and host, in the steps', 'input_pipeline', 'input pipeline'),
      bar,
      h(
        'ul',
        { class: 'jp-Overview-sides' },
        ...sides.map(({ label, fraction, shares }) =>
          h(
            'li',
            {},
            h('strong', {}, `${label} ${percent(fraction)}`),
            ...shares.map(({ part, fraction: share }) =>
              h(
                'span',
                { class: 'jp-Overview-share', data: { explained: `part ${part.id}`, part: part.id } },
                swatch(part),
                `${part.label} ${percent(share)}`
              )
            )
          )
        )
      )
    ];
  }

  private _heading(title: string, view: string, label: string): HTMLElement {
    return h(
      'div',
      { class: 'jp-Overview-heading' },
      h('strong', {}, title),
      button(`${label} →`, {
        class: 'jp-XprofLink',
        attrs: { 'aria-label': `Open the ${label}` },
        click: () => this._open(view)
      })
    );
  }

  /** Show another view of the run where there are tabs of them; alone, say which question answers. */
  private _open(view: string): void {
    this._frame.choose(this._frame.link.choice, view);
    if (this.node.closest('.jp-XprofExplore') === null) {
      const path = JSON.stringify(this._frame.host.snapshot.run.path);
      this._frame.say(
        `The evidence is in the ${named(view)}: xprof_nb.open(${path}).${view}(), or .explore() for all views as tabs.`
      );
    }
  }
}

function named(view: string): string {
  return view.replaceAll('_', ' ');
}
