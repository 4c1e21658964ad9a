/** What a person does with the list of tracks: walk it, fold, pin, hide, move. */
import type { Stage } from './stage';
import type { State } from './state';
import type { Track } from './tracks';

export interface TrackEvents {
  /** The tracks have other places. */
  arranged(): void;
  announce(text: string): void;
  say(text: string): void;
}

export class TrackControl {
  constructor(
    private readonly _state: State,
    private readonly _stage: Stage,
    private readonly _events: TrackEvents
  ) {}

  activate(track: Track): void {
    this._state.active = track;
    const place = this._state.layout.find(track.id);
    if (place !== undefined) {
      const { scrollTop, height } = this._stage;
      this._stage.scrollTop = this._state.layout.scrollTo(place, scrollTop, height);
    }
    this._stage.invalidate('tracks', 'over', 'names');
  }

  step(by: 1 | -1): void {
    const { shown, active } = this._state;
    const next = active === null ? shown[0] : shown[shown.indexOf(active) + by];
    if (next !== undefined) {
      this.activate(next);
      this._events.announce(next.name);
    }
  }

  edge(by: 1 | -1): void {
    const track = by === -1 ? this._state.shown[0] : this._state.shown.at(-1);
    if (track !== undefined) {
      this.activate(track);
    }
  }

  fold(track: Track, folded: boolean): void {
    if (track.children.length > 0) {
      this._state.arrangement.fold(track, folded);
      this.rearranged();
    }
  }

  toggleFold(): void {
    const { active, layout } = this._state;
    const row = active === null ? undefined : layout.find(active.id)?.row;
    if (row !== undefined && row.isFolded !== null) {
      this.fold(row.track, !row.isFolded);
    }
  }

  togglePin(track: Track): void {
    if (track.children.length > 0) {
      this._events.say('Only a track of its own can be pinned, not one that holds others.');
      return;
    }
    const isPinned = this._state.layout.find(track.id)?.row.isPinned === true;
    if (isPinned) {
      this._state.arrangement.unpin(track);
    } else {
      this._state.arrangement.pin(track);
    }
    this.rearranged();
  }

  hide(track: Track): void {
    this._state.arrangement.hide(track);
    this.rearranged();
    this._events.say(`${track.name} is hidden; the menu shows it again.`);
  }

  showHidden(): void {
    this._state.arrangement.showHidden();
    this.rearranged();
  }

  move(track: Track, by: 1 | -1): void {
    if (this._state.arrangement.move(track, by)) {
      this.rearranged();
      this.activate(track);
    }
  }

  /** Put a track beside one of its siblings. */
  place(track: Track, beside: Track, isAfter: boolean): void {
    this._state.arrangement.place(track, beside, isAfter);
    this.rearranged();
  }

  filter(text: string): void {
    this._state.arrangement.filter(text);
    this.rearranged();
  }

  rearranged(): void {
    this._state.arrange();
    this._events.arranged();
    this._stage.contentHeight = this._state.layout.height;
    this._stage.invalidate('tracks', 'over', 'names');
  }
}
