/** The keys of the timeline: one table says what each does, and is what `?` lists. */
import type { KeyBinding } from '../keys';

/** What the keys act on. */
export interface Actions {
  zoom(factor: number): void;
  /** Part of the window to move by: positive is later. */
  pan(part: number): void;
  fit(): void;
  all(): void;
  /** Another track. */
  track(by: 1 | -1): void;
  edgeTrack(by: 1 | -1): void;
  fold(folded: boolean): void;
  toggleFold(): void;
  moveTrack(by: 1 | -1): void;
  pin(): void;
  hide(): void;
  /** Another event of the track. */
  event(by: 1 | -1): void;
  open(): void;
  selectScreen(): void;
  search(): void;
  hit(by: 1 | -1): void;
  mark(): void;
  focus(by: 1 | -1): void;
  undo(): void;
  redo(): void;
  copy(): void;
  menu(): void;
  back(): void;
  help(): void;
}

const CLOSER = 0.7;
const PAN = 0.2;

/** The keys, while the names of the tracks have the focus (`inTree`) or not. */
export function keyBindings(actions: Actions, inTree: () => boolean): KeyBinding[] {
  const bind = (
    keys: string[],
    label: string,
    what: string,
    run: (event: KeyboardEvent) => void
  ): KeyBinding => ({
    keys,
    label,
    what,
    run
  });
  const sideways = (by: 1 | -1) => (event: KeyboardEvent) => {
    if (event.shiftKey) {
      actions.event(by);
    } else if (inTree()) {
      actions.fold(by === -1);
    } else {
      actions.pan(by * PAN);
    }
  };
  const updown = (by: 1 | -1) => (event: KeyboardEvent) =>
    event.shiftKey ? actions.moveTrack(by) : actions.track(by);
  return [
    bind(['w', '+', '='], 'w  +', 'zoom in', () => actions.zoom(CLOSER)),
    bind(['s', '-'], 's  −', 'zoom out', () => actions.zoom(1 / CLOSER)),
    bind(['ArrowLeft'], '←', 'earlier; on the track names fold', sideways(-1)),
    bind(['ArrowRight'], '→', 'later; on the track names unfold', sideways(1)),
    bind(['a'], 'a', 'earlier', () => actions.pan(-PAN)),
    bind(['d'], 'd', 'later', () => actions.pan(PAN)),
    bind(['ArrowUp'], '↑', 'previous track; with Shift move the track up', updown(-1)),
    bind(['ArrowDown'], '↓', 'next track; with Shift move the track down', updown(1)),
    bind(['Home'], 'Home', 'first track', () => actions.edgeTrack(-1)),
    bind(['End'], 'End', 'last track', () => actions.edgeTrack(1)),
    bind([' '], 'Space', 'fold or unfold the track', () => actions.toggleFold()),
    bind([',', '<'], ',  Shift ←', 'previous event of the track', () => actions.event(-1)),
    bind(['.', '>'], '.  Shift →', 'next event of the track', () => actions.event(1)),
    bind(['Enter'], 'Enter', 'details of the event; several drawn as one: zoom in', () => actions.open()),
    bind(['f'], 'f', 'zoom to the selection', () => actions.fit()),
    bind(['0'], '0', 'show the whole run', () => actions.all()),
    bind(['x'], 'x', 'select what is on screen: a table of it', () => actions.selectScreen()),
    bind(['/'], '/', 'search the whole run', () => actions.search()),
    bind(['n'], 'n', 'next hit', () => actions.hit(1)),
    bind(['N'], 'N', 'previous hit', () => actions.hit(-1)),
    bind(['m'], 'm', 'put a marker at the pointer, or at the event', () => actions.mark()),
    bind(['['], '[', 'focus on the stretch between the previous two markers', () => actions.focus(-1)),
    bind([']'], ']', 'focus on the stretch between the next two markers', () => actions.focus(1)),
    bind(['p'], 'p', 'pin or unpin the track', () => actions.pin()),
    bind(['h'], 'h', 'hide the track', () => actions.hide()),
    bind(['u'], 'u', 'undo the last move', () => actions.undo()),
    bind(['U'], 'U', 'redo it', () => actions.redo()),
    bind(['c'], 'c', 'copy the selection (TSV)', () => actions.copy()),
    bind(['ContextMenu'], 'Menu', 'menu of the event or track', () => actions.menu()),
    bind(['Escape'], 'Esc', 'step back: close, clear the selection, leave the focus', () => actions.back()),
    bind(['?'], '?', 'this list', () => actions.help())
  ];
}
