/** Which rows are chosen, and which one has the keyboard. */

export interface Selection {
  /** The row that keys act on; null before there is any row. */
  readonly active: string | null;
  /** Where a range begins. */
  readonly anchor: string | null;
  readonly chosen: ReadonlySet<string>;
}

export const NOTHING: Selection = { active: null, anchor: null, chosen: new Set() };

export function only(key: string): Selection {
  return { active: key, anchor: key, chosen: new Set([key]) };
}

/** Choose a row beside the others, or no longer. */
export function toggled({ chosen }: Selection, key: string): Selection {
  const next = new Set(chosen);
  if (!next.delete(key)) {
    next.add(key);
  }
  return { active: key, anchor: key, chosen: next };
}

/** Go to a row and leave what is chosen. */
export function moved(selection: Selection, key: string): Selection {
  return { ...selection, active: key };
}

/** Choose everything from the anchor to a row. */
export function extended({ anchor, active }: Selection, keys: readonly string[], key: string): Selection {
  const from = anchor ?? active ?? key;
  const [start, end] = [keys.indexOf(from), keys.indexOf(key)].sort((a, b) => a - b);
  if (start === undefined || end === undefined || start < 0) {
    return only(key);
  }
  return { active: key, anchor: from, chosen: new Set(keys.slice(start, end + 1)) };
}

/** What is left of a selection in other rows; where the active row is gone, the one in its place becomes it. */
export function kept(selection: Selection, before: readonly string[], now: readonly string[]): Selection {
  const there = new Set(now);
  const chosen = new Set([...selection.chosen].filter((key) => there.has(key)));
  const anchor = selection.anchor !== null && there.has(selection.anchor) ? selection.anchor : null;
  if (selection.active !== null && there.has(selection.active)) {
    return { active: selection.active, anchor, chosen };
  }
  const index = selection.active === null ? 0 : before.indexOf(selection.active);
  const active = now[Math.max(0, Math.min(index, now.length - 1))] ?? null;
  const isEmptied = selection.chosen.size > 0 && chosen.size === 0;
  return { active, anchor, chosen: isEmptied && active !== null ? new Set([active]) : chosen };
}
