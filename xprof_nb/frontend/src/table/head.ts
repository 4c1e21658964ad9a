/** The head of a grid: names that sort, edges that resize. */
import { h } from '../dom';
import type { Field } from './fields';
import type { Grid } from './grid';

const STEP_PX = 16;

export function drawHead(grid: Grid, head: HTMLElement): void {
  const focused = head.contains(document.activeElement)
    ? (document.activeElement as HTMLElement).dataset.field
    : undefined;
  head.replaceChildren(...grid.fields.map((field, index) => headCell(grid, field, index)));
  if (focused !== undefined) {
    head.querySelector<HTMLElement>(`button[data-field="${CSS.escape(focused)}"]`)?.focus();
  }
}

function headCell(grid: Grid, field: Field, index: number): HTMLElement {
  const isSorted = grid.sort?.field === field.name;
  const direction = grid.sort?.descending ? 'descending' : 'ascending';
  return h(
    'div',
    {
      class: `jp-XprofGrid-cell${field.isText ? '' : ' jp-mod-number'}`,
      attrs: { role: 'columnheader', 'aria-sort': isSorted ? direction : 'none', 'aria-colindex': index + 1 }
    },
    h(
      'button',
      {
        class: 'jp-XprofGrid-sort',
        title: `${field.title}. Click sorts; Shift and the arrow keys make it wider or narrower.`,
        attrs: { type: 'button', tabindex: -1 },
        data: { field: field.name },
        on: {
          click: () => grid.sortBy(field),
          keydown: (event) => headKey(grid, field, event as KeyboardEvent)
        }
      },
      field.label,
      h('span', { attrs: { 'aria-hidden': true } }, isSorted ? (grid.sort?.descending ? ' ▼' : ' ▲') : '')
    ),
    h('span', {
      class: 'jp-XprofGrid-edge',
      attrs: { 'aria-hidden': true },
      on: { pointerdown: (event) => drag(grid, field, event as PointerEvent) }
    })
  );
}

function headKey(grid: Grid, field: Field, event: KeyboardEvent): void {
  const buttons = [...grid.node.querySelectorAll<HTMLElement>('.jp-XprofGrid-sort')];
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (by === undefined) {
    if (event.key === 'ArrowDown') {
      grid.node.focus();
      event.preventDefault();
    }
    event.stopPropagation();
    return;
  }
  event.preventDefault();
  event.stopPropagation();
  if (event.shiftKey) {
    grid.resize(field, grid.widthOf(field) + by * STEP_PX);
  } else {
    buttons[buttons.indexOf(event.currentTarget as HTMLElement) + by]?.focus();
  }
}

function drag(grid: Grid, field: Field, start: PointerEvent): void {
  const edge = start.currentTarget as HTMLElement;
  const width = edge.parentElement?.getBoundingClientRect().width ?? grid.widthOf(field);
  start.preventDefault();
  const move = (event: PointerEvent) => grid.resize(field, width + event.clientX - start.clientX);
  const stop = () => {
    window.removeEventListener('pointermove', move);
    window.removeEventListener('pointerup', stop);
  };
  window.addEventListener('pointermove', move);
  window.addEventListener('pointerup', stop);
}
