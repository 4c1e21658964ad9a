/** What keys do in a grid, as the ARIA practices have it. */
import { hasMarkedText } from '../dom';
import type { Grid } from './grid';

/** Act on a key press in a grid. */
export function gridKey(grid: Grid, event: KeyboardEvent): void {
  const { row, field } = grid.at;
  const isCommand = event.ctrlKey || event.metaKey;
  if (isCommand && event.key.toLowerCase() === 'c') {
    if (!hasMarkedText(grid.table)) {
      grid.copyRow();
      event.preventDefault();
    }
    return;
  }
  if (event.altKey || event.metaKey) {
    return;
  }
  const last = grid.shown.length - 1;
  const moves: Record<string, readonly [number, number]> = {
    ArrowDown: [row + 1, field],
    ArrowUp: [row - 1, field],
    ArrowRight: [row, field + 1],
    ArrowLeft: [row, field - 1],
    PageDown: [row + grid.pageRows, field],
    PageUp: [row - grid.pageRows, field],
    Home: [event.ctrlKey ? 0 : row, 0],
    End: [event.ctrlKey ? last : row, grid.fields.length - 1]
  };
  const to = moves[event.key];
  if (event.key === 'ArrowUp' && row === 0) {
    grid.table.querySelectorAll<HTMLElement>('.jp-XprofGrid-sort')[field]?.focus();
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
