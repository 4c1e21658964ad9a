/** A plain table on screen: a virtualised grid that is sorted, filtered, resized and copied. */
import { h, hasMarkedText } from '../dom';
import type { Summary } from '../host';
import { record, text } from '../payload';
import { type Cells, toCsv, toTsv } from '../shell/delimited';
import { lowerEdge } from '../shell/lower_edge';
import { ColumnChoice } from './columns';
import type { Field } from './fields';
import { matching } from './filter';
import { drawHead } from './head';
import { gridKey } from './keyboard';
import { type Sort, sorted } from './order';
import { type Cell, ROW_HEIGHT, Rows } from './rows';

const OVERSCAN = 8;
// A view that is not laid out yet (hidden, or in a test) is drawn as if it had all the room.
const ROWS_WITHOUT_LAYOUT = 40;
const LEAST_HEIGHT_PX = 4 * ROW_HEIGHT;
const MOST_HEIGHT_PX = 4000;

export interface GridEvents {
  /** A row of the table was chosen. */
  choose(row: number): void;
  /** Other rows are shown now, or in another order. */
  changed(): void;
  /** Somebody wants a text in the clipboard. */
  copy(text: string): void;
}

let grids = 0;

export class Grid {
  /** The table and the edge that makes it taller. */
  readonly node: HTMLElement;
  /** The table itself, which the keyboard walks. */
  readonly table: HTMLElement;
  sort: Sort | null = null;
  /** The rows of the table that are shown, in order. */
  shown: readonly number[] = [];
  readonly columns = new ColumnChoice();
  private readonly _head = h('div', {
    class: 'jp-XprofGrid-head',
    attrs: { role: 'row', 'aria-rowindex': 1 }
  });
  private readonly _rows: Rows;
  private _fields: readonly Field[] = [];
  private _total = 0;
  private _filter = '';
  private _only: ((row: number) => boolean) | null = null;
  private _at: Cell = { row: 0, field: 0 };
  private readonly _observer: ResizeObserver;

