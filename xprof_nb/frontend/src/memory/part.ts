/** Memory over time: which allocator, the chart, the moment that is looked at, and who held the memory then. */
import type { Model } from '../chart/bokeh';
import { ChartBox } from '../chart/box';
import { button, h } from '../dom';
import { bytes, count, time } from '../format';
import type { Summary } from '../host';
import { number } from '../payload';
import type { AnswerFrame, Part } from '../shell/answer';
import { drawMemory, HEIGHT_PX, moveMoment } from './chart';
import { type Allocator, allocatorsOf, type Curve, curveOf, isNear, labelOf, spanOf } from './curve';
import { Holders } from './holders';

const SLIDER_STEPS = 1000;

export class MemoryPart implements Part {
  readonly node: HTMLElement;
  readonly holders: Holders;
  private readonly _chart: ChartBox;
  private readonly _picker = h('select', {
    class: 'jp-XprofChoice',
    attrs: { 'aria-label': 'Device' },
    on: { change: () => this._pick(Number(this._picker.value)) }
  });
  private readonly _toCapacity = button('up to capacity', {
    class: 'jp-XprofChoice',
    click: () => {
      this._isToCapacity = !this._isToCapacity;
      this._drawAgain();
    }
  });
  private readonly _slider = h('input', {
    class: 'jp-Memory-slider',
    attrs: { type: 'range', min: 0, max: SLIDER_STEPS, step: 1, 'aria-label': 'Moment' },
    on: { change: () => this._look(this._slidTo()), input: () => this._tellSlider() }
  });
  private readonly _range = h('div', { class: 'jp-Memory-range', attrs: { hidden: '' } });
  private readonly _thinned = h('div', { class: 'jp-Memory-thinned' });
  private readonly _legend = h('div', {
    class: 'jp-XprofLegend',
    attrs: { role: 'list', 'aria-label': 'What the areas mean' }
  });
  private _allocators: readonly Allocator[] = [];
  private _picked = 0;
  private _curve: Curve | null = null;
  private _span: readonly [number, number] = [0, 0];
  private _momentPs: number | null = null;
  private _dragged: readonly [number, number] | null = null;
  private _isToCapacity = false;
  private _table: unknown = null;
  private _isInPage = false;
  private _isDrawn = false;
  private _mark: Model | null = null;

  constructor(private readonly _frame: AnswerFrame) {
    this.holders = new Holders(_frame);
    this._chart = new ChartBox(_frame.host, {
      title: 'Memory over time',
      description: 'Heap, stack and free memory stacked, with the capacity as a line and the peak marked.',
      height: HEIGHT_PX,
      dragging: 'chooses a window',
      draw: (kit) => {
        const { plot, moment } = drawMemory(kit, {
          table: _frame.answer.table,
          allocator: this._allocator as Allocator,
          curve: this._curve as Curve,
          span: this._span,
          momentPs: this._momentPs,
          isToCapacity: this._isToCapacity,
          clicked: (timePs) => this._look(timePs),
          dragged: (start, end) => this._drag(start, end)
        });
        this._mark = moment;
        return plot;
      }
    });
    this.node = h(
      'div',
      { class: 'jp-Memory' },
      h('div', { class: 'jp-Memory-bar' }, this._picker, this._toCapacity, this._legend),
      this._chart.node,
      h(
        'div',
        { class: 'jp-Memory-bar' },
        h('span', {}, 'moment'),
        this._slider,
        button('at the peak', { class: 'jp-XprofButton', click: () => this._toPeak() }),
        button('from here', {
          class: 'jp-XprofButton',
          title: 'The window begins at this moment',
          click: () => this._drag(this._slidTo(), this._dragged?.[1] ?? this._lastPs)
        }),
        button('until here', {
          class: 'jp-XprofButton',
          title: 'The window ends at this moment',
          click: () => this._drag(this._dragged?.[0] ?? this._originPs, this._slidTo())
        })
      ),
      this._range,
      this._thinned,
      this.holders.node
    );
  }

  start(): void {
    this._isInPage = true;
    this._drawAgain();
  }

  /** The rows that are shown do not matter: a curve without some of its events would be wrong. */
  update(): void {
    const { table, summary } = this._frame.answer;
    if (table === this._table) {
      return;
    }
    this._table = table;
    const before = this._allocator;
    this._allocators = allocatorsOf(summary);
    const same = this._allocators.findIndex(({ host, device, name }) =>
      [host, device, name].every(
        (part, index) => part === [before?.host, before?.device, before?.name][index]
      )
    );
    this._span = spanOf(table);
    const hosts = new Set(this._allocators.map(({ host }) => host)).size;
    this._picker.replaceChildren(
      ...this._allocators.map((allocator, index) =>
        h(
          'option',
          { attrs: { value: index } },
          `${labelOf(allocator, hosts)}: peak ${bytes(allocator.peakBytes)}`
        )
      )
    );
    this._thinned.textContent = thinned(table.rows, this._frame.host.snapshot.rowsTotal ?? table.rows);
    this._pick(same >= 0 ? same : fullest(this._allocators));
  }

