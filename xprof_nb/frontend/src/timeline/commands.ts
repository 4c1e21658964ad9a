/** What keys and menus do, in terms of the parts of the view. */
import type { Choices } from './choices';
import type { Controller } from './controller';
import type { Actions } from './keyboard';
import type { MarkerEvents } from './marker_pane';
import type { MarkerStore } from './marker_store';
import type { Markers } from './markers';
import type { MenuActions } from './menus';
import type { Messages } from './messages';
import type { StandingParts } from './standing';
import type { TakeOut } from './take_out';
import type { Track } from './tracks';

export interface CommandParts extends StandingParts {
  readonly takeOut: TakeOut;
  readonly messages: Messages;
  searchName(name: string): void;
  menuAtSelection(): void;
  back(): void;
  help(): void;
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
    copy: () => parts.messages.copy(parts.takeOut.table),
    menu: () => parts.menuAtSelection(),
    back: () => parts.back(),
    help: () => parts.help()
  };
}

export function menuActions(parts: CommandParts): MenuActions {
  const { control, choices, tracks, takeOut, messages } = parts;
  return {
    zoomTo: (picked) => control.zoomTo(picked),
    details: (picked) => {
      control.select(picked);
      void control.openDetails();
    },
    searchName: (name) => parts.searchName(name),
    copy: (text) => messages.copy(text),
    markAt: (time) => choices.mark(time),
    selectTrack: (track) => choices.selectTrack(track),
    fold: (track, folded) => tracks.fold(track, folded),
    pin: (track) => tracks.togglePin(track),
    hide: (track) => tracks.hide(track),
    move: (track, by) => tracks.move(track, by),
    showHidden: () => tracks.showHidden(),
    copyTable: () => messages.copy(takeOut.table),
    csv: () => takeOut.csv(),
    png: () => void takeOut.png().catch((error: unknown) => messages.fail(error)),
    svg: () => takeOut.svg(),
    python: () => messages.copy(takeOut.python),
    trace: (format) => void takeOut.trace(format),
    exportPython: (format) => messages.copy(takeOut.exportPython(format)),
    help: () => parts.help()
  };
}

export function markerEvents(
  markers: Markers,
  store: MarkerStore,
  control: Controller,
  choices: Choices
): MarkerEvents {
  const change = (apply: () => void) => {
    apply();
    void store.save();
  };
  return {
    go: ({ time }) => control.goToTime(time),
    rename: (id, name) => change(() => markers.change(id, { name })),
    colour: (id, colour) => change(() => markers.change(id, { colour })),
    remove: (id) => change(() => markers.remove(id)),
    focus: (span) => choices.focus(span)
  };
}
