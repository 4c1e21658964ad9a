/** The rows of a grid that are on screen: made as they scroll in, left alone while they stay. */
import { h } from '../dom';
import type { Field } from './fields';

export const ROW_HEIGHT = 24;

/** Where the keyboard is: a shown row, and a field. */
export interface Cell {
  readonly row: number;
  readonly field: number;
}

export class Rows {
  readonly node = h('div', { class: 'jp-XprofGrid-body', attrs: { role: 'rowgroup' } });
  /** The rows of the table that are outlined. */
  chosen: ReadonlySet<number> = new Set();
  private _shown: readonly number[] = [];
  private _fields: readonly Field[] = [];
  private _from = 0;
  private _to = 0;

  /** `prefix` begins the ids of the cells. */
  constructor(private readonly _prefix: string) {}

  /** Take other rows of the table or other fields; `none` stands where there is no row. */
  update(shown: readonly number[], fields: readonly Field[], none: string): void {
    this._shown = shown;
    this._fields = fields;
    this._from = this._to = 0;
    this.node.style.height = `${Math.max(shown.length, 1) * ROW_HEIGHT}px`;
    this.node.replaceChildren(...(shown.length === 0 ? [noRow(none)] : []));
  }

  /** Draw the shown rows from `first` up to `last`, and mark where the keyboard is. */
  draw(first: number, last: number, at: Cell): void {
    if (this._shown.length === 0) {
      return;
    }
    if (Math.max(first, this._from) >= Math.min(last, this._to)) {
      this.node.replaceChildren();
      this._from = this._to = first;
    }
    for (; this._from < first; this._from++) {
      this.node.firstChild?.remove();
    }
    for (; this._to > last; this._to--) {
      this.node.lastChild?.remove();
    }
    while (this._from > first) {
      this.node.prepend(this._row(--this._from));
    }
    while (this._to < last) {
      this.node.append(this._row(this._to++));
    }
    this._mark(at);
  }

  /** The id of a drawn cell; null when it is not drawn. */
  idAt({ row, field }: Cell): string | null {
    return row >= this._from && row < this._to ? `${this._prefix}${row}-${field}` : null;
  }

  /** The cell that an element belongs to. */
  placeOf(target: Element): Cell | null {
    const row = Number(target.closest<HTMLElement>('.jp-XprofGrid-row')?.dataset.index ?? Number.NaN);
    const name = target.closest<HTMLElement>('[data-field]')?.dataset.field;
    const field = this._fields.findIndex((candidate) => candidate.name === name);
    return Number.isNaN(row) ? null : { row, field: Math.max(0, field) };
  }

  private _mark(at: Cell): void {
    for (const [offset, element] of [...this.node.children].entries()) {
      const index = this._from + offset;
      const isChosen = this.chosen.has(this._shown[index] ?? -1);
      element.classList.toggle('jp-mod-selected', isChosen);
      element.classList.toggle('jp-mod-active', index === at.row);
      element.setAttribute('aria-selected', String(isChosen));
      for (const [column, cell] of [...element.children].entries()) {
        cell.classList.toggle('jp-mod-at', index === at.row && column === at.field);
      }
    }
  }

  private _row(index: number): HTMLElement {
    const row = this._shown[index] ?? 0;
    const element = h(
      'div',
      {
        class: 'jp-XprofGrid-row',
        attrs: { role: 'row', 'aria-rowindex': index + 2 },
        data: { index: String(index) }
      },
      ...this._fields.map((field, column) =>
        h(
          'div',
          {
            class: `jp-XprofGrid-cell${field.isText ? '' : ' jp-mod-number'}`,
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
}

function noRow(words: string): HTMLElement {
  return h(
    'div',
    { class: 'jp-XprofGrid-none', attrs: { role: 'row' } },
    h('div', { attrs: { role: 'gridcell' } }, words)
  );
}
