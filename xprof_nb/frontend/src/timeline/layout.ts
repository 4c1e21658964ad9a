/** Where each shown track is: heights, and from a point on screen back to a track and a lane. */
import type { Row } from './arrangement';
import { isArea, isHeading } from './tracks';

const HEADING_PX = 24;
const AREA_PX = 40;
const LANE_PX = 18;
const LOW_LANE_PX = 13;
const LANES_UNTIL_LOW = 6;
const GAP_PX = 3;

/** One track on screen; `top` counts from the first track of its part, pinned or scrolled. */
export interface Place {
  readonly row: Row;
  readonly top: number;
  readonly height: number;
  readonly laneHeight: number;
}

/** A place and where it is on screen now. */
export interface Seen {
  readonly place: Place;
  readonly y: number;
}

export class Layout {
  readonly pinned: readonly Place[];
  readonly scrolled: readonly Place[];
  readonly pinnedHeight: number;
  readonly scrolledHeight: number;

  constructor(rows: readonly Row[]) {
    this.pinned = stack(rows.filter((row) => row.isPinned));
    this.scrolled = stack(rows.filter((row) => !row.isPinned));
    this.pinnedHeight = heightOf(this.pinned);
    this.scrolledHeight = heightOf(this.scrolled);
  }

  /** Height of everything. */
  get height(): number {
    return this.pinnedHeight + this.scrolledHeight;
  }

  /** What is on screen, the pinned tracks last since they cover the others. */
  seen(scrollTop: number, height: number): Seen[] {
    const first = firstBelow(this.scrolled, scrollTop);
    const found: Seen[] = [];
    for (let i = first; i < this.scrolled.length; i++) {
      const place = this.scrolled[i] as Place;
      const y = this.pinnedHeight + place.top - scrollTop;
      if (y >= height) {
        break;
      }
      found.push({ place, y });
    }
    return [...found, ...this.pinned.map((place) => ({ place, y: place.top }))];
  }

  /** The track at a height on screen. */
  at(y: number, scrollTop: number): Seen | null {
    const isPinned = y < this.pinnedHeight;
    const places = isPinned ? this.pinned : this.scrolled;
    const depth = isPinned ? y : y - this.pinnedHeight + scrollTop;
    const place = places[firstBelow(places, depth)];
    if (y < 0 || place === undefined || depth < place.top) {
      return null;
    }
    return { place, y: isPinned ? place.top : this.pinnedHeight + place.top - scrollTop };
  }

  find(trackId: number): Place | undefined {
    return [...this.pinned, ...this.scrolled].find(({ row }) => row.track.id === trackId);
  }

  /** The scroll position nearest to the one now at which a track is seen whole. */
  scrollTo(place: Place, scrollTop: number, height: number): number {
    if (place.row.isPinned) {
      return scrollTop;
    }
    const room = height - this.pinnedHeight;
    const lowest = place.top + Math.min(place.height, room) - room;
    return Math.max(0, Math.min(Math.max(scrollTop, lowest), place.top));
  }
}

/** The lane at a height on screen; the nearest one in the gaps. */
export function laneAt({ place, y }: Seen, pointerY: number): number {
  const lane = Math.floor((pointerY - y - GAP_PX) / place.laneHeight);
  return Math.max(0, Math.min(lane, place.row.track.lanes - 1));
}

/** Where a lane begins on screen. */
export function laneTop({ place, y }: Seen, lane: number): number {
  return y + GAP_PX + lane * place.laneHeight;
}

function stack(rows: readonly Row[]): Place[] {
  let top = 0;
  return rows.map((row) => {
    const laneHeight = laneHeightOf(row);
    const { track } = row;
    const height = isClosed(row) ? HEADING_PX : Math.max(HEADING_PX, 2 * GAP_PX + track.lanes * laneHeight);
    const place = { row, top, height, laneHeight };
    top += height;
    return place;
  });
}

/** Whether only the name of a track is shown. */
export function isClosed({ track, isFolded }: Row): boolean {
  return isHeading(track) || (isFolded === true && track.children.length === 0);
}

function laneHeightOf({ track }: Row): number {
  if (isArea(track)) {
    return AREA_PX;
  }
  return track.lanes > LANES_UNTIL_LOW ? LOW_LANE_PX : LANE_PX;
}

function heightOf(places: readonly Place[]): number {
  const last = places.at(-1);
  return last === undefined ? 0 : last.top + last.height;
}

/** Index of the first place that ends below a height. */
function firstBelow(places: readonly Place[], height: number): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const place = places[middle] as Place;
    if (place.top + place.height > height) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}
