/** The buffers live at the peak as bars, padding on top: in program order, by size, by padding. */
import type { Model, Plot } from '../chart/bokeh';
import { ChartBox } from '../chart/box';
import type { Kit } from '../chart/kit';
import { h } from '../dom';
import { bytes, count } from '../format';
import type { AnswerFrame } from '../shell/answer';
import { choice, choiceGroup, press } from '../shell/choices';
import type { Choice } from '../shell/link';
import { linesOfBuffer } from './explain';
import { type Buffer, liveAtPeak } from './rows';

const HEIGHT_PX = 260;
export const MOST_BARS = 400;
export const ORDERS = ['program order', 'size', 'padding'] as const;
export type Order = (typeof ORDERS)[number];

const KEYS: Record<Order, (buffer: Buffer) => number> = {
  'program order': ({ start }) => start,
  size: (buffer) => -buffer.bytes,
  padding: ({ padding_bytes }) => -(padding_bytes || 0)
};

/** Buffers in an order, as many as a chart can show: of more, the largest. */
export function ordered(buffers: readonly Buffer[], order: Order): Buffer[] {
  const largest = [...buffers].sort((a, b) => b.bytes - a.bytes).slice(0, MOST_BARS);
  const key = KEYS[order];
  return largest.sort((a, b) => key(a) - key(b) || b.bytes - a.bytes);
}

/** What a bar is made of: the values without padding, and where its padding ends. */
export function barOf({ bytes: whole, padding_bytes }: Buffer): {
  readonly unpadded: number;
  readonly padded: number;
} {
  return { unpadded: whole - (padding_bytes || 0), padded: whole };
}

export class PeakBars {
  readonly node: HTMLElement;
  private readonly _chart: ChartBox;
  private readonly _orders: readonly HTMLButtonElement[];
  private readonly _said = h('span', { class: 'jp-XprofBuffers-said' });
  private _order: Order = 'program order';
  private _buffers: readonly Buffer[] = [];
  private _peak_bytes = Number.NaN;
  private _chosen = '';

  constructor(private readonly _frame: AnswerFrame) {
    this._chart = new ChartBox(_frame.host, {
      title: 'Buffers live at the peak',
      description: 'One bar a buffer, its values below and its padding above.',
      height: HEIGHT_PX,
      draw: (kit) => this._draw(kit)
    });
    this._orders = ORDERS.map((order) =>
      choice(order, order, () => {
        this.order = order;
      })
    );
    this.node = h(
      'div',
      { class: 'jp-XprofBuffers-chart' },
      this._chart.node,
      h('div', { class: 'jp-XprofAnswer-bar' }, choiceGroup('by', this._orders), this._said)
    );
  }

  /** The bars on screen, left to right. */
  get bars(): readonly Buffer[] {
    return this._buffers;
  }

  get order(): Order {
    return this._order;
  }

  set order(order: Order) {
    this._order = order;
    this._arrange();
  }

  start(): void {
    this._chart.start();
  }

  update(peak_bytes: number): void {
    this._peak_bytes = peak_bytes;
    this._arrange();
  }

  follow({ op }: Choice): void {
    if ((op ?? '') !== this._chosen) {
      this._chosen = op ?? '';
      void this._chart.redraw();
    }
  }

  dispose(): void {
    this._chart.dispose();
  }

  private _arrange(): void {
    const live = liveAtPeak(this._frame.answer.table, this._frame.grid.shown);
    this._buffers = ordered(live, this._order);
    press(this._orders, this._order);
    const most = this._buffers.length < live.length ? `the largest ${count(this._buffers.length)} of ` : '';
    this._said.textContent = `${most}${count(live.length)} buffers; hatched is padding`;
    void this._chart.redraw();
  }

  private _draw(kit: Kit): Plot {
    const buffers = this._buffers;
    const bars = buffers.map(barOf);
    const most = Math.max(1, ...bars.map(({ padded }) => padded));
    const plot = kit.plot({
      x: {
        scale: 'linear',
        range: [-0.6, Math.max(buffers.length, 1) - 0.4],
        label: `buffers, by ${this._order}`,
        write: (place) => (Number.isInteger(place) && place >= 0 ? count(place + 1) : '')
      },
      y: { scale: 'linear', range: [0, most * 1.05], label: 'size', write: bytes, base: 1024 },
      height: HEIGHT_PX
    });
    const source = kit.source({
      place: buffers.map((_, place) => place),
      unpadded: bars.map(({ unpadded }) => unpadded),
      padded: bars.map(({ padded }) => padded),
      colour: buffers.map(({ workKind }) => kit.kind(workKind ?? 'control')),
      outline: buffers.map(({ op }) =>
        op !== null && op === this._chosen ? kit.colours.select : 'transparent'
      )
    });
    const bar = (bottom: object, top: object, style: object): Model =>
      plot.add_glyph(
        kit.model('VBar', {
          x: { field: 'place' },
          width: 0.8,
          bottom,
          top,
          fill_color: { field: 'colour' },
          line_color: { field: 'outline' },
          line_width: 2,
          ...style
        }),
        source
      );
    const values = bar({ value: 0 }, { field: 'unpadded' }, {});
    const hatched = { fill_alpha: 0.3, hatch_pattern: '/', hatch_color: kit.colours.faint, hatch_alpha: 0.6 };
    const padding = bar({ field: 'unpadded' }, { field: 'padded' }, hatched);
    kit.hover(plot, [values, padding], (row) => {
      const buffer = buffers[row];
      return buffer === undefined ? [] : linesOfBuffer(buffer, this._peak_bytes);
    });
    kit.clicks(plot, [values, padding], source, (row) => {
      const op = row === null ? null : (buffers[row]?.op ?? null);
      this._frame.choose(
        op === null ? {} : { op, program_id: String(this._frame.answer.summary.program_id) }
      );
    });
    return plot;
  }
}
