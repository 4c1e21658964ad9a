/** The tracks of a profile as a tree: hosts, devices and what was recorded of each. */
import { type Columns, numberAt, stringAt } from '../columns';

export interface Track {
  readonly id: number;
  readonly parent: Track | null;
  readonly children: Track[];
  readonly kind: string;
  readonly name: string;
  readonly host: string;
  readonly device: string;
  readonly lanes: number;
  readonly eventCount: number;
  readonly busyPs: number;
  /** Whether its children are out of sight until somebody asks for them. */
  readonly folded: boolean;
  readonly unit: string;
  readonly minimum: number;
  readonly maximum: number;
}

const AREAS = new Set(['utilization', 'counter', 'memory']);

/** Whether a track shows how much over time, rather than what ran when. */
export function isArea(track: Track): boolean {
  return AREAS.has(track.kind);
}

/** Whether a track only holds others. */
export function isHeading(track: Track): boolean {
  return track.lanes === 0 || track.eventCount === 0;
}

export class Tracks {
  readonly all: readonly Track[];
  readonly top: readonly Track[];
  private readonly _byId: ReadonlyMap<number, Track>;

  constructor(table: Columns) {
    const byId = new Map<number, Track>();
    for (let row = 0; row < table.rows; row++) {
      const id = numberAt(table, 'track', row);
      // Preorder: a parent comes before its children, so one that does not is none.
      const parent = byId.get(numberAt(table, 'parent', row)) ?? null;
      if (!byId.has(id)) {
        const track = readTrack(table, row, id, parent);
        byId.set(id, track);
        parent?.children.push(track);
      }
    }
    this._byId = byId;
    this.all = [...byId.values()];
    this.top = this.all.filter((track) => track.parent === null);
  }

  /** The tracks that nothing folded keeps out of sight. */
  get shownByDefault(): Track[] {
    const isShown = (track: Track): boolean =>
      track.parent === null || (!track.parent.folded && isShown(track.parent));
    return this.all.filter(isShown);
  }

  get(id: number): Track | undefined {
    return this._byId.get(id);
  }
}

/** `host › device › name`, without what repeats. */
export function pathOf(track: Track): string {
  const names: string[] = [];
  for (let at: Track | null = track; at !== null; at = at.parent) {
    names.unshift(at.name);
  }
  return names.join(' › ');
}

function readTrack(table: Columns, row: number, id: number, parent: Track | null): Track {
  const numeric = (name: string, otherwise: number) => {
    const value = numberAt(table, name, row);
    return Number.isNaN(value) ? otherwise : value;
  };
  const text = (name: string) => stringAt(table, name, row) ?? '';
  return {
    id,
    parent,
    children: [],
    kind: text('kind'),
    name: text('name') || text('kind') || `track ${id}`,
    host: text('host'),
    device: text('device'),
    lanes: Math.max(0, numeric('lanes', 0)),
    eventCount: Math.max(0, numeric('event_count', 0)),
    busyPs: numeric('busy_ps', Number.NaN),
    folded: numeric('folded', 0) !== 0,
    unit: text('unit'),
    minimum: numeric('minimum', Number.NaN),
    maximum: numeric('maximum', Number.NaN)
  };
}
