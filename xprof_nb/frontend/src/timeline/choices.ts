/** Stretches of time that a person chooses: a box of tracks and time, a range, what lies between two markers. */
import type { Bond } from './bond';
import type { Camera } from './camera';
import { isClosed } from './layout';
import type { MarkerStore } from './marker_store';
import type { Painter } from './painter';
import type { Panes } from './panes';
import type { Point } from './pointer';
import type { SelectionEvents } from './selection_pane';
import { around, type Span, spanOf } from './span';
import type { Layer, Stage } from './stage';
import type { State } from './state';
import type { Track } from './tracks';
import { windowText } from './words';

/** What the choices work with. */
export interface ChoiceParts {
  readonly state: State;
  readonly stage: Stage;
  readonly painter: Painter;
  readonly camera: Camera;
  readonly panes: Panes;
  readonly store: MarkerStore;
  readonly bond: Bond;
}

export interface ChoiceEvents {
  announce(text: string): void;
  say(text: string): void;
}

/** As many tracks as one question may be about. */
const MOST_TRACKS = 1000;

export class Choices {
  private readonly _state: State;
  private readonly _stage: Stage;
  private readonly _painter: Painter;
  private readonly _camera: Camera;
  private readonly _panes: Panes;
  private readonly _store: MarkerStore;
  private readonly _bond: Bond;

  constructor(
    parts: ChoiceParts,
    private readonly _events: ChoiceEvents,
    private readonly _selectionEvents: SelectionEvents
  ) {
    this._state = parts.state;
    this._stage = parts.stage;
    this._painter = parts.painter;
    this._camera = parts.camera;
    this._panes = parts.panes;
    this._store = parts.store;
    this._bond = parts.bond;
  }

  /** A stretch of time between two points, on the tracks between them; the table comes with the last one. */
  drawArea(from: Point, to: Point, isDone: boolean): void {
    const { scale } = this._painter;
    const edges = { top: Math.min(from.y, to.y), bottom: Math.max(from.y, to.y) };
    const tracks = this._painter
      .seen()
      .filter(({ y, place }) => y < edges.bottom && y + place.height > edges.top && !isClosed(place.row))
      .map(({ place }) => place.row.track.id);
    this._state.area = {
      span: this._clip(spanOf(scale.time(from.x), scale.time(to.x))),
      tracks,
      edges: isDone ? null : edges
    };
    this._redraw('over', 'ruler');
    if (isDone) {
      this._openSelection();
    }
  }

  /** A stretch of time on all tracks that are shown. */
  selectSpan(span: Span, isDone: boolean): void {
    const tracks = this._state.open.slice(0, MOST_TRACKS).map((track) => track.id);
    this._state.area = { span: this._clip(span), tracks, edges: null };
    this._redraw('over', 'ruler');
    if (isDone) {
      this._openSelection();
    }
  }

  /** All of one track that is on screen. */
  selectTrack(track: Track): void {
    this._state.area = { span: this._clip(this._camera.target), tracks: [track.id], edges: null };
    this._redraw('over', 'ruler');
    this._openSelection();
  }

  clearSelection(): void {
    this._state.area = null;
    this._panes.closeSelection();
    this._redraw('over', 'ruler');
  }

  mark(time: number): void {
    const marker = this._state.markers.put(time);
    this._events.announce(marker === null ? 'No more markers can be kept.' : `Marker ${marker.name}.`);
    void this._store.save();
  }

  /** Where `m` puts a marker: at the pointer, else at the chosen event, else in the middle. */
  get markTime(): number {
    const { pointer, selected } = this._state;
    const { scale } = this._painter;
    const x = pointer?.x;
    return x !== undefined ? scale.time(x) : (selected?.start ?? scale.time(this._stage.width / 2));
  }

  /** Restrict the tables, and the other views, to a stretch between markers; null for the whole run. */
  focus(span: Span | null): void {
    this._state.focus = span;
    this._bond.narrow(span);
    if (span === null) {
      this.clearSelection();
    } else {
      this._events.announce(`Focus on ${windowText(span, this._state.bounds)}.`);
      this._camera.glide(around(span, this._state.bounds), 'focus');
      this.selectSpan(span, true);
    }
    this._redraw('over', 'ruler', 'minimap');
  }

  /** Focus as another view did. */
  followFocus(span: Span | null): void {
    this._state.focus = span;
    if (span !== null) {
      this._camera.glide(around(span, this._state.bounds), 'focus');
    }
    this._redraw('over', 'ruler', 'minimap');
  }

  /** Choose again what was chosen before. */
  restore(focus: Span | null, span: Span | null, tracks: readonly number[]): void {
    this._state.focus = focus;
    this.clearSelection();
    if (span !== null) {
      this._state.area = { span: this._clip(span), tracks: tracks.slice(0, MOST_TRACKS), edges: null };
      this._openSelection();
    }
    this._redraw('over', 'ruler', 'minimap');
  }

  stepFocus(by: 1 | -1): void {
    const next = this._state.markers.step(this._state.focus, by);
    if (next === null) {
      this._events.say('There are no two markers to focus between: m puts one.');
      return;
    }
    this.focus(next);
  }

  private _clip(span: Span): Span {
    const { focus, bounds } = this._state;
    const limits = focus ?? bounds;
    const clamp = (time: number) => Math.min(Math.max(time, limits.start), limits.end);
    return { start: clamp(span.start), end: clamp(span.end) };
  }

  private _openSelection(): void {
    const { area, bounds, focus } = this._state;
    if (area === null) {
      return;
    }
    const length = windowText(area.span, bounds);
    const tracks = area.tracks.length === 1 ? '1 track' : `${area.tracks.length} tracks`;
    const title = `${focus === null ? 'Selection' : 'Focus'}: ${length}, ${tracks}`;
    void this._panes.showSelection(area, title, this._selectionEvents);
  }

  private _redraw(...layers: Layer[]): void {
    this._stage.invalidate(...layers);
  }
}
