/** The head of a grid: names that sort and change places, edges that resize. */
import { h } from '../dom';
import type { Field } from './fields';
import type { Grid } from './grid';

const STEP_PX = 16;
const KEYS = 'Enter sorts; Shift and the arrow keys resize; Alt and the arrow keys move it';

export function drawHead(grid: Grid, head: HTMLElement): void {
  const focused = head.contains(document.activeElement)
    ? (document.activeElement as HTMLElement).dataset.field
    : undefined;
  head.replaceChildren(...grid.fields.map((field, index) => headCell(grid, field, index)));
  if (focused !== undefined) {
    buttonOf(head, focused)?.focus();
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
        title: `${field.label}: ${field.title}. ${KEYS}.`,
        attrs: { type: 'button', tabindex: -1 },
        data: { field: field.name },
        on: {
          click: () => grid.sortBy(field),
          keydown: (event) => headKey(grid, field, event as KeyboardEvent)
        }
      },
      h('span', { class: 'jp-XprofGrid-label' }, field.label),
      h(
        'span',
        { class: 'jp-XprofGrid-arrow', attrs: { 'aria-hidden': true } },
        isSorted ? (grid.sort?.descending ? '▼' : '▲') : ''
      )
    ),
    h('span', {
      class: 'jp-XprofGrid-edge',
      title: 'Drag to resize; double-click to fit',
      attrs: { 'aria-hidden': true },
      on: {
        pointerdown: (event) => drag(grid, field, event as PointerEvent),
        dblclick: () => grid.resize(field, null)
      }
    })
  );
}

function headKey(grid: Grid, field: Field, event: KeyboardEvent): void {
  const button = event.currentTarget as HTMLElement;
  const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : null;
  if (event.key === 'ArrowDown') {
    grid.moveTo(0, grid.fields.indexOf(field));
    grid.focus();
  } else if (by === null) {
    return;
  } else if (event.shiftKey) {
    grid.resize(field, widthOf(button) + by * STEP_PX);
  } else if (event.altKey) {
    grid.moveColumn(field, by);
  } else {
    const next = grid.fields[grid.fields.indexOf(field) + by];
    buttonOf(grid.table, next?.name ?? '')?.focus();
  }
  event.preventDefault();
  event.stopPropagation();
}

function drag(grid: Grid, field: Field, start: PointerEvent): void {
  const edge = start.currentTarget as HTMLElement;
  const width = widthOf(edge);
  start.preventDefault();
  const move = (event: PointerEvent) => grid.resize(field, width + event.clientX - start.clientX);
  edge.setPointerCapture(start.pointerId);
  edge.addEventListener('pointermove', move);
  edge.addEventListener('lostpointercapture', () => edge.removeEventListener('pointermove', move), {
    once: true
  });
}

/** The width on screen of the column an element of the head belongs to: the first one takes what room is left. */
function widthOf(part: HTMLElement): number {
  return part.parentElement?.getBoundingClientRect().width ?? 0;
}

function buttonOf(el: HTMLElement, field: string): HTMLElement | null {
  return el.querySelector<HTMLElement>(`button[data-field="${CSS.escape(field)}"]`);
}
