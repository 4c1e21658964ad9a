/** Selects beside the filter of a view: each leaves the rows that have one value in a column. */
import { stringAt } from '../columns';
import { h } from '../dom';
import type { Summary } from '../host';
import { text } from '../payload';
import type { AnswerFrame } from './answer';

export interface SelectOptions {
  /** The column of text. */
  readonly name: string;
  /** `all categories` when nothing is chosen. */
  readonly all: string;
  /** How a value is called; itself by default. */
  label?(value: string): string;
}

export class Selects {
  readonly nodes: readonly HTMLSelectElement[];

  constructor(
    private readonly _frame: AnswerFrame,
    private readonly _options: readonly SelectOptions[]
  ) {
    this.nodes = _options.map(({ name, all }) =>
      h('select', {
        class: 'jp-XprofChoice',
        attrs: { 'aria-label': all },
        data: { column: name },
        on: { change: () => this._apply() }
      })
    );
    this.update();
  }

  /** Offer what the answer has now. */
  update(): void {
    const { table } = this._frame.answer;
    this._options.forEach(({ name, all, label = (value: string) => value }, index) => {
      const select = this.nodes[index] as HTMLSelectElement;
      const values = [...new Set(table.strings.get(name)?.values ?? [])].sort();
      const offered = [...select.options].slice(1).map((option) => option.value);
      if (offered.join('\0') === values.join('\0') && select.options.length > 0) {
        return;
      }
      const chosen = select.value;
      select.replaceChildren(
        h('option', { attrs: { value: '' } }, all),
        ...values.map((value) => h('option', { attrs: { value } }, label(value)))
      );
      select.value = values.includes(chosen) ? chosen : '';
      select.hidden = values.length < 2;
    });
  }

  /** What is chosen, by column. */
  get kept(): Summary {
    return Object.fromEntries(this._options.map(({ name }, index) => [name, this.nodes[index]?.value ?? '']));
  }

  /** Go on from what was kept; a value that no row has is none. */
  adopt(kept: Summary): void {
    for (const [index, { name }] of this._options.entries()) {
      const select = this.nodes[index] as HTMLSelectElement;
      const isOffered = [...select.options].some(({ value }) => value === text(kept[name]));
      select.value = isOffered ? text(kept[name]) : '';
    }
    this._apply();
  }

  private _apply(): void {
    const wanted = this._options
      .map(({ name }, index) => ({ name, value: this.nodes[index]?.value ?? '' }))
      .filter(({ value }) => value !== '');
    const hasValues = (row: number) =>
      wanted.every(({ name, value }) => stringAt(this._frame.answer.table, name, row) === value);
    this._frame.grid.only = wanted.length === 0 ? null : hasValues;
  }
}
