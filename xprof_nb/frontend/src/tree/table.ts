/** The tree table on screen: a virtualised treegrid. It knows rows and columns, not where they come from. */
import { h, hasMarkedText } from '../dom';
import { count } from '../format';
import { lowerEdge } from '../shell/lower_edge';
import { drawCell } from './cells';
import { type Field, fittingFields, gridTemplate, type Layout } from './fields';
import type { MoreRow, NodeRow, Row, Sort } from './rows';
import type { Label, Measure } from './tree';

export const ROW_HEIGHT = 24;
const OVERSCAN = 8;
const LEAST_HEIGHT_PX = 4 * ROW_HEIGHT;
const MOST_HEIGHT_PX = 4000;
// A view that is not laid out yet (hidden, or in a test) is drawn as if it had all the room.
const ROWS_WITHOUT_LAYOUT = 40;
const WIDTH_WITHOUT_LAYOUT = 2500;

export interface TableEvents {
  sort(field: Field): void;
  /** Make a row the one the keyboard acts on, and show its details. */
  select(row: Row): void;
  toggle(row: Row): void;
}

/** What the table shows now. */
export interface TableState {
  readonly rows: readonly Row[];
  readonly sort: Sort;
  readonly terms: readonly string[];
  readonly active: string | null;
  readonly selected: string | null;
  /** What a row of rows not loaded says. */
  readonly moreText: string;
  /** What stands where there is no row. */
  readonly noRows: string;
  /** What no row has a value of. */
  readonly unknown: ReadonlySet<Measure | Label>;
}

let tables = 0;

export class TreeTable {
  /** The table and the edge that makes it taller. */
  readonly node: HTMLElement;
  /** The table itself, which the keyboard walks. */
  readonly table: HTMLElement;
  private readonly _prefix = `xprof-row-${tables++}-`;
  private readonly _head = h('div', {
    class: 'jp-XprofTree-head',
    attrs: { role: 'row', 'aria-rowindex': 1 }
  });
  private readonly _body = h('div', { class: 'jp-XprofTree-body', attrs: { role: 'rowgroup' } });
  private readonly _observer: ResizeObserver;
  private _fields: Field[] = [];
  private _state: TableState | null = null;

  constructor(
    label: string,
    private readonly _layout: Layout,
    private readonly _events: TableEvents
  ) {
    this.table = h(
      'div',
      { class: 'jp-XprofTree-table', attrs: { role: 'treegrid', 'aria-label': label, tabindex: 0 } },
      h('div', { attrs: { role: 'rowgroup' } }, this._head),
      this._body
    );
    const edge = lowerEdge({
      label: `Height of the table ${label}`,
      least: LEAST_HEIGHT_PX,
      most: MOST_HEIGHT_PX,
      height: () => this.table.offsetHeight,
      resize: (height) => {
        this.table.style.height = `${height}px`;
      }
    });
    this.node = h('div', { class: 'jp-XprofTree-frame' }, this.table, edge);
    this.table.addEventListener('scroll', () => this._drawRows());
    this._body.addEventListener('click', (event) => this._clicked(event));
    this._observer = new ResizeObserver(() => this._fit());
    this._observer.observe(this.table);
  }

  focus(): void {
    this.table.focus();
  }

  dispose(): void {
    this._observer.disconnect();
  }

  get fields(): readonly Field[] {
    return this._fields;
  }

  /** How many whole rows fit into the table now. */
  get pageRows(): number {
    return Math.max(1, Math.floor(this.table.clientHeight / ROW_HEIGHT) - 1);
  }

  update(state: TableState): void {
    this._state = state;
    this._fields = fittingFields(this._layout, this._width(), state.unknown);
    this._drawHead();
    this._drawRows();
  }

  /** Scroll as little as needed to bring a row into view. */
  reveal(id: string): void {
    const index = this._state?.rows.findIndex((row) => row.id === id) ?? -1;
    if (index < 0) {
      return;
    }
    const top = index * ROW_HEIGHT;
    const bottom = top + 2 * ROW_HEIGHT;
    if (top < this.table.scrollTop) {
      this.table.scrollTop = top;
    } else if (bottom > this.table.scrollTop + this.table.clientHeight) {
      this.table.scrollTop = bottom - this.table.clientHeight;
    }
    this._drawRows();
  }

  /** The row an element belongs to. */
  rowOf(target: Element): Row | undefined {
    const index = Number(target.closest<HTMLElement>('.jp-XprofTree-row')?.dataset.index ?? Number.NaN);
    return this._state?.rows[index];
  }

  private _width(): number {
    return this.table.clientWidth || WIDTH_WITHOUT_LAYOUT;
  }

  private _fit(): void {
    const fields = fittingFields(this._layout, this._width(), this._state?.unknown);
    const changed = gridTemplate(fields) !== gridTemplate(this._fields);
    this._fields = fields;
    if (changed) {
      this._drawHead();
    }
    this._drawRows();
  }

