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
  /** As far as known: a track that nobody has looked at yet is laid out with its first answer. */
  lanes: number;
  readonly eventCount: number;
  readonly busyPs: number;
  /** Whether what it holds, its children or its own events, is out of sight until somebody asks for it. */
  readonly folded: boolean;
  readonly unit: string;
  /** The least and the most, as far as known. */
  minimum: number;
  maximum: number;
}

const AREAS = new Set(['utilization', 'counter', 'memory']);

/** Whether a track shows how much over time, rather than what ran when. */
export function isArea(track: Track): boolean {
  return AREAS.has(track.kind);
}

/** Whether a track only holds others. */
export function isHeading(track: Track): boolean {
  return track.lanes === 0;
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

  /** The tracks that are open at first. */
  get openByDefault(): Track[] {
    const isOpen = (track: Track): boolean =>
      !track.folded && (track.parent === null || isOpen(track.parent));
    return this.all.filter(isOpen);
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
    eventCount: numeric('event_count', Number.NaN),
    busyPs: numeric('busy_ps', Number.NaN),
    folded: numeric('folded', 0) !== 0,
    unit: text('unit'),
    minimum: numeric('minimum', Number.NaN),
    maximum: numeric('maximum', Number.NaN)
  };
}
