/** The whole run in one strip: what kinds of work ran when, with the window on screen as a brush. */
import { KINDS } from '../kinds';
import { type Boxes, kindIndex, SHADES } from './boxes';
import type { Marker } from './markers';
import type { Palette } from './palette';
import type { Pen } from './pen';
import type { Scale, Span } from './span';
import { isArea, type Tracks } from './tracks';

/** Busy share per column and kind, one row of columns per kind, as a share of the busiest column. */
export interface Density {
  readonly columns: number;
  readonly shares: Float32Array;
}

/** Tracks that say best what the devices did, the first group that has events. */
const TELLING = [
  ['ops', 'stream', 'engine'],
  ['programs', 'steps'],
  ['thread', 'python']
];

/** How busy the run was, by kind of work, from the answer about all of it. */
export function densityOf(tracks: Tracks, boxes: Boxes, scale: Scale): Density {
  const columns = Math.max(1, Math.floor(scale.width));
  const shares = new Float32Array(columns * KINDS.length);
  const told = tellingTracks(tracks, boxes);
  const perColumn = scale.psPerPixel * Math.max(1, told.length);
  for (const id of told) {
    for (const { from, to } of boxes.lanes(id).values()) {
      for (let row = from; row < to; row++) {
        const kind = kindIndex(boxes.colour[row] ?? 0);
        const busy = boxes.busyShare(row);
        spread(boxes.start[row] ?? 0, boxes.end[row] ?? 0, scale, columns, (column, covered) => {
          shares[kind * columns + column] =
            (shares[kind * columns + column] ?? 0) + (covered * busy) / perColumn;
        });
      }
      // Nested lanes cover the same time again.
      break;
    }
  }
  return { columns, shares: stretched(shares, columns) };
}

/** The busiest column is as high as the strip: where something ran is seen even in a run that was idle mostly. */
function stretched(shares: Float32Array, columns: number): Float32Array {
  let highest = 0;
  for (let column = 0; column < columns; column++) {
    let sum = 0;
    for (let kind = 0; kind < KINDS.length; kind++) {
      sum += shares[kind * columns + column] ?? 0;
    }
    highest = Math.max(highest, sum);
  }
  return highest > 0 ? shares.map((share) => share / highest) : shares;
}

function tellingTracks(tracks: Tracks, boxes: Boxes): number[] {
  const shown = tracks.all.filter((track) => !isArea(track) && boxes.lanes(track.id).size > 0);
  for (const kinds of TELLING) {
    const found = shown.filter((track) => kinds.includes(track.kind));
    if (found.length > 0) {
      return found.map((track) => track.id);
    }
  }
  return shown.map((track) => track.id);
}

function spread(
  start: number,
  end: number,
  scale: Scale,
  columns: number,
  add: (column: number, covered: number) => void
): void {
  const first = Math.max(0, Math.floor(scale.x(start)));
  const last = Math.min(columns - 1, Math.floor(scale.x(end)));
  for (let column = first; column <= last; column++) {
    const covered = Math.min(end, scale.time(column + 1)) - Math.max(start, scale.time(column));
    if (covered > 0) {
      add(column, covered);
    }
  }
}

export interface Minimap {
  readonly scale: Scale;
  readonly height: number;
  readonly palette: Palette;
  readonly window: Span;
  readonly markers: readonly Marker[];
  readonly hits: readonly Span[];
}

const HANDLE_PX = 3;

export function paintMinimap(pen: Pen, minimap: Minimap): void {
  const { scale, height, palette, window } = minimap;
  pen.globalAlpha = 1;
  pen.fillStyle = palette.ink;
  for (const hit of minimap.hits) {
    pen.fillRect(scale.x(hit.start), 0, Math.max(1, scale.x(hit.end) - scale.x(hit.start)), 3);
  }
  const left = scale.x(window.start);
  const right = Math.max(left + 2, scale.x(window.end));
  pen.fillStyle = palette.page;
  pen.globalAlpha = 0.65;
  pen.fillRect(0, 0, left, height);
  pen.fillRect(right, 0, scale.width - right, height);
  pen.globalAlpha = 1;
  pen.strokeStyle = palette.select;
  pen.lineWidth = 1;
  pen.strokeRect(left + 0.5, 0.5, Math.max(1, right - left - 1), height - 1);
  pen.fillStyle = palette.select;
  pen.fillRect(left, height / 2 - 6, HANDLE_PX, 12);
  pen.fillRect(right - HANDLE_PX, height / 2 - 6, HANDLE_PX, 12);
  for (const { time, colour } of minimap.markers) {
    pen.fillStyle = colour;
    pen.fillRect(scale.x(time), 0, 2, height);
  }
}

/** What ran when, as a ground for the brush. */
export function paintDensity(
  pen: Pen,
  density: Density | null,
  width: number,
  height: number,
  palette: Palette
): void {
  pen.fillStyle = palette.page;
  pen.fillRect(0, 0, width, height);
  if (density === null) {
    return;
  }
  const { columns, shares } = density;
  const foot = new Float32Array(columns).fill(height);
  for (let kind = 0; kind < KINDS.length; kind++) {
    pen.fillStyle = palette.boxes[kind * SHADES]?.fill ?? palette.faint;
    for (let column = 0; column < columns; column++) {
      const share = shares[kind * columns + column] ?? 0;
      if (share > 0) {
        const top = Math.max(0, (foot[column] ?? height) - Math.max(share * height, 0.5));
        pen.fillRect(column, top, 1, (foot[column] ?? height) - top);
        foot[column] = top;
      }
    }
  }
}

/** What a drag on the minimap does, by where it begins. */
export type Grip = 'start' | 'end' | 'move' | 'new';

const GRIP_PX = 6;

export function gripAt(x: number, scale: Scale, window: Span): Grip {
  const left = scale.x(window.start);
  const right = Math.max(left + 2, scale.x(window.end));
  if (Math.abs(x - left) <= GRIP_PX && x < (left + right) / 2) {
    return 'start';
  }
  if (Math.abs(x - right) <= GRIP_PX) {
    return 'end';
  }
  const isWhole = left <= 0.5 && right >= scale.width - 0.5;
  return x > left && x < right && !isWhole ? 'move' : 'new';
}
