/** Which tracks are shown and in which order: what a person has folded, pinned, hidden, moved and filtered. */
import type { Track, Tracks } from './tracks';

/** One shown track. */
export interface Row {
  readonly track: Track;
  readonly level: number;
  /** Null when there is nothing to fold. */
  readonly isFolded: boolean | null;
  readonly isPinned: boolean;
  readonly position: number;
  readonly setSize: number;
}

/** What a person has made of the tracks, by their ids. */
export interface Arranged {
  /** Those that were open at first. */
  readonly folded: readonly number[];
  /** Those that were folded at first. */
  readonly unfolded: readonly number[];
  readonly hidden: readonly number[];
  readonly pinned: readonly number[];
  /** Siblings that were moved, in their order. */
  readonly order: readonly (readonly number[])[];
}

export class Arrangement {
  private readonly _folded = new Set<number>();
  private readonly _hidden = new Set<number>();
  private readonly _pinned: number[] = [];
  private readonly _order = new Map<Track | null, Track[]>();
  private _filter: RegExp | null = null;
  private _only: ((track: Track) => boolean) | null = null;

  constructor(private readonly _tracks: Tracks) {
    this._foldAsAtFirst();
  }

  /** The shown tracks: the pinned ones, then the others as a tree. */
  rows(): Row[] {
    const filter = this._filter;
    const matching = filter === null ? null : this._around((track) => filter.test(track.name));
    const narrowed = this._only === null ? null : this._around(this._only);
    const isWanted = (track: Track) =>
      !this._isAway(track) && (matching?.has(track) ?? true) && (narrowed?.has(track) ?? true);
    const rows: Row[] = this._pinned
      .map((id) => this._tracks.get(id))
      .filter((track) => track !== undefined)
      .map((track, index) => ({
        track,
        level: 1,
        isFolded: null,
        isPinned: true,
        position: index + 1,
        setSize: this._pinned.length
      }));
    const add = (siblings: readonly Track[], level: number) => {
      const shown = siblings.filter(isWanted);
      shown.forEach((track, index) => {
        const isOpened = track.children.length > 0 && matching !== null;
        const isFolded = isFoldable(track) ? !isOpened && this._folded.has(track.id) : null;
        rows.push({ track, level, isFolded, isPinned: false, position: index + 1, setSize: shown.length });
        if (isFolded !== true) {
          add(this._children(track), level + 1);
        }
      });
    };
    add(this._children(null), 1);
    return rows;
  }

  get hiddenCount(): number {
    return this._hidden.size;
  }

  get kept(): Arranged {
    const ids = (tracks: readonly Track[]) => tracks.map((track) => track.id);
    return {
      folded: [...this._folded].filter((id) => this._tracks.get(id)?.folded === false),
      unfolded: ids(this._tracks.all.filter((track) => track.folded && !this._folded.has(track.id))),
      hidden: [...this._hidden],
      pinned: [...this._pinned],
      order: [...this._order.values()].map(ids)
    };
  }

  /** Arrange the tracks as they were kept; ids that are none of this run are left out. */
  restore({ folded, unfolded, hidden, pinned, order }: Arranged): void {
    const known = (ids: readonly number[]) =>
      ids.map((id) => this._tracks.get(id)).filter((track) => track !== undefined);
    this.showHidden();
    this._pinned.length = 0;
    this._order.clear();
    this._foldAsAtFirst();
    const each = (ids: readonly number[], apply: (track: Track) => void) => {
      for (const track of known(ids)) {
        apply(track);
      }
    };
    each(folded, (track) => this.fold(track, true));
    each(unfolded, (track) => this.fold(track, false));
    each(hidden, (track) => this.hide(track));
    each(pinned, (track) => this.pin(track));
    for (const siblings of order.map(known)) {
      for (let i = 1; i < siblings.length; i++) {
        this.place(siblings[i] as Track, siblings[i - 1] as Track, true);
      }
    }
  }

  /** Show only tracks whose name, or that of a track around them, matches; an expression that is none matches as text. */
  filter(text: string): void {
    this._filter = text.trim() === '' ? null : expression(text.trim());
  }

  /** Show only some tracks, and those around them; null for all. */
  narrow(only: ((track: Track) => boolean) | null): void {
    this._only = only;
  }

  fold(track: Track, folded: boolean): void {
    if (folded) {
      this._folded.add(track.id);
    } else {
      this._folded.delete(track.id);
    }
  }

  /** Unfold and unhide all that keeps a track out of sight. */
  reveal(track: Track): void {
    for (let at: Track | null = track; at !== null; at = at.parent) {
      this._hidden.delete(at.id);
      this._folded.delete(at.id);
    }
    const filter = this._filter;
    if (filter !== null && !this._around(({ name }) => filter.test(name)).has(track)) {
      this._filter = null;
    }
    if (this._only !== null && !this._around(this._only).has(track)) {
      this._only = null;
    }
  }

  pin(track: Track): void {
    if (!this._pinned.includes(track.id)) {
      this._pinned.push(track.id);
    }
  }

  unpin(track: Track): void {
    const at = this._pinned.indexOf(track.id);
    if (at >= 0) {
      this._pinned.splice(at, 1);
    }
  }

  hide(track: Track): void {
    this._hidden.add(track.id);
    this.unpin(track);
  }

  showHidden(): void {
    this._hidden.clear();
  }

  /** Move a track among its siblings, past those that are out of sight too; returns whether it could. */
  move(track: Track, by: 1 | -1): boolean {
    const siblings = this._children(track.parent);
    const shown = siblings.filter((sibling) => !this._isAway(sibling));
    const neighbour = shown[shown.indexOf(track) + by];
    if (neighbour === undefined) {
      return false;
    }
    this.place(track, neighbour, by === 1);
    return true;
  }

  /** Put a track before or after one of its siblings. */
  place(track: Track, beside: Track, isAfter: boolean): void {
    if (track === beside || track.parent !== beside.parent) {
      return;
    }
    const others = this._children(track.parent).filter((sibling) => sibling !== track);
    others.splice(others.indexOf(beside) + (isAfter ? 1 : 0), 0, track);
    this._order.set(track.parent, others);
  }

  private _foldAsAtFirst(): void {
    this._folded.clear();
    for (const track of this._tracks.all.filter(({ folded }) => folded)) {
      this._folded.add(track.id);
    }
  }

  private _children(parent: Track | null): readonly Track[] {
    return this._order.get(parent) ?? parent?.children ?? this._tracks.top;
  }

  private _isAway(track: Track): boolean {
    return this._hidden.has(track.id) || this._pinned.includes(track.id);
  }

  /** The tracks of which something is true, with what they hold and what holds them. */
  private _around(isMeant: (track: Track) => boolean): Set<Track> {
    const found = new Set<Track>();
    for (const track of this._tracks.all) {
      if (!found.has(track) && isMeant(track)) {
        addAll(track, found);
        for (let at = track.parent; at !== null; at = at.parent) {
          found.add(at);
        }
      }
    }
    return found;
  }
}

/** Whether folding a track makes room: one lane takes no more than its name does. */
function isFoldable(track: Track): boolean {
  return track.children.length > 0 || track.folded || track.lanes > 1;
}

function addAll(track: Track, found: Set<Track>): void {
  found.add(track);
  for (const child of track.children) {
    addAll(child, found);
  }
}

/** A regular expression; what is none is looked for as it is written. */
export function expression(text: string, flags: 'i' | '' = 'i'): RegExp {
  try {
    return new RegExp(text, flags);
  } catch {
    return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), flags);
  }
}
