/** A small table beside the main one: of rows that a summary holds. */
import { columnsOf, type Json } from '../columns';
import { h } from '../dom';
import { copyText } from '../shell/save';
import { type FieldOptions, fieldsOf } from './fields';
import { Grid } from './grid';

export class SideTable {
  readonly node: HTMLElement;
  readonly grid: Grid;
  private readonly _none: HTMLElement;

  constructor(
    title: string,
    private readonly _columns: readonly (string | FieldOptions)[],
    none: string
  ) {
    this.grid = new Grid(title, {
      choose: () => {},
      changed: () => {},
      copy: (text) => void copyText(text)
    });
    this._none = h('p', { class: 'jp-XprofAnswer-none' }, none);
    this.node = h(
      'section',
      { attrs: { 'aria-label': title } },
      h('strong', {}, title),
      this.grid.node,
      this._none
    );
  }

  show(rows: readonly { readonly [name: string]: Json | undefined }[]): void {
    const table = columnsOf(rows);
    this.grid.node.hidden = rows.length === 0;
    this._none.hidden = rows.length > 0;
    this.grid.update(table.rows, fieldsOf(table, this._columns));
  }

  dispose(): void {
    this.grid.dispose();
  }
}