  get kept(): Summary {
    return { allocator: this._picked, moment_ps: this._momentPs, is_to_capacity: this._isToCapacity };
  }

  adopt({ allocator, moment_ps, is_to_capacity }: Summary): void {
    if (this._allocators[number(allocator)] !== undefined) {
      this._pick(number(allocator));
    }
    this._isToCapacity = is_to_capacity === true;
    if (typeof moment_ps === 'number') {
      this._look(moment_ps);
    }
    this._drawAgain();
  }

  dispose(): void {
    this._chart.dispose();
    this.holders.dispose();
  }

  private get _allocator(): Allocator | undefined {
    return this._allocators[this._picked];
  }

  private get _originPs(): number {
    return this._span[0];
  }

  private get _lastPs(): number {
    return this._span[1];
  }

  private _pick(index: number): void {
    this._picked = index;
    const allocator = this._allocator;
    if (allocator === undefined) {
      return;
    }
    this._picker.value = String(index);
    this._curve = curveOf(this._frame.answer.table, allocator);
    this._isToCapacity = isNear(allocator);
    this._legend.replaceChildren(...legendOf(this._curve));
    this._toCapacity.hidden = Number.isNaN(allocator.capacityBytes);
    this._toPeak();
    this._drawAgain();
  }

  private _toPeak(): void {
    const allocator = this._allocator;
    if (allocator !== undefined) {
      this._moveTo(null);
      this.holders.atPeak(allocator);
    }
  }

  private _look(timePs: number): void {
    const allocator = this._allocator;
    if (allocator !== undefined) {
      this._moveTo(timePs);
      void this.holders.at(allocator, timePs);
    }
  }

  private _moveTo(timePs: number | null): void {
    this._momentPs = timePs;
    const shown = timePs ?? this._allocator?.peakPs ?? this._originPs;
    const share = (shown - this._originPs) / Math.max(this._lastPs - this._originPs, 1);
    this._slider.value = String(Math.round(share * SLIDER_STEPS));
    this._tellSlider();
    if (this._mark !== null) {
      moveMoment(this._mark, timePs, this._originPs);
    }
  }

  private _slidTo(): number {
    const share = Number(this._slider.value) / SLIDER_STEPS;
    return this._originPs + share * (this._lastPs - this._originPs);
  }

  private _tellSlider(): void {
    this._slider.setAttribute('aria-valuetext', `${time(this._slidTo())} into the capture`);
  }

  private _drag(start: number, end: number): void {
    const window_ps = [Math.floor(Math.min(start, end)), Math.ceil(Math.max(start, end)) + 1] as const;
    this._dragged = window_ps;
    this._range.hidden = false;
    this._range.replaceChildren(
      h('span', {}, `${time(window_ps[1] - window_ps[0])} from ${time(window_ps[0])}`),
      button('Narrow all views to this window', {
        class: 'jp-XprofButton',
        click: () => {
          this._forget();
          this._frame.narrow({ ...this._frame.link.filters, window_ps });
        }
      }),
      button('Forget it', { class: 'jp-XprofButton', click: () => this._forget() })
    );
  }

  private _forget(): void {
    this._dragged = null;
    this._range.hidden = true;
  }

  private _drawAgain(): void {
    this._toCapacity.setAttribute('aria-pressed', String(this._isToCapacity));
    if (!this._isInPage || this._allocator === undefined) {
      return;
    }
    if (this._isDrawn) {
      void this._chart.redraw();
    } else {
      this._isDrawn = true;
      this._chart.start();
    }
  }
}

/** `Drawn from 453 of 906 events …`: what a saved curve leaves out; empty when it is whole. */
export function thinned(rows: number, total: number): string {
  return rows < total
    ? `Drawn from ${count(rows)} of ${count(total)} events: of each stretch the highest and the lowest moment. The peak is exact.`
    : '';
}

function fullest(allocators: readonly Allocator[]): number {
  const peaks = allocators.map(({ peakBytes }) => peakBytes);
  return Math.max(0, peaks.indexOf(Math.max(...peaks)));
}

/** What areas and lines of a curve mean, as far as it has them. */
function legendOf({ stack, free, fragmentation }: Curve): HTMLElement[] {
  const isDrawn = (values: readonly number[]) => values.some((value) => value > 0);
  const items: readonly (readonly [string, string, boolean])[] = [
    ['heap', 'What is allocated, or held by live arrays', true],
    ['stack', 'What running programs have reserved for their temporaries', isDrawn(stack)],
    ['free', 'What is left of the capacity', isDrawn(free)],
    [
      'fragmentation',
      'The part of what is free that is not in one piece: the scale on the right',
      isDrawn(fragmentation)
    ]
  ];
  return items
    .filter(([, , isThere]) => isThere)
    .map(([name, what]) =>
      h(
        'span',
        { title: what, attrs: { role: 'listitem' } },
        h('span', { class: `jp-Memory-swatch jp-mod-${name}` }),
        name
      )
    );
}
