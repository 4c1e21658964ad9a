/** Memory over time drawn: heap, stack and free stacked as steps, capacity, peak, fragmentation, the chosen moment. */
import type { Model, Plot } from '../chart/bokeh';
import { FONT, type Kit } from '../chart/kit';
import { type Columns, numberAt, stringAt } from '../columns';
import { bytes, percent, time } from '../format';
import type { Allocator, Curve } from './curve';

export const HEIGHT_PX = 320;
const FRAGMENTATION = 'fragmentation';

export interface Drawing {
  readonly table: Columns;
  readonly allocator: Allocator;
  readonly curve: Curve;
  /** First and last time of all curves; times are drawn from the first. */
  readonly span: readonly [number, number];
  /** The chosen moment; null for none. */
  readonly momentPs: number | null;
  readonly isToCapacity: boolean;
  /** A moment was clicked. */
  clicked(timePs: number): void;
  /** A stretch of time was dragged. */
  dragged(startPs: number, endPs: number): void;
}

/** The plot, and the mark of the moment in it, which moves without a new drawing. */
export function drawMemory(kit: Kit, drawing: Drawing): { plot: Plot; moment: Model } {
  const { allocator, momentPs, isToCapacity } = drawing;
  const [originPs, lastPs] = drawing.span;
  const top = isToCapacity ? Math.max(allocator.capacityBytes, allocator.peakBytes) : allocator.peakBytes;
  const length = Math.max(lastPs - originPs, 1);
  const plot = kit.plot({
    x: {
      scale: 'linear',
      range: [-0.02 * length, 1.02 * length],
      label: originPs === 0 ? 'time' : `time since the first event, ${time(originPs)} into the capture`,
      write: (value) => (value === 0 ? '0' : time(value))
    },
    y: { scale: 'linear', range: [0, Math.max(top, 1) * 1.12], label: 'memory', write: bytes, base: 1024 },
    height: HEIGHT_PX
  });
  drawAreas(kit, plot, drawing);
  drawMarks(kit, plot, drawing);
  const moment = kit.model('Span', {
    name: 'moment',
    dimension: 'height',
    line_color: kit.colours.select,
    line_width: 2
  });
  moveMoment(moment, momentPs, originPs);
  plot.add_layout(moment);
  plot.on_event('tap', (event) => {
    if (event.x !== undefined) {
      drawing.clicked(event.x + originPs);
    }
  });
  kit.ranges(plot, (start, end) => drawing.dragged(start + originPs, end + originPs));
  return { plot, moment };
}

/** Put the mark of the chosen moment there, or away. */
export function moveMoment(moment: Model, momentPs: number | null, originPs: number): void {
  moment.location = (momentPs ?? originPs) - originPs;
  moment.visible = momentPs !== null;
}

function drawAreas(kit: Kit, plot: Plot, { curve, table, span: [originPs, lastPs] }: Drawing): void {
  const { heap, stack, free, fragmentation } = lasting(curve);
  const x = [...curve.timePs, lastPs].map((timePs) => timePs - originPs);
  const total = heap.map((size, index) => size + (stack[index] ?? 0));
  const capacity = total.map((size, index) => size + (free[index] ?? Number.NaN));
  const source = kit.source({ x, zero: x.map(() => 0), heap, total, capacity, fragmentation });
  const area = (y1: string, y2: string, style: object): Model => {
    const glyph = { x: { field: 'x' }, y1: { field: y1 }, y2: { field: y2 }, step_mode: 'after', ...style };
    return plot.add_glyph(kit.model('VAreaStep', glyph), source);
  };
  if (free.some((size) => size > 0)) {
    area('total', 'capacity', { fill_color: kit.colours.faint, fill_alpha: 0.1 }).name = 'free';
  }
  area('zero', 'heap', { fill_color: kit.colours.select, fill_alpha: 0.55 }).name = 'heap';
  if (stack.some((size) => size > 0)) {
    area('heap', 'total', {
      fill_color: kit.colours.warn,
      fill_alpha: 0.45,
      hatch_pattern: '/',
      hatch_color: kit.colours.page,
      hatch_alpha: 0.6
    }).name = 'stack';
  }
  const step = kit.model('Step', {
    x: { field: 'x' },
    y: { field: 'total' },
    mode: 'after',
    line_color: kit.colours.ink,
    line_width: 1
  });
  plot.add_glyph(step, source).name = 'total';
  if (fragmentation.some((fraction) => fraction > 0)) {
    kit.secondAxis(plot, FRAGMENTATION, {
      scale: 'linear',
      range: [0, 1],
      label: 'fragmentation',
      write: percent
    });
    const dotted = kit.model('Step', {
      x: { field: 'x' },
      y: { field: 'fragmentation' },
      mode: 'after',
      line_color: kit.colours.faint,
      line_dash: 'dotted'
    });
    plot.add_glyph(dotted, source, { y_range_name: FRAGMENTATION }).name = FRAGMENTATION;
  }
  // Nobody hits an area's corner with a pointer: an unseen line tells the state at any time.
  const unseen = kit.model('Line', { x: { field: 'x' }, y: { field: 'total' }, line_alpha: 0 });
  const hit = plot.add_glyph(unseen, source);
  kit.hover(plot, [hit], (index) => explainState(table, curve, Math.min(index, curve.rows.length - 1)), {
    mode: 'vline',
    line_policy: 'prev',
    point_policy: 'follow_mouse'
  });
}

