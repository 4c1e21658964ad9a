/** Draws the tracks: backgrounds, boxes in batches of one colour, names where they fit. */
import type { Boxes, NameTest, Rows } from './boxes';
import { laneTop, type Seen } from './layout';
import type { Lettering } from './lettering';
import type { Stretch } from './levels';
import { paintArea } from './paint_area';
import type { Palette } from './palette';
import type { Pen } from './pen';
import type { Scale } from './span';
import { axisOf } from './ticks';
import { isArea, isHeading } from './tracks';

/** All that one picture of the tracks is made of. */
export interface Scene {
  readonly scale: Scale;
  readonly height: number;
  readonly pinnedHeight: number;
  readonly seen: readonly Seen[];
  /** Size of one pixel of the screen. */
  readonly pixel: number;
  readonly palette: Palette;
  readonly lettering: Lettering;
  /** Only boxes with such a name are drawn in full colour; null for all. */
  readonly names: NameTest | null;
  stretches(track: number): readonly Stretch[];
}

/** How strong a box is drawn: by the share of it in which something ran, and weaker when it is not searched for. */
const STRENGTHS = [0.35, 0.55, 0.78, 1, 0.1, 0.14, 0.17, 0.2];
const FULL = 3;
const NOT_MATCHING = 4;
const WIDE_ENOUGH_FOR_TEXT_PX = 24;
const WIDE_ENOUGH_FOR_GAP_PX = 3;
const TEXT_MARGIN_PX = 4;
const FONT_PX = 11;
const NUMBERS_PER_BOX = 4;

export function paintTracks(pen: Pen, scene: Scene): void {
  const { palette, scale, height } = scene;
  pen.globalAlpha = 1;
  pen.fillStyle = palette.page;
  pen.fillRect(0, 0, scale.width, height);
  paintGrid(pen, scene);
  pen.font = `${FONT_PX}px ${palette.font}`;
  pen.textBaseline = 'middle';
  pen.textAlign = 'left';
  const isPinned = ({ place }: Seen) => place.row.isPinned;
  pen.save();
  pen.beginPath();
  pen.rect(0, scene.pinnedHeight, scale.width, Math.max(0, height - scene.pinnedHeight));
  pen.clip();
  paintRows(
    pen,
    scene,
    scene.seen.filter((seen) => !isPinned(seen))
  );
  pen.restore();
  paintRows(pen, scene, scene.seen.filter(isPinned));
  if (scene.pinnedHeight > 0) {
    pen.fillStyle = palette.faint;
    pen.fillRect(0, scene.pinnedHeight - scene.pixel, scale.width, scene.pixel);
  }
}

function paintGrid(pen: Pen, { palette, scale, height, pixel }: Scene): void {
  pen.fillStyle = palette.line;
  pen.globalAlpha = 0.6;
  for (const { time } of axisOf(scale.span, scale.width).ticks) {
    pen.fillRect(snapped(scale.x(time), pixel), 0, pixel, height);
  }
  pen.globalAlpha = 1;
}

function paintRows(pen: Pen, scene: Scene, rows: readonly Seen[]): void {
  const { palette, scale, pixel } = scene;
  const batch = new Batch(scene);
  for (const seen of rows) {
    const { track } = seen.place.row;
    if (isHeading(track)) {
      pen.fillStyle = palette.raised;
      pen.fillRect(0, seen.y, scale.width, seen.place.height);
    }
    pen.fillStyle = palette.line;
    pen.fillRect(0, seen.y + seen.place.height - pixel, scale.width, pixel);
    for (const stretch of scene.stretches(track.id)) {
      if (isArea(track)) {
        paintArea(pen, scene, seen, stretch);
      } else {
        batch.add(seen, stretch);
      }
    }
  }
  batch.fill(pen);
}

/** Boxes of many tracks, put together by colour: changing the colour is what costs. */
class Batch {
  private readonly _boxes = new Map<number, number[]>();
  private readonly _names: { text: string; colour: number; x: number; y: number; width: number }[] = [];

  constructor(private readonly _scene: Scene) {}

  add(seen: Seen, { boxes, span }: Stretch): void {
    const { scale } = this._scene;
    const isMatching = boxes.matching(this._scene.names);
    const left = Math.max(0, scale.x(span.start));
    const right = Math.min(scale.width, scale.x(span.end));
    for (const [lane, rows] of boxes.lanes(seen.place.row.track.id)) {
      this._addLane(seen, boxes, lane, rows, { left, right, from: span.start, to: span.end }, isMatching);
    }
  }

  private _addLane(
    seen: Seen,
    boxes: Boxes,
    lane: number,
    rows: Rows,
    clip: { readonly left: number; readonly right: number; readonly from: number; readonly to: number },
    isMatching: ((row: number) => boolean) | null
  ): void {
    const { scale, pixel } = this._scene;
    const y = laneTop(seen, lane);
    const height = seen.place.laneHeight - 1;
    let drawnTo = Number.NEGATIVE_INFINITY;
    for (let row = boxes.firstAfter(rows, clip.from); row < rows.to; row++) {
      const start = boxes.start[row] as number;
      if (start >= clip.to) {
        break;
      }
      const x0 = snapped(Math.max(clip.left, scale.x(start)), pixel);
      const x1 = Math.max(
        x0 + pixel,
        snapped(Math.min(clip.right, scale.x(boxes.end[row] as number)), pixel)
      );
      // What is narrower than a pixel and lies on one that is taken would not be seen.
      if (x1 <= drawnTo) {
        continue;
      }
      drawnTo = x1;
      const width = x1 - x0;
      const colour = boxes.colour[row] as number;
      const isDim = isMatching !== null && !isMatching(row);
      const strength = strengthOf(boxes, row) + (isDim ? NOT_MATCHING : 0);
      this._list(colour * STRENGTHS.length + strength).push(
        x0,
        y,
        width > WIDE_ENOUGH_FOR_GAP_PX ? width - pixel : width,
        height
      );
      if (width >= WIDE_ENOUGH_FOR_TEXT_PX && strength === FULL && boxes.count(row) === 1) {
        this._names.push({ text: boxes.name(row), colour, x: x0, y: y + height / 2, width });
      }
    }
  }

  fill(pen: Pen): void {
    const { palette } = this._scene;
    for (const [key, list] of this._boxes) {
      pen.fillStyle = palette.boxes[Math.floor(key / STRENGTHS.length)]?.fill ?? palette.faint;
      pen.globalAlpha = STRENGTHS[key % STRENGTHS.length] ?? 1;
      for (let i = 0; i < list.length; i += NUMBERS_PER_BOX) {
        pen.fillRect(list[i] as number, list[i + 1] as number, list[i + 2] as number, list[i + 3] as number);
      }
    }
    pen.globalAlpha = 1;
    this._letter(pen);
  }

  private _letter(pen: Pen): void {
    const { palette, lettering } = this._scene;
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

  private _list(key: number): number[] {
    let list = this._boxes.get(key);
    if (list === undefined) {
      list = [];
      this._boxes.set(key, list);
    }
    return list;
  }
}

function strengthOf(boxes: Boxes, row: number): number {
  return boxes.count(row) === 1 ? FULL : Math.max(0, Math.ceil(boxes.busyShare(row) * (FULL + 1)) - 1);
}

/** The nearest edge between two pixels of the screen. */
export function snapped(x: number, pixel: number): number {
  return Math.round(x / pixel) * pixel;
}
