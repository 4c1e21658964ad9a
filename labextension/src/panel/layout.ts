/** The rows on show and where each of them is. */
import { linesOf } from './row';
import { type Row, rowsOf } from './rows';
import type { RunGroup } from './sort';
import { offsetsOf } from './visible';

/** Above and below the lines of a row, hosts excepted. */
export const PADDING_PX = 8;

export interface Layout {
  readonly rows: readonly Row[];
  readonly keys: readonly string[];
  /** Where each begins, and after them where the last one ends. */
  readonly offsets: readonly number[];
}

export function layOut(groups: readonly RunGroup[], toggled: ReadonlySet<string>, linePx: number): Layout {
  const rows = rowsOf(groups, toggled);
  return {
    rows,
    keys: rows.map(({ key }) => key),
    offsets: offsetsOf(rows.map((row) => linesOf(row) * linePx + (row.kind === 'host' ? 0 : PADDING_PX)))
  };
}
