/** What the menu of an answer offers, and the keys of its table. */
import type { Params, Run } from '../host';
import type { KeyBinding } from '../keys';
import type { Grid } from '../table/grid';
import type { MenuItem } from './menu';
import { downloadText, fileName } from './save';

export interface MenuNeeds {
  readonly run: Run;
  readonly label: string;
  readonly grid: Grid;
  copy(text: string): void;
  python(): string;
  help(): void;
}

export function answerMenu({ run, label, grid, copy, python, help }: MenuNeeds): MenuItem[] {
  const rows = 'the rows shown, full precision';
  const name = fileName(`${run.name} ${label}`, 'csv');
  return [
    { label: 'Copy table (TSV)', hint: rows, run: () => copy(grid.tsv) },
    { label: 'Download CSV', hint: rows, run: () => downloadText(name, grid.csv, 'text/csv') },
    { label: 'Copy Python for the DataFrame', run: () => copy(python()) },
    { label: 'Keys (?)', run: help }
  ];
}

/** The lines of Python that ask a question of a run. */
export function pythonOf({ path }: Run, question: string, params: Params): string {
  const given = Object.entries(params)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `, ${name}=${JSON.stringify(value)}`);
  return `import xprof_nb\nxprof_nb.open(${JSON.stringify(path)}).ask("${question}"${given.join('')}).frame`;
}

const told = (label: string, what: string): KeyBinding => ({ keys: [], label, what, run: () => {} });

/** What keys do in a plain table, for the list of keys. */
export const GRID_KEYS: readonly KeyBinding[] = [
  told('← ↑ → ↓', 'move in the table; ↑ from its first row goes to the heads'),
  told('Shift ← →', 'on a head: make the column narrower or wider'),
  told('Alt ← →', 'on a head: move the column'),
  told('Enter', 'choose a row: the other views of the run follow'),
  told('Ctrl C', 'copy the row')
];
