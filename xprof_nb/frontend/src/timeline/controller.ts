/** What a person can do with events: move about, hover, choose, read. Changes the state and has it drawn again. */
import type { Summary } from '../host';
import { number, record, text } from '../payload';
import type { Bond } from './bond';
import type { Camera } from './camera';
import type { ChoiceEvents } from './choices';
import type { DetailsEvents } from './details';
import { isClosed } from './layout';
import type { Painter } from './painter';
import type { Panes } from './panes';
import { isSamePick, neighbour, type Picked, pickAt, pickedFrom, pickedOf } from './picking';
import type { Point } from './pointer';
import { around, lengthOf, reaching, shifted, zoomed } from './span';
import type { Layer, Stage } from './stage';
import type { State } from './state';
import type { TrackControl } from './track_control';
import { isHeading, type Track } from './tracks';
import { spoken } from './words';

/** What the controller works with. */
export interface Parts {
  readonly state: State;
  readonly stage: Stage;
  readonly painter: Painter;
  readonly camera: Camera;
  readonly panes: Panes;
  readonly tracks: TrackControl;
  readonly bond: Bond;
  /** Whether there is somebody to ask. */
  readonly isLive: boolean;
}

/** Narrower than this an event is not seen: whoever goes to it is brought closer. */
const SEEN_FROM_PX = 3;
/** How many times its own length is shown around such an event. */
const ROOM = 12;

export class Controller {
  private _eventSummary: Summary | null = null;
  /** A step on a track of which no answer has come yet. */
  private _stepOnceKnown: { readonly track: Track; readonly by: 1 | -1 } | null = null;

  private readonly _state: State;
  private readonly _stage: Stage;
  private readonly _painter: Painter;
  private readonly _camera: Camera;
  private readonly _panes: Panes;
  private readonly _tracks: TrackControl;
  private readonly _bond: Bond;
  private readonly _isLive: boolean;

  constructor(
    parts: Parts,
    private readonly _events: ChoiceEvents
  ) {
    this._state = parts.state;
    this._stage = parts.stage;
    this._painter = parts.painter;
    this._camera = parts.camera;
    this._panes = parts.panes;
    this._tracks = parts.tracks;
    this._bond = parts.bond;
    this._isLive = parts.isLive;
  }

  zoom(factor: number, x = this._stage.width / 2): void {
    const { target } = this._camera;
    const at = target.start + (x / Math.max(1, this._stage.width)) * lengthOf(target);
    this._camera.move(zoomed(target, at, factor, this._state.bounds), 'zoom');
  }

  /** Zoom by a key or a button: at the pointer when it is over the tracks. */
  zoomStep(factor: number): void {
    const x = this._state.pointer?.x ?? this._stage.width / 2;
    const { target } = this._camera;
    const at = target.start + (x / Math.max(1, this._stage.width)) * lengthOf(target);
    this._camera.glide(zoomed(target, at, factor, this._state.bounds), 'zoom');
  }

  /** Drag: sideways through time, up and down through the tracks. */
  pan(byX: number, byY: number): void {
    if (byY !== 0) {
      this._stage.scrollTop -= byY;
    }
    const by = -byX * this._painter.scale.psPerPixel;
    this._camera.move(shifted(this._camera.span, by, this._state.bounds), 'pan');
  }

  panStep(part: number): void {
    const { target } = this._camera;
    this._camera.glide(shifted(target, part * lengthOf(target), this._state.bounds), 'pan');
  }

  all(): void {
    this._camera.glide(this._state.bounds, 'all');
  }

  /** Show the selection: a stretch of time, an event, or the focus. */
  fit(): void {
    const { area, selected, focus, bounds } = this._state;
    const target = area?.span ?? selected ?? focus;
    if (target === null) {
      this._events.say('Nothing is selected: click an event, or drag with Shift.');
      return;
    }
    this._camera.glide(around(target, bounds), 'fit');
  }

  zoomTo(picked: Picked): void {
    this.select(picked);
    this._camera.glide(around(picked, this._state.bounds), 'fit');
  }

  goToTime(time: number): void {
    const half = lengthOf(this._camera.target) / 2;
    this._camera.glide({ start: time - half, end: time + half }, 'go');
  }

  /** What is under a point of the canvas. */
  at({ x, y }: Point): { readonly track: Track | null; readonly picked: Picked | null } {
    const seen = this._state.layout.at(y, this._painter.scrollTop);
    if (seen === null) {
      return { track: null, picked: null };
    }
    const { track } = seen.place.row;
    if (isClosed(seen.place.row)) {
      return { track, picked: null };
    }
    const { scale } = this._painter;
    return {
      track,
      picked: pickAt(seen, x, y, scale, this._state.stretches(track.id, scale.span, scale.psPerPixel))
    };
  }

  hover(point: Point | null): Picked | null {
    const picked = point === null ? null : this.at(point).picked;
    this._state.pointer = point;
    this._state.hovered = picked;
    this._redraw('over');
    return picked;
  }

  click(point: Point): void {
    const { track, picked } = this.at(point);
    if (track !== null) {
      this._tracks.activate(track);
    }
    if (picked === null) {
      this.select(null);
    } else {
      this.select(picked);
      void this.openDetails();
    }
  }

  doubleClick(point: Point): void {
    const { picked } = this.at(point);
    if (picked !== null) {
      this.zoomTo(picked);
    }
  }

  /** Choose an event; an open details pane follows. */
  select(picked: Picked | null): void {
    if (!isSamePick(picked, this._state.selected)) {
      this._state.flows = [];
      this._eventSummary = null;
    }
    this._state.selected = picked;
    const track = picked === null ? undefined : this._state.tracks.get(picked.track);
    if (picked !== null && track !== undefined) {
      this._events.announce(spoken(picked, track));
      if (this._panes.hasDetails) {
        void this.openDetails();
      }
    }
    this._redraw('over');
  }