/** A curve whose last state lasts to the end. */
function lasting({ heap, stack, free, fragmentation }: Curve) {
  const longer = (values: readonly number[]) => [...values, values[values.length - 1] ?? Number.NaN];
  return {
    heap: longer(heap),
    stack: longer(stack),
    free: longer(free),
    fragmentation: longer(fragmentation)
  };
}

function drawMarks(kit: Kit, plot: Plot, { allocator, span: [originPs] }: Drawing): void {
  const { capacityBytes, peakBytes, peakPs } = allocator;
  const text = { text_font: FONT, text_font_size: '11px', text_color: kit.colours.ink };
  if (!Number.isNaN(capacityBytes)) {
    const line = {
      location: capacityBytes,
      dimension: 'width',
      line_color: kit.colours.ink,
      line_dash: 'dashed'
    };
    plot.add_layout(kit.model('Span', { ...line, name: 'capacity' }));
    plot.add_layout(
      kit.model('Label', {
        ...text,
        text: `capacity ${bytes(capacityBytes)}`,
        x: 8,
        x_units: 'screen',
        y: capacityBytes,
        y_offset: 2
      })
    );
  }
  const source = kit.source({ x: [peakPs - originPs], y: [peakBytes] });
  const mark = kit.model('Scatter', {
    x: { field: 'x' },
    y: { field: 'y' },
    marker: { value: 'inverted_triangle' },
    size: 10,
    fill_color: kit.colours.ink,
    line_color: kit.colours.page
  });
  const drawn = plot.add_glyph(mark, source);
  drawn.name = 'peak';
  const range = plot.x_range as Model;
  const isLate = peakPs - originPs > (Number(range.start) + Number(range.end)) / 2;
  const place = isLate ? { x_offset: -8, text_align: 'right' } : { x_offset: 8 };
  plot.add_layout(
    kit.model('Label', {
      ...text,
      ...place,
      text: `peak ${bytes(peakBytes)}`,
      x: peakPs - originPs,
      y: peakBytes,
      y_offset: 2
    })
  );
}

/** What the state of an allocator is from an event on, and what the event was. */
export function explainState(
  table: Columns,
  { rows, timePs, heap, stack, free, fragmentation }: Curve,
  index: number
): string[] {
  const row = rows[index];
  if (row === undefined) {
    return [];
  }
  const value = (values: readonly number[]) => values[index] ?? Number.NaN;
  const total = value(heap) + value(stack);
  const left = value(free);
  return [
    `${bytes(total)}${Number.isNaN(left) ? '' : ` of ${bytes(total + left)} (${percent(total / (total + left))})`}`,
    `${time(value(timePs))} into the capture`,
    `heap ${bytes(value(heap))}${value(stack) > 0 ? `, stack ${bytes(value(stack))}` : ''}${
      Number.isNaN(left) ? '' : `, free ${bytes(left)}`
    }`,
    ...(Number.isNaN(value(fragmentation)) ? [] : [`fragmentation ${percent(value(fragmentation))}`]),
    eventText(table, row)
  ].filter(Boolean);
}

function eventText(table: Columns, row: number): string {
  const size = numberAt(table, 'bytes', row);
  const kind = stringAt(table, 'kind', row) ?? '';
  const who = stringAt(table, 'framework_op', row) ?? stringAt(table, 'caller', row);
  const what = Number.isNaN(size) ? kind : `${kind} of ${bytes(size)}`;
  return who === null ? what : `${what}, ${who}`;
}
