/** Draws how much over time: utilisation, memory, bandwidth, power. */
import { colourCode } from './boxes';
import { laneTop, type Seen } from './layout';
import type { Stretch } from './levels';
import type { Scene } from './paint';
import type { Pen } from './pen';
import type { Track } from './tracks';

const FILL = 0.28;
const BAND = 0.3;
const HEADROOM_PX = 2;
/** Kinds whose colour an area has. */
const AREA_KINDS: Readonly<Record<string, string>> = {
  utilization: 'matrix',
  memory: 'data',
  counter: 'elementwise'
};

/** From a value to a height, within one lane. */
export interface Heights {
  readonly base: number;
  y(value: number): number;
}

export function heightsOf(track: Track, top: number, height: number): Heights {
  const { lowest, highest } = rangeOf(track);
  const room = height - HEADROOM_PX - 1;
  const y = (value: number) => {
    const share = (Math.min(Math.max(value, lowest), highest) - lowest) / (highest - lowest);
    return top + HEADROOM_PX + room * (1 - share);
  };
  return { base: y(Math.max(lowest, Math.min(0, highest))), y };
}

/** What the lane's foot and top stand for: from zero, unless there is less, to the most that was seen. */
export function rangeOf(track: Track): { readonly lowest: number; readonly highest: number } {
  const lowest = Math.min(0, Number.isNaN(track.minimum) ? 0 : track.minimum);
  const highest = Number.isNaN(track.maximum) ? 1 : track.maximum;
  return { lowest, highest: highest > lowest ? highest : lowest + 1 };
}

export function paintArea(pen: Pen, scene: Scene, seen: Seen, { boxes, span }: Stretch): void {
  const { scale, palette } = scene;
  const { track } = seen.place.row;
  const kind = AREA_KINDS[track.kind] ?? 'control';
  const colour = palette.boxes[colourCode(kind, '')]?.fill ?? palette.faint;
  const left = scale.x(span.start);
  const right = scale.x(span.end);
  for (const [lane, rows] of boxes.lanes(track.id)) {
    const heights = heightsOf(track, laneTop(seen, lane), seen.place.laneHeight);
    const steps: Step[] = [];
    for (let row = boxes.firstAfter(rows, span.start); row < rows.to; row++) {
      const start = boxes.start[row] as number;
      if (start >= span.end) {
        break;
      }
      const value = boxes.value?.[row] ?? Number.NaN;
      if (!Number.isNaN(value)) {
        steps.push({
          x0: Math.max(left, scale.x(start)),
          x1: Math.min(right, scale.x(boxes.end[row] as number)),
          y: heights.y(value),
          top: heights.y(boxes.high?.[row] ?? value),
          foot: heights.y(boxes.low?.[row] ?? value)
        });
      }
    }
    pen.fillStyle = colour;
    pen.strokeStyle = colour;
    fillBelow(pen, steps, heights.base);
    fillBands(pen, steps);
    strokeTops(pen, steps);
  }
  pen.globalAlpha = 1;
}

interface Step {
  readonly x0: number;
  readonly x1: number;
  readonly y: number;
  readonly top: number;
  readonly foot: number;
}

const NEXT_TO_PX = 0.75;

function fillBelow(pen: Pen, steps: readonly Step[], base: number): void {
  pen.globalAlpha = FILL;
  pen.beginPath();
  steps.forEach((step, index) => {
    const before = steps[index - 1];
    if (before === undefined || step.x0 - before.x1 > NEXT_TO_PX) {
      if (before !== undefined) {
        pen.lineTo(before.x1, base);
      }
      pen.moveTo(step.x0, base);
    }
    pen.lineTo(step.x0, step.y);
    pen.lineTo(step.x1, step.y);
  });
  const last = steps.at(-1);
  if (last !== undefined) {
    pen.lineTo(last.x1, base);
  }
  pen.fill();
}

/** Between the least and the most that a step stands for. */
function fillBands(pen: Pen, steps: readonly Step[]): void {
  pen.globalAlpha = BAND;
  for (const { x0, x1, top, foot } of steps) {
    if (foot - top > 1) {
      pen.fillRect(x0, top, Math.max(x1 - x0, 0.5), foot - top);
    }
  }
}

function strokeTops(pen: Pen, steps: readonly Step[]): void {
  pen.globalAlpha = 1;
  pen.lineWidth = 1;
  pen.beginPath();
  let end = Number.NEGATIVE_INFINITY;
  for (const { x0, x1, y } of steps) {
    if (x0 - end > NEXT_TO_PX) {
      pen.moveTo(x0, y);
    } else {
      pen.lineTo(x0, y);
    }
    pen.lineTo(x1, y);
    end = x1;
  }
  pen.stroke();
}