  private _drawHead(): void {
    if (this._state === null) {
      return;
    }
    const { sort } = this._state;
    this.table.style.setProperty('--xprof-columns', gridTemplate(this._fields));
    this.table.setAttribute('aria-colcount', String(this._fields.length));
    const focused = this._head.contains(document.activeElement)
      ? (document.activeElement as HTMLElement).dataset.field
      : undefined;
    this._head.replaceChildren(...this._fields.map((field) => this._headCell(field, sort)));
    if (focused !== undefined) {
      this._head.querySelector<HTMLElement>(`button[data-field="${focused}"]`)?.focus();
    }
  }

  private _headCell(field: Field, sort: Sort): HTMLElement {
    const sorted = field.sortBy === sort.by;
    const direction = sort.descending ? 'descending' : 'ascending';
    const label = h(
      'button',
      {
        class: 'jp-XprofTree-sort',
        attrs: { type: 'button' },
        data: { field: field.id },
        on: { click: () => this._events.sort(field) }
      },
      field.label,
      h(
        'span',
        { class: 'jp-XprofTree-arrow', attrs: { 'aria-hidden': true } },
        sorted ? (sort.descending ? '▼' : '▲') : ''
      )
    );
    return h(
      'div',
      {
        class: `jp-XprofTree-cell jp-mod-${field.align}`,
        attrs: { role: 'columnheader', 'aria-sort': sorted ? direction : 'none' },
        data: { field: field.id }
      },
      label
    );
  }

  private _drawRows(): void {
    if (this._state === null) {
      return;
    }
    const { rows, active, noRows } = this._state;
    if (rows.length === 0) {
      this._body.replaceChildren(h('div', { class: 'jp-XprofTree-none', attrs: { role: 'row' } }, noRows));
      return;
    }
    const height = this.table.clientHeight || ROWS_WITHOUT_LAYOUT * ROW_HEIGHT;
    const first = Math.max(0, Math.floor(this.table.scrollTop / ROW_HEIGHT) - OVERSCAN);
    const last = Math.min(rows.length, Math.ceil((this.table.scrollTop + height) / ROW_HEIGHT) + OVERSCAN);
    this._body.style.height = `${rows.length * ROW_HEIGHT}px`;
    this.table.setAttribute('aria-rowcount', String(rows.length + 1));
    this._body.replaceChildren(
      ...rows.slice(first, last).map((row, offset) => this._row(row, first + offset))
    );
    const activeIndex = rows.findIndex((row) => row.id === active);
    if (activeIndex >= first && activeIndex < last) {
      this.table.setAttribute('aria-activedescendant', this._prefix + activeIndex);
    } else {
      this.table.removeAttribute('aria-activedescendant');
    }
  }

  private _row(row: Row, index: number): HTMLElement {
    const state = this._state as TableState;
    const selected = row.id === state.selected;
    const classes = ['jp-XprofTree-row'];
    if (row.id === state.active) {
      classes.push('jp-mod-active');
    }
    if (selected) {
      classes.push('jp-mod-selected');
    }
    const element = h('div', {
      class: classes.join(' '),
      attrs: {
        id: this._prefix + index,
        role: 'row',
        'aria-rowindex': index + 2,
        'aria-level': row.level,
        'aria-posinset': row.position,
        'aria-setsize': row.setSize,
        'aria-selected': selected
      },
      data: { index: String(index) }
    });
    element.style.top = `${index * ROW_HEIGHT}px`;
    if (row.type === 'more') {
      element.append(moreCell(row, state.moreText));
    } else {
      this._fillNodeRow(element, row, state.terms);
    }
    return element;
  }

  private _fillNodeRow(element: HTMLElement, row: NodeRow, terms: readonly string[]): void {
    if (row.expanded !== null) {
      element.setAttribute('aria-expanded', String(row.expanded));
    }
    if (row.node.kind === 'idle') {
      element.classList.add('jp-mod-idle');
    }
    element.append(...this._fields.map((field) => drawCell(field, row, terms)));
  }

  // Rows are redrawn on every click, so the browser sees no double click on one element: its second click says so.
  private _clicked(event: MouseEvent): void {
    const target = event.target as Element;
    const row = this.rowOf(target);
    // Who marks text, to copy it, does not choose.
    if (row === undefined || hasMarkedText(this.table)) {
      return;
    }
    const onTwisty = target.closest('.jp-XprofTree-twisty') !== null;
    if (row.type === 'more' || onTwisty || event.detail === 2) {
      this._events.toggle(row);
    } else {
      this._events.select(row);
    }
  }
}

function moreCell(row: MoreRow, text: string): HTMLElement {
  const cell = h(
    'div',
    { class: 'jp-XprofTree-cell jp-XprofTree-name jp-XprofTree-more', attrs: { role: 'rowheader' } },
    `… ${count(row.missing)} more`,
    h('span', { class: 'jp-XprofTree-source' }, text)
  );
  cell.style.setProperty('--xprof-level', String(row.level - 1));
  return cell;
}
