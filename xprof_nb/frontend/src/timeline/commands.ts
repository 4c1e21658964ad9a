/** What keys and menus do, in terms of the parts of the view. */
import type { Camera } from './camera';
import type { Choices } from './choices';
import type { Controller } from './controller';
import type { Finder } from './finder';
import type { Actions } from './keyboard';
import type { MenuActions } from './menus';
import type { State } from './state';
import type { TakeOut } from './take_out';
import type { Toolbar } from './toolbar';
import type { TrackControl } from './track_control';
import type { Track } from './tracks';

export interface CommandParts {
  readonly state: State;
  readonly camera: Camera;
  readonly control: Controller;
  readonly choices: Choices;
  readonly tracks: TrackControl;
  readonly finder: Finder;
  readonly toolbar: Toolbar;
  readonly takeOut: TakeOut;
  searchName(name: string): void;
  copy(text: string): void;
  copyTable(): void;
  menuAtSelection(): void;
  back(): void;
  help(): void;
  failed(error: unknown): void;
}

export function keyActions(parts: CommandParts): Actions {
  const { state, camera, control, choices, tracks, finder, toolbar } = parts;
  const active = (run: (track: Track) => void) => {
    if (state.active !== null) {
      run(state.active);
    }
  };
  return {
    zoom: (factor) => control.zoomStep(factor),
    pan: (part) => control.panStep(part),
    fit: () => control.fit(),
    all: () => control.all(),
    track: (by) => tracks.step(by),
    edgeTrack: (by) => tracks.edge(by),
    fold: (folded) => active((track) => tracks.fold(track, folded)),
    toggleFold: () => tracks.toggleFold(),
    moveTrack: (by) => active((track) => tracks.move(track, by)),
    pin: () => active((track) => tracks.togglePin(track)),
    hide: () => active((track) => tracks.hide(track)),
    event: (by) => control.stepEvent(by),
    open: () => control.open(),
    selectScreen: () => choices.selectSpan(camera.target, true),
    search: () => toolbar.search.focus(),
    hit: (by) => void finder.step(by),
    mark: () => choices.mark(choices.markTime),
    focus: (by) => choices.stepFocus(by),
    undo: () => camera.undo(),
    redo: () => camera.redo(),
    copy: () => parts.copyTable(),
    menu: () => parts.menuAtSelection(),
    back: () => parts.back(),
    help: () => parts.help()
  };
}

export function menuActions(parts: CommandParts): MenuActions {
  const { control, choices, tracks, takeOut } = parts;
  return {
    zoomTo: (picked) => control.zoomTo(picked),
    details: (picked) => {
      control.select(picked);
      void control.openDetails();
    },
    searchName: (name) => parts.searchName(name),
    copy: (text) => parts.copy(text),
    markAt: (time) => choices.mark(time),
    selectTrack: (track) => choices.selectTrack(track),
    fold: (track, folded) => tracks.fold(track, folded),
    pin: (track) => tracks.togglePin(track),
    hide: (track) => tracks.hide(track),
    move: (track, by) => tracks.move(track, by),
    showHidden: () => tracks.showHidden(),
    copyTable: () => parts.copyTable(),
    csv: () => takeOut.csv(),
    png: () => void takeOut.png().catch((error: unknown) => parts.failed(error)),
    svg: () => takeOut.svg(),
    python: () => parts.copy(takeOut.python),
    exportPython: (format) => parts.copy(takeOut.exportPython(format)),
    help: () => parts.help()
  };
}
