/** A plain table on screen: a virtualised grid that is sorted, filtered, resized and copied. */
import { h } from '../dom';
import { toCsv, toTsv } from '../shell/delimited';
import type { Field } from './fields';
import { drawHead } from './head';
import { gridKey } from './keyboard';
import { matching, type Sort, sorted } from './order';

export const ROW_HEIGHT = 24;
const OVERSCAN = 8;
// A view that is not laid out yet (hidden, or in a test) is drawn as if it had all the room.
const ROWS_WITHOUT_LAYOUT = 40;

export interface GridEvents {
  /** A row of the table was chosen. */
  choose(row: number): void;
  /** Other rows are shown now, or in another order. */
  changed(): void;
}

/** Where the keyboard is: a shown row, and a field. */
export interface Cell {
  readonly row: number;
  readonly field: number;
}

let grids = 0;

export class Grid {
  readonly node: HTMLElement;
  sort: Sort | null = null;
  /** The rows of the table that are shown, in order. */
  shown: readonly number[] = [];
  private readonly _prefix = `xprof-grid-${grids++}-`;
  private readonly _head = h('div', {
    class: 'jp-XprofGrid-head',
    attrs: { role: 'row', 'aria-rowindex': 1 }
  });
  private readonly _body = h('div', { class: 'jp-XprofGrid-body', attrs: { role: 'rowgroup' } });
  private _fields: readonly Field[] = [];
  private _rows = 0;
  private _filter = '';
  private _at: Cell = { row: 0, field: 0 };
  private _chosen: ReadonlySet<number> = new Set();
  private readonly _widths = new Map<string, number>();
  private readonly _observer: ResizeObserver;

  constructor(
    label: string,
    private readonly _events: GridEvents
  ) {
    this.node = h(
      'div',
      { class: 'jp-XprofGrid', attrs: { role: 'grid', 'aria-label': label, tabindex: 0 } },
      h('div', { attrs: { role: 'rowgroup' } }, this._head),
      this._body
    );
    this.node.addEventListener('scroll', () => this._drawRows());
    this.node.addEventListener('keydown', (event) => gridKey(this, event));
    this._body.addEventListener('click', (event) => this._clicked(event));
    this._observer = new ResizeObserver(() => this._drawRows());
    this._observer.observe(this.node);
  }

  dispose(): void {
    this._observer.disconnect();
  }

  get fields(): readonly Field[] {
    return this._fields;
  }

  get at(): Cell {
    return this._at;
  }

  /** How many whole rows fit now. */
  get pageRows(): number {
    return Math.max(1, Math.floor(this.node.clientHeight / ROW_HEIGHT) - 1);
  }

  /** Show another table. */
  update(rows: number, fields: readonly Field[]): void {
    this._rows = rows;
    this._fields = fields;
    this._arrange();
  }

  set filter(text: string) {
    this._filter = text;
    this.node.scrollTop = 0;
    this._arrange();
  }

  sortBy(field: Field): void {
    const isSame = this.sort?.field === field.name;
    this.sort = { field: field.name, descending: isSame ? !this.sort?.descending : !field.isText };
    this.node.scrollTop = 0;
    this._arrange();
  }

  resize(field: Field, width: number): void {
    this._widths.set(field.name, Math.max(48, Math.round(width)));
    this._drawHead();
    this._drawRows();
  }

