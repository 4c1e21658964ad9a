/** The menu at the pointer, or at the chosen event: what can be done with an event and its track. */
import { Popup } from '../shell/popup';
import { contextMenu, type MenuActions } from './menus';
import type { Painter } from './painter';
import type { Picked } from './picking';
import type { Stage } from './stage';
import type { State } from './state';
import type { Track } from './tracks';

/** What the menu is about. */
export interface Subject {
  readonly picked: Picked | null;
  readonly track: Track | null;
  /** The moment at the pointer; null beside the canvas. */
  readonly time: number | null;
}

export class ContextMenu {
  private readonly _popup: Popup;

  constructor(
    private readonly _state: State,
    private readonly _stage: Stage,
    private readonly _painter: Painter
  ) {
    this._popup = new Popup((byKeyboard) => byKeyboard && _stage.area.focus());
  }

  get node(): HTMLElement {
    return this._popup.node;
  }

  open({ picked, track, time }: Subject, actions: MenuActions, x: number, y: number): void {
    const isPinned = track !== null && this._state.layout.find(track.id)?.row.isPinned === true;
    const items = contextMenu(picked, track, time, isPinned, actions);
    this._popup.open(items, { left: x, right: x, top: y, bottom: y }, 'left');
  }

  /** Open it without a pointer. */
  openAtSelection(actions: MenuActions): void {
    const { selected, active, tracks, layout } = this._state;
    const track = selected === null ? active : (tracks.get(selected.track) ?? null);
    const { left, top } = this._stage.area.getBoundingClientRect();
    const x = selected === null ? 0 : Math.max(0, this._painter.scale.x(selected.start));
    const place = track === null ? undefined : layout.find(track.id);
    const y = place === undefined ? 0 : Math.max(0, place.top - this._stage.scrollTop);
    this.open({ picked: selected, track, time: selected?.start ?? null }, actions, left + x, top + y);
  }

  dispose(): void {
    this._popup.close(false);
  }
}
