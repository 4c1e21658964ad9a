/** How a tree of ops stands, as JSON: its order, and which rows are open. */
import type { Json } from '../columns';
import type { Summary } from '../host';
import { record, text } from '../payload';
import type { Sort } from './rows';
import { LABELS, MEASURES } from './tree';

/** An address has no room for more. */
const MOST_KEYS = 300;

export function keptTree(sort: Sort, expanded: ReadonlySet<string>): Summary {
  return { sort: { ...sort }, expanded: [...expanded].slice(-MOST_KEYS) };
}

/** An order that was kept; null when it is none. */
export function sortFrom(value: Json | undefined): Sort | null {
  const { by, descending } = record(value);
  const known = [...MEASURES, ...LABELS].find((name) => name === text(by));
  return known === undefined ? null : { by: known, descending: descending === true };
}