  widthOf(field: Field): number {
    return this._widths.get(field.name) ?? field.width;
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

  /** Outline rows of the table, those that another view chose too, and bring the first into view. */
  mark(rows: Iterable<number>, isRevealed = false): void {
    this._chosen = new Set(rows);
    const first = isRevealed ? this.shown.findIndex((row) => this._chosen.has(row)) : -1;
    if (first >= 0) {
      this._at = { row: first, field: this._at.field };
      this._reveal();
    }
    this._drawRows();
  }

  /** The shown rows as tab-separated text for pasting, numbers in full. */
  get tsv(): string {
    return toTsv(this._cells());
  }

  /** The shown rows as CSV, numbers in full. */
  get csv(): string {
    return toCsv(this._cells());
  }

  private _cells() {
    return [
      this._fields.map(({ name }) => name),
      ...this.shown.map((row) => this._fields.map((field) => field.value(row)))
    ];
  }

  private _arrange(): void {
    this.shown = sorted(matching(this._rows, this._fields, this._filter), this._fields, this.sort);
    this._at = { row: Math.min(this._at.row, Math.max(this.shown.length - 1, 0)), field: this._at.field };
    this._drawHead();
    this._drawRows();
    this._events.changed();
  }

  private _drawHead(): void {
    this.node.style.setProperty(
      '--xprof-columns',
      this._fields
        .map((field, index) =>
          index === 0 ? `minmax(${this.widthOf(field)}px, 1fr)` : `${this.widthOf(field)}px`
        )
        .join(' ')
    );
    this.node.setAttribute('aria-colcount', String(this._fields.length));
    this.node.setAttribute('aria-rowcount', String(this.shown.length + 1));
    drawHead(this, this._head);
  }

  private _drawRows(): void {
    const height = this.node.clientHeight || ROWS_WITHOUT_LAYOUT * ROW_HEIGHT;
    const first = Math.max(0, Math.floor(this.node.scrollTop / ROW_HEIGHT) - OVERSCAN);
    const last = Math.min(
      this.shown.length,
      Math.ceil((this.node.scrollTop + height) / ROW_HEIGHT) + OVERSCAN
    );
    this._body.style.height = `${Math.max(this.shown.length, 1) * ROW_HEIGHT}px`;
    this._body.replaceChildren(
      ...this.shown.slice(first, last).map((row, offset) => this._row(row, first + offset))
    );
    if (this.shown.length === 0) {
      this._body.append(
        h(
          'div',
          { class: 'jp-XprofGrid-none', attrs: { role: 'row' } },
          h(
            'div',
            { attrs: { role: 'gridcell' } },
            this._filter ? `No row matches “${this._filter.trim()}”.` : 'No rows.'
          )
        )
      );
    }
    const { row, field } = this._at;
    if (row >= first && row < last) {
      this.node.setAttribute('aria-activedescendant', `${this._prefix}${row}-${field}`);
    } else {
      this.node.removeAttribute('aria-activedescendant');
    }
  }

  private _row(row: number, index: number): HTMLElement {
    const isChosen = this._chosen.has(row);
    const element = h(
      'div',
      {
        class: `jp-XprofGrid-row${isChosen ? ' jp-mod-selected' : ''}${index === this._at.row ? ' jp-mod-active' : ''}`,
        attrs: { role: 'row', 'aria-rowindex': index + 2, 'aria-selected': isChosen },
        data: { index: String(index) }
      },
      ...this._fields.map((field, column) =>
        h(
          'div',
          {
            class: `jp-XprofGrid-cell${field.isText ? '' : ' jp-mod-number'}${
              index === this._at.row && column === this._at.field ? ' jp-mod-at' : ''
            }`,
            title: field.exact(row),
            attrs: {
              id: `${this._prefix}${index}-${column}`,
              role: column === 0 ? 'rowheader' : 'gridcell',
              'aria-colindex': column + 1
            },
            data: { field: field.name }
          },
          field.text(row)
        )
      )
    );
    element.style.top = `${index * ROW_HEIGHT}px`;
    return element;
  }

  private _reveal(): void {
    const top = this._at.row * ROW_HEIGHT;
    const bottom = top + 2 * ROW_HEIGHT;
    if (top < this.node.scrollTop) {
      this.node.scrollTop = top;
    } else if (bottom > this.node.scrollTop + this.node.clientHeight) {
      this.node.scrollTop = bottom - this.node.clientHeight;
    }
  }

  private _clicked(event: Event): void {
    const target = event.target as Element;
    const index = Number(target.closest<HTMLElement>('.jp-XprofGrid-row')?.dataset.index ?? Number.NaN);
    const name = target.closest<HTMLElement>('[data-field]')?.dataset.field;
    if (!Number.isNaN(index)) {
      this.moveTo(
        index,
        Math.max(
          0,
          this._fields.findIndex((field) => field.name === name)
        )
      );
      this.chooseAt();
    }
  }
}