  constructor(
    label: string,
    private readonly _events: GridEvents
  ) {
    this._rows = new Rows(`xprof-grid-${grids++}-`);
    this.table = h(
      'div',
      {
        class: 'jp-XprofGrid',
        attrs: { role: 'grid', 'aria-label': label, 'aria-multiselectable': true, tabindex: 0 }
      },
      h('div', { class: 'jp-XprofGrid-top', attrs: { role: 'rowgroup' } }, this._head),
      this._rows.node
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
    this.node = h('div', { class: 'jp-XprofGrid-frame' }, this.table, edge);
    this.table.addEventListener('scroll', () => this._drawRows(), { passive: true });
    this.table.addEventListener('keydown', (event) => {
      if (event.target === this.table) {
        gridKey(this, event);
      }
    });
    this._rows.node.addEventListener('click', (event) => this._clicked(event));
    this._observer = new ResizeObserver(() => this._fit());
    this._observer.observe(this.table);
  }

  dispose(): void {
    this._observer.disconnect();
  }

  /** The columns in sight, in order. */
  get fields(): readonly Field[] {
    return this._fields;
  }

  get at(): Cell {
    return this._at;
  }

  /** How many whole rows fit now. */
  get pageRows(): number {
    return Math.max(1, Math.floor(this.table.clientHeight / ROW_HEIGHT) - 1);
  }

  /** Show another table. */
  update(rows: number, fields: readonly Field[]): void {
    this._total = rows;
    this.columns.update(fields);
    this._arrange();
  }

  set filter(text: string) {
    this._filter = text;
    this.table.scrollTop = 0;
    this._arrange();
  }

  get filter(): string {
    return this._filter;
  }

  /** How it stands, as JSON. */
  get kept(): Summary {
    return { filter: this._filter, sort: this.sort && { ...this.sort }, columns: this.columns.kept };
  }

  /** Go on from what was kept. */
  adopt({ filter, sort, columns }: Summary): void {
    const { field, descending } = record(sort);
    this.sort = text(field) === '' ? null : { field: text(field), descending: descending === true };
    this.columns.adopt(record(columns));
    this.filter = text(filter);
  }

  focus(): void {
    this.table.focus();
  }

  /** Show only rows that pass a test, besides the filter; null for all. */
  set only(test: ((row: number) => boolean) | null) {
    this._only = test;
    this.table.scrollTop = 0;
    this._arrange();
  }

  sortBy(field: Field): void {
    const isSame = this.sort?.field === field.name;
    this.sort = { field: field.name, descending: isSame ? !this.sort?.descending : !field.isText };
    this.table.scrollTop = 0;
    this._arrange();
  }

  /** Make a column so wide; as wide as its content when null. */
  resize(field: Field, width: number | null): void {
    this.columns.resize(field, width);
    this._layOut();
  }

  toggle(field: Field): void {
    this.columns.put(field, !this._fields.includes(field));
    this._arrange();
  }

  moveColumn(field: Field, by: -1 | 1): void {
    this.columns.move(field, by);
    this._arrange();
  }

  moveTo(row: number, field: number): void {
    this._at = {
      row: Math.max(0, Math.min(row, this.shown.length - 1)),
      field: Math.max(0, Math.min(field, this._fields.length - 1))
    };
    this._reveal();
    this._drawRows();
  }

  chooseAt(): void {
    const row = this.shown[this._at.row];
    if (row !== undefined) {
      this._events.choose(row);
    }
  }

  /** Copy the row the keyboard is on. */
  copyRow(): void {
    const row = this.shown[this._at.row];
    if (row !== undefined) {
      this._events.copy(toTsv([this._cells(row)]));
    }
  }

  /** Outline rows of the table, those that another view chose too, and bring the first into view. */
  mark(rows: Iterable<number>, isRevealed = false): void {
    this._rows.chosen = new Set(rows);
    const first = isRevealed ? this.shown.findIndex((row) => this._rows.chosen.has(row)) : -1;
    if (first >= 0) {
      this._at = { row: first, field: this._at.field };
      this._reveal();
    }
    this._drawRows();
  }

  /** The shown rows as tab-separated text for pasting, numbers in full. */
  get tsv(): string {
    return toTsv(this._lines());
  }

  /** The shown rows as CSV, numbers in full. */
  get csv(): string {
    return toCsv(this._lines());
  }

  /** With the columns there is no room for: what is taken along does not depend on the window. */
  private _lines(): Cells[] {
    return [this.columns.shown.map(({ name }) => name), ...this.shown.map((row) => this._cells(row))];
  }

  private _cells(row: number): Cells {
    return this.columns.shown.map((field) => field.value(row));
  }

  private _arrange(): void {
    const searched = this.columns.all.map((field) => ({ ...field, isShown: this.columns.isShown(field) }));
    const matched = matching(this._total, searched, this._filter);
    this.shown = sorted(this._only === null ? matched : matched.filter(this._only), searched, this.sort);
    this.table.setAttribute('aria-rowcount', String(this.shown.length + 1));
    this.table.style.setProperty('--xprof-rows', String(Math.max(this.shown.length, 1)));
    this._draw(this._fittingFields());
    this._events.changed();
  }

  /** Another width may have room for other columns. */
  private _fit(): void {
    const fields = this._fittingFields();
    if (fields.length === this._fields.length) {
      this._layOut();
      this._leaveRoomForBar();
      this._drawRows();
    } else {
      this._draw(fields);
    }
  }

  private _fittingFields(): Field[] {
    return this.columns.fitting(this._room);
  }

  /** A table that is not laid out yet has all the room. */
  private get _room(): number {
    return this.table.clientWidth || Number.POSITIVE_INFINITY;
  }

  private get _widths(): number[] {
    return this._fields.map((field) => this.columns.widthOf(field, this._room));
  }

  private _draw(fields: readonly Field[]): void {
    this._fields = fields;
    this._at = {
      row: Math.min(this._at.row, Math.max(this.shown.length - 1, 0)),
      field: Math.min(this._at.field, Math.max(fields.length - 1, 0))
    };
    this.table.setAttribute('aria-colcount', String(fields.length));
    this._layOut();
    this._leaveRoomForBar();
    drawHead(this, this._head);
    const none = this._filter ? `No row matches “${this._filter.trim()}”.` : 'No rows.';
    this._rows.update(this.shown, fields, none);
    this._drawRows();
  }

  private _layOut(): void {
    const widths = this._widths;
    const columns = widths.map((width, index) => (index === 0 ? `minmax(${width}px, 1fr)` : `${width}px`));
    this.table.style.setProperty('--xprof-columns', columns.join(' '));
    this.table.style.setProperty('--xprof-least-width', `${sum(widths)}px`);
  }

  /** A scroll bar below takes no row away. */
  private _leaveRoomForBar(): void {
    const bar = this.table.offsetHeight - this.table.clientHeight;
    this.table.style.setProperty('--xprof-bar', `${bar}px`);
  }

  private _drawRows(): void {
    const { scrollTop } = this.table;
    const height = this.table.clientHeight || ROWS_WITHOUT_LAYOUT * ROW_HEIGHT;
    const first = Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - OVERSCAN);
    const last = Math.min(this.shown.length, Math.ceil((scrollTop + height) / ROW_HEIGHT) + OVERSCAN);
    this._rows.draw(Math.min(first, last), last, this._at);
    const active = this._rows.idAt(this._at);
    if (active === null) {
      this.table.removeAttribute('aria-activedescendant');
    } else {
      this.table.setAttribute('aria-activedescendant', active);
    }
  }

  /** Scroll as little as needed to show the cell the keyboard is on, below the head and right of the names. */
  private _reveal(): void {
    const { table } = this;
    const top = this._at.row * ROW_HEIGHT;
    const bottom = top + 2 * ROW_HEIGHT;
    if (top < table.scrollTop) {
      table.scrollTop = top;
    } else if (bottom > table.scrollTop + table.clientHeight) {
      table.scrollTop = bottom - table.clientHeight;
    }
    const widths = this._widths;
    const left = sum(widths.slice(0, this._at.field));
    const right = left + (widths[this._at.field] ?? 0);
    if (this._at.field === 0 || left - (widths[0] ?? 0) < table.scrollLeft) {
      table.scrollLeft = this._at.field === 0 ? 0 : left - (widths[0] ?? 0);
    } else if (right > table.scrollLeft + table.clientWidth) {
      table.scrollLeft = right - table.clientWidth;
    }
  }

  private _clicked(event: Event): void {
    const place = this._rows.placeOf(event.target as Element);
    // Who marks text, to copy it, does not choose.
    if (place === null || hasMarkedText(this.table)) {
      return;
    }
    this._at = place;
    this._drawRows();
    this.chooseAt();
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
