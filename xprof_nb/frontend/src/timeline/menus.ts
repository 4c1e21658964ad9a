/** What the menus offer: for the timeline as a whole, for an event, for a track. */
import type { HostKind } from '../host';
import type { MenuItem } from '../shell/popup';
import type { TraceFormat } from './download';
import type { Picked } from './picking';
import type { Track } from './tracks';

export interface MenuActions {
  zoomTo(picked: Picked): void;
  details(picked: Picked): void;
  searchName(name: string): void;
  copy(text: string): void;
  markAt(time: number): void;
  selectTrack(track: Track): void;
  fold(track: Track, folded: boolean): void;
  pin(track: Track): void;
  hide(track: Track): void;
  move(track: Track, by: 1 | -1): void;
  showHidden(): void;
  copyTable(): void;
  csv(): void;
  png(): void;
  svg(): void;
  python(): void;
  trace(format: TraceFormat): void;
  exportPython(format: TraceFormat): void;
  help(): void;
}

export function timelineMenu(actions: MenuActions, host: HostKind): MenuItem[] {
  const table = 'of the selection; of the window when nothing is selected';
  return [
    { label: 'Copy table (TSV)', hint: table, run: () => actions.copyTable() },
    { label: 'Download CSV', hint: table, run: () => actions.csv() },
    { label: 'Download PNG', hint: 'what is on screen', run: () => actions.png() },
    { label: 'Download SVG', hint: 'what is on screen', run: () => actions.svg() },
    ...traceItems(actions, host),
    { label: 'Copy Python for the DataFrame', run: () => actions.python() },
    {
      label: 'Copy Python for a Chrome trace',
      hint: 'a JSON file that chrome://tracing and Perfetto open',
      run: () => actions.exportPython('chrome')
    },
    { label: 'Copy Python for a Perfetto trace', run: () => actions.exportPython('perfetto') },
    { label: 'Show hidden tracks', run: () => actions.showHidden() },
    { label: 'Keys (?)', run: () => actions.help() }
  ];
}

/** The run as a file: of a snapshot what it holds, which both viewers open. */
function traceItems(actions: MenuActions, host: HostKind): MenuItem[] {
  const chrome = 'Download as Chrome trace';
  if (host === 'static') {
    const hint = 'what this snapshot holds; chrome://tracing and Perfetto open it';
    return [{ label: `${chrome} (.json)`, hint, run: () => actions.trace('chrome') }];
  }
  const hint =
    'every event of the selected time; of the run when nothing is selected; at most 10 million events';
  return [
    { label: `${chrome} (.json.gz)`, hint, run: () => actions.trace('chrome') },
    { label: 'Download for Perfetto (.pftrace.gz)', hint, run: () => actions.trace('perfetto') }
  ];
}

export function contextMenu(
  picked: Picked | null,
  track: Track | null,
  time: number | null,
  isPinned: boolean,
  actions: MenuActions
): MenuItem[] {
  const items: MenuItem[] = [];
  if (picked !== null) {
    items.push(
      { label: 'Zoom to it', run: () => actions.zoomTo(picked) },
      { label: 'Details', run: () => actions.details(picked) }
    );
    if (picked.name !== '') {
      items.push(
        { label: 'Search this name', run: () => actions.searchName(picked.name) },
        { label: 'Copy the name', run: () => actions.copy(picked.name) }
      );
    }
  }
  if (time !== null) {
    items.push({ label: 'Put a marker here', run: () => actions.markAt(time) });
  }
  if (track !== null) {
    items.push(...trackItems(track, isPinned, actions));
  }
  items.push({ label: 'Show hidden tracks', run: () => actions.showHidden() });
  return items;
}

function trackItems(track: Track, isPinned: boolean, actions: MenuActions): MenuItem[] {
  const items: MenuItem[] = [{ label: 'Table of this track', run: () => actions.selectTrack(track) }];
  if (track.children.length > 0) {
    items.push(
      { label: 'Fold', run: () => actions.fold(track, true) },
      { label: 'Unfold', run: () => actions.fold(track, false) }
    );
  } else {
    items.push({ label: isPinned ? 'Unpin' : 'Pin to the top', run: () => actions.pin(track) });
  }
  items.push(
    { label: 'Move up', run: () => actions.move(track, -1) },
    { label: 'Move down', run: () => actions.move(track, 1) },
    { label: 'Hide the track', run: () => actions.hide(track) }
  );
  return items;
}
