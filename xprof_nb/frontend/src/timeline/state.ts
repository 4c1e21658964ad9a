/** What the timeline shows now: the one place all its parts read. */
import type { Summary } from '../host';
import { number, text } from '../payload';
import { Arrangement } from './arrangement';
import type { Boxes, NameTest } from './boxes';
import { Clock } from './clock';
import { isClosed, Layout } from './layout';
import { Levels, type Stretch } from './levels';
import { Markers } from './markers';
import type { Picked } from './picking';
import type { Point } from './pointer';
import type { Span } from './span';
import type { Track, Tracks } from './tracks';

/** A chosen stretch of time on chosen tracks. */
export interface Area {
  readonly span: Span;
  readonly tracks: readonly number[];
  /** Its upper and lower edge on screen while it is drawn; null for all tracks. */
  readonly edges: { readonly top: number; readonly bottom: number } | null;
}

/** From an event to one that caused it or that it causes. */
export interface Flow {
  readonly track: number;
  readonly lane: number;
  readonly start: number;
  readonly isIncoming: boolean;
}

export class State {
  readonly bounds: Span;
  /** What is on screen at first. */
  readonly firstSpan: Span;
  readonly clock: Clock;
  readonly arrangement: Arrangement;
  readonly levels: Levels;
  readonly markers = new Markers();
  layout: Layout;
  active: Track | null;
  hovered: Picked | null = null;
  selected: Picked | null = null;
  flows: readonly Flow[] = [];
  area: Area | null = null;
  focus: Span | null = null;
  names: NameTest | null = null;
  hits: readonly Span[] = [];
  pointer: Point | null = null;
  /** Whether somebody has been waiting for what is on screen for a while. */
  isWaiting = false;

  constructor(
    readonly tracks: Tracks,
    summary: Summary
  ) {
    const [start, end] = [number(summary.start_ps) || 0, number(summary.end_ps)];
    this.clock = new Clock(text(summary.origin_ps));
    this.bounds = { start, end: end > start ? end : start + 1_000_000 };
    const [first, last] = [number(summary.shown_start_ps), number(summary.shown_end_ps)];
    this.firstSpan = last > first ? { start: first, end: last } : this.bounds;
    this.levels = new Levels(this.bounds);
    this.arrangement = new Arrangement(tracks);
    this.markers.read(summary.markers);
    this.layout = new Layout(this.arrangement.rows());
    this.active = this._rows()[0] ?? null;
  }

  /** Apply what changed in the arrangement. */
  arrange(): void {
    this.layout = new Layout(this.arrangement.rows());
    if (this.active === null || this.layout.find(this.active.id) === undefined) {
      this.active = this._rows()[0] ?? null;
    }
  }

  stretches(track: number, span: Span, psPerPixel: number): Stretch[] {
    return this.levels.stretches(track, span, psPerPixel);
  }

  /** All shown tracks in order. */
  get shown(): readonly Track[] {
    return this._rows();
  }

  /** The shown tracks whose events can be seen. */
  get open(): readonly Track[] {
    const places = [...this.layout.pinned, ...this.layout.scrolled];
    return places.filter(({ row }) => !isClosed(row)).map(({ row }) => row.track);
  }

  /** Take over what an answer says of the tracks in it; returns whether that changes where they are. */
  learn(boxes: Boxes): boolean {
    let isChanged = false;
    for (const [id, lanes] of boxes.laneCounts) {
      const track = this.tracks.get(id);
      if (track !== undefined && lanes > 0 && lanes !== track.lanes) {
        track.lanes = lanes;
        isChanged = true;
      }
    }
    for (const [id, { least, most }] of boxes.ranges) {
      const track = this.tracks.get(id);
      if (track !== undefined) {
        track.minimum = Number.isNaN(track.minimum) ? least : Math.min(track.minimum, least);
        track.maximum = Number.isNaN(track.maximum) ? most : Math.max(track.maximum, most);
      }
    }
    return isChanged;
  }

  private _rows(): Track[] {
    return [...this.layout.pinned, ...this.layout.scrolled].map(({ row }) => row.track);
  }
}
