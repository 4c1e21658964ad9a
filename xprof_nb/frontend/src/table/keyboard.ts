/** What keys do in a grid, as the ARIA practices have it. */
import { copyText } from '../shell/save';
import type { Grid } from './grid';

/** Act on a key press in a grid. */
export function gridKey(grid: Grid, event: KeyboardEvent): void {
  const { row, field } = grid.at;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'c') {
    const text = grid.shown[row] === undefined ? '' : rowText(grid, row);
    void copyText(text);
    event.preventDefault();
    return;
  }
  if (event.altKey || event.metaKey) {
    return;
  }
  const last = grid.shown.length - 1;
  const ends: readonly [number, number] = [grid.fields.length - 1, last];
  const moves: Record<string, readonly [number, number]> = {
    ArrowDown: [row + 1, field],
    ArrowUp: [row - 1, field],
    ArrowRight: [row, field + 1],
    ArrowLeft: [row, field - 1],
    PageDown: [row + grid.pageRows, field],
    PageUp: [row - grid.pageRows, field],
    Home: [event.ctrlKey ? 0 : row, 0],
    End: [event.ctrlKey ? ends[1] : row, ends[0]]
  };
  const to = moves[event.key];
  if (event.key === 'ArrowUp' && row === 0) {
    grid.node.querySelectorAll<HTMLElement>('.jp-XprofGrid-sort')[field]?.focus();
  } else if (to !== undefined) {
    grid.moveTo(...to);
  } else if (event.key === 'Enter' || event.key === ' ') {
    grid.chooseAt();
  } else {
    return;
  }
  event.preventDefault();
  event.stopPropagation();
}

function rowText(grid: Grid, index: number): string {
  const row = grid.shown[index] ?? 0;
  return grid.fields.map((field) => field.value(row) ?? '').join('\t');
}
