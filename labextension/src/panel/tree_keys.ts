/** What the keys of a tree do. */
import { nameOf, type Row } from './rows';

const FORGET_TYPED_MS = 700;

/** Rows that a key opens or closes. */
export interface Toggling {
  readonly toggle: readonly Row[];
}

/** Where a key leads from a row: to the index of another, or to rows to open or close; null when it does neither. */
export function goalOf(
  key: string,
  rows: readonly Row[],
  index: number,
  pageRows: number
): number | Toggling | null {
  const row = rows[index];
  if (row === undefined) {
    return null;
  }
  const last = rows.length - 1;
  switch (key) {
    case 'ArrowDown':
      return Math.min(index + 1, last);
    case 'ArrowUp':
      return Math.max(index - 1, 0);
    case 'PageDown':
      return Math.min(index + pageRows, last);
    case 'PageUp':
      return Math.max(index - pageRows, 0);
    case 'Home':
      return 0;
    case 'End':
      return last;
    case 'ArrowRight':
      return row.expanded === null ? null : row.expanded ? index + 1 : { toggle: [row] };
    case 'ArrowLeft':
      return row.expanded ? { toggle: [row] } : parentOf(rows, row);
    case '*':
      return { toggle: rows.filter((other) => other.parent === row.parent && other.expanded === false) };
    default:
      return null;
  }
}

/** Letters typed one after the other: a name begins with them, or, of one letter again and again, the next name. */
export class TypeAhead {
  private _typed = '';
  private _at = 0;

  /** The index of the row that is meant; null when there is none. */
  type(letter: string, rows: readonly Row[], index: number, nowMs: number): number | null {
    this._typed = (nowMs - this._at > FORGET_TYPED_MS ? '' : this._typed) + letter.toLowerCase();
    this._at = nowMs;
    const isRepeated = [...this._typed].every((each) => each === this._typed[0]);
    const wanted = isRepeated ? letter.toLowerCase() : this._typed;
    const first = isRepeated ? index + 1 : index;
    for (let step = 0; step < rows.length; step++) {
      const candidate = (first + step) % rows.length;
      const row = rows[candidate];
      if (row !== undefined && nameOf(row).toLowerCase().startsWith(wanted)) {
        return candidate;
      }
    }
    return null;
  }
}

function parentOf(rows: readonly Row[], row: Row): number | null {
  const index = rows.findIndex(({ key }) => key === row.parent);
  return index < 0 ? null : index;
}
