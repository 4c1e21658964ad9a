/** How the timeline stands, as JSON: the window, the tracks, what is searched for, chosen, focused on and marked. */
import type { Json } from '../columns';
import type { Summary, ViewState } from '../host';
import { number, record, text } from '../payload';
import type { Stateful } from '../shell/state';
import type { Arranged } from './arrangement';
import type { Bond } from './bond';
import type { Camera } from './camera';
import type { Choices } from './choices';
import type { Controller } from './controller';
import type { Finder } from './finder';
import type { MarkerStore } from './marker_store';
import type { Panes } from './panes';
import { entryOf, pickedFrom } from './picking';
import type { Span } from './span';
import type { State } from './state';
import type { Toolbar } from './toolbar';
import type { TrackControl } from './track_control';

/** What the standing is read from and written to. */
export interface StandingParts {
  readonly state: State;
  readonly camera: Camera;
  readonly control: Controller;
  readonly choices: Choices;
  readonly tracks: TrackControl;
  readonly finder: Finder;
  readonly toolbar: Toolbar;
  readonly panes: Panes;
  readonly store: MarkerStore;
  readonly bond: Bond;
}

export class Standing implements Stateful {
  constructor(private readonly _parts: StandingParts) {}

  read(): ViewState {
    const { state, camera, finder, toolbar, panes, store, bond } = this._parts;
    const { area, focus, selected } = state;
    return {
      shown: {
        window: entryOfSpan(camera.target),
        tracks: { ...state.arrangement.kept },
        filter: toolbar.tracks.value,
        search: finder.text,
        event: selected === null ? null : entryOf(selected),
        has_details: panes.hasDetails,
        selection: area === null ? null : { ...entryOfSpan(area.span), tracks: area.tracks },
        focus: focus === null ? null : entryOfSpan(focus),
        known: bond.known
      },
      made: store.made
    };
  }

  write({ shown, made }: ViewState): void {
    const { state, camera, control, choices, tracks, finder, toolbar, store, bond } = this._parts;
    bond.known = record(shown.known);
    if (shown.tracks !== undefined) {
      state.arrangement.restore(arrangedFrom(shown.tracks));
    }
    toolbar.tracks.value = text(shown.filter);
    tracks.filter(toolbar.tracks.value);
    const window = spanFrom(shown.window);
    if (window !== null) {
      camera.begin(window);
    }
    toolbar.search.value = text(shown.search);
    finder.search(toolbar.search.value);
    const picked = pickedFrom(record(shown.event));
    const isKnown = state.tracks.get(picked.track) !== undefined && picked.end >= picked.start;
    control.select(isKnown ? picked : null);
    if (isKnown && shown.has_details === true) {
      void control.openDetails();
    }
    const known = numbers(record(shown.selection).tracks).filter((id) => state.tracks.get(id) !== undefined);
    choices.restore(spanFrom(shown.focus), spanFrom(shown.selection), known);
    store.adopt(made);
  }
}

function entryOfSpan({ start, end }: Span): Summary {
  return { start_ps: start, end_ps: end };
}

function spanFrom(value: Json | undefined): Span | null {
  const { start_ps, end_ps } = record(value);
  const [start, end] = [number(start_ps), number(end_ps)];
  return end > start && Number.isFinite(end - start) ? { start, end } : null;
}

function arrangedFrom(value: Json | undefined): Arranged {
  const { folded, unfolded, hidden, pinned, order } = record(value);
  return {
    folded: numbers(folded),
    unfolded: numbers(unfolded),
    hidden: numbers(hidden),
    pinned: numbers(pinned),
    order: Array.isArray(order) ? order.map(numbers) : []
  };
}

function numbers(value: Json | undefined): number[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'number') : [];
}
