/** Which columns of a table are in sight, in which order, and how wide. */
import type { Field } from './fields';

export class ColumnChoice {
  private _fields: readonly Field[] = [];
  private _order: string[] = [];
  private readonly _hidden = new Map<string, boolean>();
  private readonly _widths = new Map<string, number>();

  /** Take the fields of another table; what was chosen of those it has stays. */
  update(fields: readonly Field[]): void {
    this._fields = fields;
    const names = fields.map(({ name }) => name);
    const kept = this._order.filter((name) => names.includes(name));
    this._order = [...kept, ...names.filter((name) => !kept.includes(name))];
  }

  /** All of them, in order. */
  get all(): Field[] {
    return this._order
      .map((name) => this._fields.find((field) => field.name === name))
      .filter((field) => field !== undefined);
  }

  get shown(): Field[] {
    return this.all.filter((field) => this.isShown(field));
  }

  isShown({ name, isShown }: Field): boolean {
    return !(this._hidden.get(name) ?? !isShown);
  }

  /** Put a column into sight or out of it; the last one stays. */
  toggle(field: Field): void {
    const isShown = this.isShown(field);
    if (!isShown || this.shown.length > 1) {
      this._hidden.set(field.name, isShown);
    }
  }

  /** Let a column change places with the shown one before (-1) or after (1) it. */
  move(field: Field, by: -1 | 1): void {
    const { shown } = this;
    const other = shown[shown.indexOf(field) + by];
    if (other !== undefined) {
      const [from, to] = [this._order.indexOf(field.name), this._order.indexOf(other.name)];
      [this._order[from], this._order[to]] = [other.name, field.name];
    }
  }

  widthOf(field: Field): number {
    return this._widths.get(field.name) ?? field.width;
  }

  /** Make a column so wide, or as wide as it was at first. */
  resize(field: Field, width: number | null): void {
    if (width === null) {
      this._widths.delete(field.name);
    } else {
      this._widths.set(field.name, Math.max(field.leastWidth, Math.round(width)));
    }
  }
}
