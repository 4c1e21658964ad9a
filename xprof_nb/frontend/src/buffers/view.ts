/** Buffers: what a program holds in memory, when, at its peak, and by which part of the model. */
import { adoptStyle, h } from '../dom';
import type { Answer, Summary } from '../host';
import { type AnswerFrame, answerView, type Part } from '../shell/answer';
import type { Choice } from '../shell/link';
import { ORDERS, PeakBars } from './bars';
import { LiveCurve } from './curve';
import { meter } from './meter';
import { Pickers } from './pickers';
import { type Need, needOf } from './rows';
import style from './style.css?inline';
import { ScopeMap } from './treemap';

export const mount = answerView({
  label: 'buffers',
  columns: [
    { name: 'name', width: 220 },
    'bytes',
    'padding_bytes',
    { name: 'padding_fraction', isMinor: true, label: 'padding share' },
    { name: 'kind', width: 96 },
    { name: 'live_at_peak', isMinor: true, label: 'at the peak', title: 'Live when the program holds most' },
    { name: 'shape', width: 200 },
    { name: 'dtype', width: 64 },
    { name: 'opcode', width: 110 },
    { name: 'start', title: 'The first op of the program at which it holds something, from 0' },
    { name: 'end', title: 'The last op of the program at which it holds something, from 0' },
    'unpadded_bytes',
    'scope',
    'framework_op',
    'source',
    'shared_with'
  ],
  parts: (frame) => [new BuffersPicture(frame)]
});

/** Everything above the table. */
class BuffersPicture implements Part {
  readonly node: HTMLElement;
  private readonly _pickers: Pickers;
  private readonly _meter = h('div', {});
  private readonly _curve: LiveCurve;
  private readonly _bars: PeakBars;
  private readonly _map: ScopeMap;
  private readonly _charts: HTMLElement;
  private _answer: Answer | null = null;
  private _need: Need = needOf({});

  constructor(private readonly _frame: AnswerFrame) {
    this._pickers = new Pickers(_frame);
    this._curve = new LiveCurve(_frame);
    this._bars = new PeakBars(_frame);
    this._map = new ScopeMap(_frame);
    this._charts = h(
      'div',
      {},
      this._meter,
      h('div', { class: 'jp-XprofBuffers-charts' }, this._curve.node, this._bars.node),
      this._map.node
    );
    this.node = h('div', { class: 'jp-XprofBuffers' }, this._pickers.node, this._charts);
  }

  start(): void {
    adoptStyle(this.node, style);
    this._curve.start();
    this._bars.start();
  }

  update(): void {
    const { answer } = this._frame;
    if (answer !== this._answer) {
      this._answer = answer;
      this._need = needOf(answer.summary);
      this._pickers.update(this._need);
      this._meter.replaceChildren(meter(this._need));
    }
    // xprof's own numbers are a table alone.
    this._charts.hidden = this._need.curve.length === 0;
    if (!this._charts.hidden) {
      this._curve.update(this._need);
      this._bars.update(this._need.peak_bytes);
      this._map.update(this._need);
    }
  }

  get kept(): Summary {
    return { bars_by: this._bars.order };
  }

  adopt({ bars_by }: Summary): void {
    this._bars.order = ORDERS.find((order) => order === bars_by) ?? this._bars.order;
  }

  follow(choice: Choice): void {
    const isHere = (choice.program_id ?? this._need.program_id) === this._need.program_id;
    const shown = isHere ? choice : {};
    this._curve.follow(shown);
    this._bars.follow(shown);
    this._map.follow(shown);
  }

  dispose(): void {
    this._curve.dispose();
    this._bars.dispose();
    this._map.dispose();
  }
}
