/** The keys of the tree table, as the ARIA treegrid pattern has them. */
import type { KeyBinding } from '../keys';
import type { Row } from './rows';

/** What the keys act on. */
export interface Actions {
  rows(): readonly Row[];
  /** Index of the row the keyboard is on. */
  at(): number;
  /** Rows in one page. */
  page(): number;
  move(to: number): void;
  toggle(row: Row): void;
  select(row: Row): void;
}

/** The keys that move in a tree and open its rows. */
export function moveBindings(actions: Actions): KeyBinding[] {
  const current = () => actions.rows()[actions.at()];
  return [
    bind(['ArrowDown', 'j'], '↓', 'next row', () => actions.move(actions.at() + 1)),
    bind(['ArrowUp', 'k'], '↑', 'previous row', () => actions.move(actions.at() - 1)),
    bind(['ArrowRight'], '→', 'expand, then go to the first row inside', () => {
      const row = current();
      if (row?.type === 'node' && row.expanded === false) {
        actions.toggle(row);
      } else if (row?.type === 'node' && row.expanded === true) {
        actions.move(actions.at() + 1);
      }
    }),
    bind(['ArrowLeft'], '←', 'collapse, then go to the row around', () => {
      const row = current();
      if (row?.type === 'node' && row.expanded === true) {
        actions.toggle(row);
      } else if (row !== undefined && row.level > 1) {
        actions.move(parentIndex(actions.rows(), actions.at()));
      }
    }),
    bind(['PageDown'], 'Page ↓', 'a page down', () => actions.move(actions.at() + actions.page())),
    bind(['PageUp'], 'Page ↑', 'a page up', () => actions.move(actions.at() - actions.page())),
    bind(['Home'], 'Home', 'first row', () => actions.move(0)),
    bind(['End'], 'End', 'last row', () => actions.move(actions.rows().length - 1)),
    bind([' '], 'Space', 'expand or collapse', () => {
      const row = current();
      if (row !== undefined) {
        actions.toggle(row);
      }
    }),
    bind(['Enter'], 'Enter', 'details of the row', () => {
      const row = current();
      if (row !== undefined) {
        actions.select(row);
      }
    })
  ];
}

function bind(keys: string[], label: string, what: string, run: () => void): KeyBinding {
  return { keys, label, what, run };
}

/** The row that a row is nested in. */
export function parentIndex(rows: readonly Row[], index: number): number {
  const level = rows[index]?.level ?? 1;
  for (let i = index - 1; i >= 0; i--) {
    if ((rows[i]?.level ?? 0) < level) {
      return i;
    }
  }
  return index;
}
