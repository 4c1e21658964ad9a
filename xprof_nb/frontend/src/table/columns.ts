/** Which columns of a table are in sight, in which order, and how wide. */
import type { Summary } from '../host';
import { number, record, texts } from '../payload';
import type { Field } from './fields';

const MOST_PX = 2000;
/** Names are cut before numbers go, but not below this, and not below this share of a table. */
const LEAST_NAME_PX = 120;
const LEAST_NAME_SHARE = 0.36;

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

  /** Those that are chosen, whether there is room for them or not. */
  get shown(): Field[] {
    return this.all.filter((field) => this.isShown(field));
  }

  /** Of those, what fits into a room: minor ones give way first, then the last; what somebody asked for never does. */
  fitting(room: number): Field[] {
    const { shown } = this;
    const [first] = shown;
    const others = shown.slice(1).sort((a, b) => Number(a.isMinor) - Number(b.isMinor));
    let used = first === undefined ? 0 : leastName(first, room);
    const kept = new Set(
      others.filter((field) => {
        used += field.width;
        return used <= room || this._hidden.get(field.name) === false;
      })
    );
    return shown.filter((field) => field === first || kept.has(field));
  }

  isShown({ name, isShown }: Field): boolean {
    return !(this._hidden.get(name) ?? !isShown);
  }

  /** Put a column into sight, or out of it; the last one stays. */
  put(field: Field, isInSight: boolean): void {
    if (isInSight || this.shown.length > 1) {
      this._hidden.set(field.name, !isInSight);
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

  /** What was chosen, as JSON. */
  get kept(): Summary {
    const isMoved = this._fields.some(({ name }, index) => this._order[index] !== name);
    return {
      order: isMoved ? [...this._order] : [],
      hidden: Object.fromEntries(this._hidden),
      widths: Object.fromEntries(this._widths)
    };
  }

  /** Go on from what was kept; a choice that would leave no column is none. */
  adopt({ order, hidden, widths }: Summary): void {
    this._order = texts(order);
    for (const field of this._fields) {
      const isHidden = record(hidden)[field.name];
      const width = number(record(widths)[field.name]);
      if (typeof isHidden === 'boolean') {
        this._hidden.set(field.name, isHidden);
      }
      if (Number.isFinite(width)) {
        this.resize(field, Math.min(width, MOST_PX));
      }
    }
    this.update(this._fields);
    if (this.shown.length === 0) {
      this._hidden.clear();
    }
  }

  /** How wide a column is at least in a room. */
  widthOf(field: Field, room: number): number {
    const own = field === this.shown[0] ? leastName(field, room) : field.width;
    return this._widths.get(field.name) ?? own;
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

function leastName({ width }: Field, room: number): number {
  return Math.min(width, Math.max(LEAST_NAME_PX, Math.round(room * LEAST_NAME_SHARE)));
}
