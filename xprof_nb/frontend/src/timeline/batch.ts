/** Draws boxes of many tracks together, by colour: changing the colour is what costs. Its lists live from frame to frame. */
import type { Boxes, NameTest, Rows } from './boxes';
import { laneTop, type Seen } from './layout';
import type { Lettering } from './lettering';
import type { Stretch } from './levels';
import type { Palette } from './palette';
import type { Pen } from './pen';
import { type Scale, snapped } from './span';

/** What the boxes of one picture have in common. */
export interface Look {
  readonly scale: Scale;
  readonly pixel: number;
  readonly palette: Palette;
  readonly lettering: Lettering;
  readonly names: NameTest | null;
}

/** How strong a box is drawn: by the share of it in which something ran, and weaker when it is not searched for. */
const STRENGTHS = [0.35, 0.55, 0.78, 1, 0.1, 0.14, 0.17, 0.2];
const FULL = 3;
const NOT_MATCHING = 4;
const WIDE_ENOUGH_FOR_TEXT_PX = 24;
const WIDE_ENOUGH_FOR_GAP_PX = 3;
const TEXT_MARGIN_PX = 4;

interface Name {
  readonly text: string;
  readonly colour: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** A piece of a lane: its place on screen, and the part of it that one answer shows. */
interface Piece {
  readonly boxes: Boxes;
  readonly rows: Rows;
  readonly from: number;
  readonly to: number;
  readonly y: number;
  readonly height: number;
  readonly isMatching: ((row: number) => boolean) | null;
}

export class Batch {
  private readonly _lists: (Rectangles | undefined)[] = [];
  private readonly _names: Name[] = [];
  private _look: Look | null = null;

  begin(look: Look): void {
    this._look = look;
    this._names.length = 0;
    for (const list of this._lists) {
      list?.clear();
    }
  }

  /** Take in a stretch of a track. */
  add(seen: Seen, { boxes, span }: Stretch): void {
    const isMatching = boxes.matching(this._look?.names ?? null);
    const height = seen.place.laneHeight - 1;
    for (const [lane, rows] of boxes.lanes(seen.place.row.track.id)) {
      const y = laneTop(seen, lane);
      this._addPiece({ boxes, rows, from: span.start, to: span.end, y, height, isMatching });
    }
  }

  fill(pen: Pen): void {
    if (this._look === null) {
      return;
    }
    const { palette } = this._look;
    this._lists.forEach((list, key) => {
      if (list !== undefined && list.size > 0) {
        pen.fillStyle = palette.boxes[Math.floor(key / STRENGTHS.length)]?.fill ?? palette.faint;
        pen.globalAlpha = STRENGTHS[key % STRENGTHS.length] ?? 1;
        list.fill(pen);
      }
    });
    pen.globalAlpha = 1;
    this._letter(pen, this._look);
  }

  private _addPiece(piece: Piece): void {
    const { boxes, rows, from, to, isMatching } = piece;
    const { scale, pixel } = this._look as Look;
    const left = Math.max(0, scale.x(from));
    const right = Math.min(scale.width, scale.x(to));
    const weight = (row: number) => (isMatching?.(row) ? Number.POSITIVE_INFINITY : boxes.busyTime(row));
    let drawnTo = Number.NEGATIVE_INFINITY;
    // What is no wider than a pixel has it to itself: the heaviest of those on it. A wider box begins beside it.
    let narrow = -1;
    for (let row = boxes.firstAfter(rows, from); row < rows.to; row++) {
      const start = boxes.start[row] as number;
      if (start >= to) {
        break;
      }
      const x0 = snapped(Math.max(left, scale.x(start)), pixel);
      const x1 = Math.max(x0 + pixel, snapped(Math.min(right, scale.x(boxes.end[row] as number)), pixel));
      if (x1 <= drawnTo) {
        narrow = narrow >= 0 && weight(row) > weight(narrow) ? row : narrow;
        continue;
      }
      if (narrow >= 0) {
        this._addBox(piece, narrow, drawnTo - pixel, drawnTo);
      }
      const free = Math.max(x0, drawnTo);
      const isNarrow = x1 - free < 1.5 * pixel;
      if (!isNarrow) {
        this._addBox(piece, row, free, x1);
      }
      narrow = isNarrow ? row : -1;
      drawnTo = x1;
    }
    if (narrow >= 0) {
      this._addBox(piece, narrow, drawnTo - pixel, drawnTo);
    }
  }

  private _addBox({ boxes, y, height, isMatching }: Piece, row: number, x: number, end: number): void {
    const width = end - x;
    const colour = boxes.colour[row] as number;
    const isDim = isMatching !== null && !isMatching(row);
    const strength = strengthOf(boxes, row) + (isDim ? NOT_MATCHING : 0);
    const gap = width > WIDE_ENOUGH_FOR_GAP_PX ? (this._look as Look).pixel : 0;
    this._list(colour * STRENGTHS.length + strength).push(x, y, width - gap, height);
    if (width >= WIDE_ENOUGH_FOR_TEXT_PX && strength === FULL && boxes.count(row) === 1) {
      this._names.push({ text: boxes.name(row), colour, x, y: y + height / 2, width });
    }
  }

  private _letter(pen: Pen, { palette, lettering }: Look): void {
    // By colour here too.
    this._names.sort((a, b) => a.colour - b.colour);
    for (const { text, colour, x, y, width } of this._names) {
      const fitting = lettering.fit(pen, text, width - 2 * TEXT_MARGIN_PX);
      if (fitting !== '') {
        pen.fillStyle = palette.boxes[colour]?.text ?? palette.ink;
        pen.fillText(fitting, x + TEXT_MARGIN_PX, y + 0.5);
      }
    }
  }

  private _list(key: number): Rectangles {
    let list = this._lists[key];
    if (list === undefined) {
      list = new Rectangles();
      this._lists[key] = list;
    }
    return list;
  }
}

function strengthOf(boxes: Boxes, row: number): number {
  return boxes.count(row) === 1 ? FULL : Math.max(0, Math.ceil(boxes.busyShare(row) * (FULL + 1)) - 1);
}

const NUMBERS = 4;
const FIRST_ROOM = 64;

class Rectangles {
  size = 0;
  private _numbers = new Float32Array(FIRST_ROOM * NUMBERS);

  clear(): void {
    this.size = 0;
  }

  push(x: number, y: number, width: number, height: number): void {
    const at = this.size * NUMBERS;
    if (at === this._numbers.length) {
      const larger = new Float32Array(at * 2);
      larger.set(this._numbers);
      this._numbers = larger;
    }
    this._numbers[at] = x;
    this._numbers[at + 1] = y;
    this._numbers[at + 2] = width;
    this._numbers[at + 3] = height;
    this.size += 1;
  }

  fill(pen: Pen): void {
    const numbers = this._numbers;
    for (let at = 0; at < this.size * NUMBERS; at += NUMBERS) {
      pen.fillRect(
        numbers[at] as number,
        numbers[at + 1] as number,
        numbers[at + 2] as number,
        numbers[at + 3] as number
      );
    }
  }
}
