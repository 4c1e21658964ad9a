/** How the points of a roofline look: what bounds an op is its colour, the kind of its work its shape. */
import { type Columns, stringAt } from '../columns';
import { KINDS, type Kind, kindOf } from '../kinds';
import type { Point } from './points';

/** What bounds an op: words, and the kind of work whose colour it has. */
export interface Bound {
  readonly id: string;
  readonly label: string;
  /** The kind that moves or computes there; none where nobody knows the bound. */
  readonly colour: string | null;
}

const BOUNDS: readonly Bound[] = [
  { id: 'compute', label: 'compute', colour: 'matrix' },
  { id: 'hbm', label: 'HBM', colour: 'data' },
  { id: 'on_chip', label: 'on-chip memory', colour: 'elementwise' },
  { id: 'link', label: 'links', colour: 'collective' },
  { id: 'host', label: 'host', colour: 'host' },
  { id: 'latency', label: 'latency', colour: 'control' },
  { id: '', label: 'not known', colour: null }
];
const UNKNOWN = BOUNDS[BOUNDS.length - 1] as Bound;

/** The bound of a `bound_by` cell. */
export function boundOf(id: string | null): Bound {
  const known = /^[vc]mem_/.test(id ?? '') ? 'on_chip' : id;
  return BOUNDS.find((bound) => bound.id === known) ?? UNKNOWN;
}

/** The bounds of the ops among some points, in their order. */
export function boundsIn(table: Columns, points: readonly Point[]): Bound[] {
  const found = new Set(opsOf(points).map(({ row }) => boundOf(stringAt(table, 'bound_by', row))));
  return BOUNDS.filter((bound) => found.has(bound));
}

/** A shape: marker of BokehJS, and glyph in a text. */
export interface Shape {
  readonly marker: string;
  readonly glyph: string;
}

// The glyphs are those of kinds everywhere, but a ring is a step here.
const MARKERS: Readonly<Record<string, string>> = {
  matrix: 'square',
  elementwise: 'circle',
  data: 'diamond',
  collective: 'triangle',
  custom: 'star',
  host: 'inverted_triangle'
};
const OTHER: Shape = { marker: 'circle_dot', glyph: '⊙' };

export function shapeOf({ id, shape }: Kind): Shape {
  const marker = MARKERS[id];
  return marker === undefined ? OTHER : { marker, glyph: shape };
}

/** The kinds of work of the ops among some points, in their order. */
export function kindsIn(table: Columns, points: readonly Point[]): Kind[] {
  const found = new Set(opsOf(points).map(({ row }) => kindOf(stringAt(table, 'work_kind', row))));
  return KINDS.filter((kind) => found.has(kind));
}

export const PROGRAM: Shape = { marker: 'diamond_cross', glyph: '❖' };
export const STEP: Shape = { marker: 'circle', glyph: '○' };

function opsOf(points: readonly Point[]): Point[] {
  return points.filter(({ what }) => what === 'op');
}
