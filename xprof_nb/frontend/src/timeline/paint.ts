/** Draws the tracks: backgrounds, boxes in batches of one colour, names where they fit. */
import type { Batch } from './batch';
import type { NameTest } from './boxes';
import { isClosed, type Seen } from './layout';
import type { Lettering } from './lettering';
import type { Stretch } from './levels';
import { paintArea } from './paint_area';
import type { Palette } from './palette';
import type { Pen } from './pen';
import { type Scale, snapped } from './span';
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
  readonly batch: Batch;
  /** Only boxes with such a name are drawn in full colour; null for all. */
  readonly names: NameTest | null;
  /** What is written on tracks of which nothing is known yet; empty while nobody waits. */
  readonly waiting: string;
  stretches(track: number): readonly Stretch[];
}

const FONT_PX = 11;
const WAITING_X_PX = 8;

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
  const { batch } = scene;
  batch.begin(scene);
  for (const seen of rows) {
    const { track } = seen.place.row;
    if (isHeading(track)) {
      pen.fillStyle = palette.raised;
      pen.fillRect(0, seen.y, scale.width, seen.place.height);
    }
    pen.fillStyle = palette.line;
    pen.fillRect(0, seen.y + seen.place.height - pixel, scale.width, pixel);
    const stretches = isClosed(seen.place.row) ? [] : scene.stretches(track.id);
    if (stretches.length === 0 && !isClosed(seen.place.row) && scene.waiting !== '') {
      pen.fillStyle = palette.faint;
      pen.fillText(scene.waiting, WAITING_X_PX, seen.y + seen.place.height / 2);
    }
    for (const stretch of stretches) {
      if (isArea(track)) {
        paintArea(pen, scene, seen, stretch);
      } else {
        batch.add(seen, stretch);
      }
    }
  }
  batch.fill(pen);
}