  /** Details of the chosen event. */
  async openDetails(): Promise<void> {
    const { selected } = this._state;
    const track = selected === null ? undefined : this._state.tracks.get(selected.track);
    if (selected === null || track === undefined) {
      return;
    }
    const summary = await this._panes.showDetails(selected, track, this._detailsEvents());
    if (summary !== null && isSamePick(selected, this._state.selected)) {
      this._eventSummary = summary;
      this._state.flows = flowsOf(summary);
      this._redraw('over');
      this._choose();
    }
  }

  /** Learn from a new answer what was not known of the chosen event: its lane, or what its details are asked by. */
  settle(): void {
    const step = this._stepOnceKnown;
    if (step !== null && this._state.levels.knows(step.track.id)) {
      this._stepOnceKnown = null;
      if (step.track === this._state.active) {
        this.stepEvent(step.by);
      }
    }
    const { selected, bounds } = this._state;
    const isKnown = selected === null || (!Number.isNaN(selected.lane) && !Number.isNaN(selected.event));
    if (isKnown || selected.count > 1 || !Number.isNaN(selected.value)) {
      return;
    }
    for (const { boxes } of this._state.stretches(selected.track, around(selected, bounds), 1)) {
      const row = Number.isNaN(selected.event)
        ? boxes.find(selected.track, selected.lane, selected.start, 0)
        : boxes.rowOf(selected.track, selected.event);
      if (row >= 0 && !boxes.isSketch && boxes.start[row] === selected.start) {
        this._state.selected = pickedOf(boxes, row);
        if (this._panes.hasDetails && Number.isNaN(selected.event)) {
          void this.openDetails();
        }
        return;
      }
    }
  }

  /** Enter: several events drawn as one are brought closer, one is explained. */
  open(): void {
    const { selected, bounds, active } = this._state;
    if (selected === null) {
      this.stepEvent(1);
    } else if (selected.count > 1 && Number.isNaN(selected.value)) {
      this._camera.glide(around(selected, bounds), 'fit');
    } else {
      void this.openDetails();
    }
    if (selected === null && this._state.selected === null && active !== null && isHeading(active)) {
      this._tracks.toggleFold();
    }
  }

  /** Choose the next event of the active track, or the one before. */
  stepEvent(by: 1 | -1): void {
    const { active, selected } = this._state;
    if (active === null) {
      return;
    }
    const { target } = this._camera;
    const psPerPixel = lengthOf(target) / Math.max(1, this._stage.width);
    const from = selected?.track === active.id ? selected : null;
    const span = from === null ? target : this._state.bounds;
    const next = neighbour(active.id, from, by, this._state.stretches(active.id, span, psPerPixel));
    if (next === null && this._isLive && !isHeading(active) && !this._state.levels.knows(active.id)) {
      this._events.announce(`Reading ${active.name}…`);
      this._stepOnceKnown = { track: active, by };
      return;
    }
    if (next === null) {
      this._events.announce(from === null ? `No event of ${active.name} in this window.` : 'No more events.');
      return;
    }
    this.select(next);
    this._camera.glide(reaching(target, next, this._state.bounds), 'step');
  }

  /** Go to an event anywhere in the run. */
  go(picked: Picked): void {
    const track = this._state.tracks.get(picked.track);
    if (track === undefined) {
      return;
    }
    this._state.arrangement.reveal(track);
    this._tracks.rearranged();
    this._tracks.activate(track);
    this.select(picked);
    const { target } = this._camera;
    const length = picked.end - picked.start;
    const isSeen = length / (lengthOf(target) / Math.max(1, this._stage.width)) >= SEEN_FROM_PX;
    const near = { start: picked.start - length * ROOM, end: picked.end + length * ROOM };
    this._camera.glide(
      isSeen ? reaching(target, picked, this._state.bounds) : around(near, this._state.bounds),
      'go'
    );
  }

  closeDetails(): void {
    this._panes.closeDetails();
    this._redraw('over');
  }

  private _detailsEvents(): DetailsEvents {
    return {
      close: () => this.closeDetails(),
      zoom: () => this.fit(),
      go: (target) => void this._goTo(target),
      show: (view) => this._choose(view)
    };
  }

  /** Go to an event that another one names; where it is may have to be asked. */
  private async _goTo(target: Summary): Promise<void> {
    const isPlaced = !Number.isNaN(number(target.start_ps));
    const known = isPlaced ? target : await this._panes.lookUp(number(target.track), number(target.event));
    if (known !== null) {
      this.go(pickedFrom(known));
      void this.openDetails();
    }
  }

  /** Choose the op of the event in all views; `view` asks to see it there. */
  private _choose(view?: string): void {
    const [op, program] = [text(this._eventSummary?.op), text(this._eventSummary?.program_id)];
    if (op !== '') {
      this._bond.choose({ op, ...(program === '' ? {} : { program_id: program }) }, view);
    }
    if (view !== undefined && this._stage.node.closest('.jp-XprofExplore') === null) {
      this._events.say('Chosen in all views of this run. profile.explore() opens them all.');
    }
  }

  private _redraw(...layers: Layer[]): void {
    this._stage.invalidate(...layers);
  }
}

function flowsOf(summary: Summary): State['flows'] {
  const list = Array.isArray(summary.flows) ? summary.flows.map(record) : [];
  return list
    .map((flow) => ({
      track: number(flow.track),
      lane: number(flow.lane) || 0,
      start: number(flow.start_ps),
      isIncoming: flow.direction === 'in'
    }))
    .filter((flow) => !Number.isNaN(flow.start));
}
