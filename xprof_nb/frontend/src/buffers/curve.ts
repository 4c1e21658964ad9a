/** Live bytes over program order: steps, the peak, the capacity when it is near, and how long what is chosen is held. */
import type { Plot } from '../chart/bokeh';
import { ChartBox } from '../chart/box';
import type { Kit } from '../chart/kit';
import { bytes, count, exact, percent } from '../format';
import type { AnswerFrame } from '../shell/answer';
import type { Choice } from '../shell/link';
import { bufferAt, type CurvePoint, type Need } from './rows';

const HEIGHT_PX = 260;
/** A capacity farther up would leave nothing of the curve to see: the bar above the charts has it. */
const NEAR_CAPACITY = 3;

/** One stretch of the program with the same live bytes: positions from `left` up to, not with, `right`. */
export interface Stretch {
  readonly left: number;
  readonly right: number;
  readonly op: string;
  readonly live_bytes: number;
}

/** The stretches of a curve. */
export function stretches(curve: readonly CurvePoint[], positions: number): Stretch[] {
  return curve.map(({ position, op, live_bytes }, number) => ({
    left: position,
    right: curve[number + 1]?.position ?? Math.max(positions, position + 1),
    op,
    live_bytes
  }));
}

export class LiveCurve {
  readonly node: HTMLElement;
  private readonly _chart: ChartBox;
  private _need: Need | null = null;
  private _choice: Choice = {};

  constructor(private readonly _frame: AnswerFrame) {
    this._chart = new ChartBox(_frame.host, {
      title: 'Live bytes over program order',
      description: 'Steps from op to op, with the peak as a dashed line.',
      height: HEIGHT_PX,
      draw: (kit) => this._draw(kit)
    });
    this.node = this._chart.node;
  }

  start(): void {
    this._chart.start();
  }

  update(need: Need): void {
    if (need !== this._need) {
      this._need = need;
      void this._chart.redraw();
    }
  }

  follow(choice: Choice): void {
    if (choice.op !== this._choice.op) {
      this._choice = choice;
      void this._chart.redraw();
    }
  }

  dispose(): void {
    this._chart.dispose();
  }

  private _draw(kit: Kit): Plot {
    const {
      curve = [],
      position_count = 1,
      peak_bytes = 0,
      capacity_bytes = Number.NaN,
      peak_op = ''
    } = this._need ?? {};
    const parts = stretches(curve, position_count);
    const end = Math.max(1, position_count, ...parts.map(({ right }) => right));
    const isNear = capacity_bytes <= NEAR_CAPACITY * peak_bytes;
    const plot = kit.plot({
      x: {
        scale: 'linear',
        range: [0, end],
        label: 'op in program order',
        write: (position) => (Number.isInteger(position) ? count(position + 1) : '')
      },
      y: {
        scale: 'linear',
        range: [0, 1.12 * Math.max(peak_bytes, isNear ? capacity_bytes : 0, 1)],
        label: 'live',
        write: bytes,
        base: 1024
      },
      height: HEIGHT_PX
    });
    for (const [left, right] of this._held()) {
      plot.add_layout(
        kit.model('BoxAnnotation', {
          left,
          right: right + 1,
          fill_color: kit.colours.select,
          fill_alpha: 0.15,
          line_color: null
        }),
        'center'
      );
    }
    const source = kit.source({
      left: parts.map(({ left }) => left),
      right: parts.map(({ right }) => right),
      live: parts.map(({ live_bytes }) => live_bytes)
    });
    const area = plot.add_glyph(
      kit.model('Quad', {
        left: { field: 'left' },
        right: { field: 'right' },
        bottom: 0,
        top: { field: 'live' },
        fill_color: kit.kind('elementwise'),
        fill_alpha: 0.35,
        line_color: null
      }),
      source
    );
    plot.add_glyph(
      kit.model('Step', {
        x: { field: 'x' },
        y: { field: 'y' },
        mode: 'after',
        line_color: kit.kind('elementwise'),
        line_width: 2
      }),
      kit.source({
        x: [...parts.map(({ left }) => left), ...parts.slice(-1).map(({ right }) => right)],
        y: [
          ...parts.map(({ live_bytes }) => live_bytes),
          ...parts.slice(-1).map(({ live_bytes }) => live_bytes)
        ]
      })
    );
    const line = (location: number, words: string, color: string) => {
      const label = {
        x: 8,
        x_units: 'screen',
        y: location,
        text: words,
        text_color: color,
        text_font_size: '12px'
      };
      plot.add_layout(
        kit.model('Span', {
          location,
          dimension: 'width',
          line_color: color,
          line_dash: [6, 4],
          line_width: 1.5
        }),
        'center'
      );
      plot.add_layout(kit.model('Label', { ...label, y_offset: 3 }), 'center');
    };
    if (peak_bytes > 0) {
      line(peak_bytes, `peak ${bytes(peak_bytes)}${peak_op === '' ? '' : ` at ${peak_op}`}`, kit.colours.ink);
    }
    if (isNear) {
      line(capacity_bytes, `capacity ${bytes(capacity_bytes)}`, kit.colours.warn);
    }
    kit.hover(plot, [area], (row) => explainStretch(parts[row], peak_bytes, position_count));
    kit.clicks(plot, [area], source, (row) => {
      const op = row === null ? undefined : parts[row]?.op;
      this._frame.choose(op ? { op, program_id: this._need?.program_id ?? '' } : {});
    });
    return plot;
  }

  /** How long the buffers of what is chosen are held. */
  private _held(): (readonly [number, number])[] {
    const { table } = this._frame.answer;
    const { op } = this._choice;
    const rows = Array.from({ length: table.rows }, (_, row) => bufferAt(table, row));
    return rows
      .filter((buffer) => op !== undefined && buffer.op === op && !Number.isNaN(buffer.start))
      .map(({ start, end }) => [start, end] as const);
  }
}

/** What a stretch of the curve says. */
export function explainStretch(
  part: Stretch | undefined,
  peak_bytes: number,
  positions: number
): readonly string[] {
  if (part === undefined) {
    return [];
  }
  const last = part.right - 1;
  const until = last > part.left ? ` to ${count(last + 1)}` : '';
  return [
    part.op,
    `${bytes(part.live_bytes)} live (${exact(part.live_bytes, 'B')})`,
    `${percent(part.live_bytes / peak_bytes)} of the peak`,
    `op ${count(part.left + 1)}${until} of ${count(positions)}`
  ];
}
