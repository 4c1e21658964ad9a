/** The columns of a plain table: what each is called, how its cells are written, sorted and exported. */
import { type Columns, numberAt, stringAt } from '../columns';
import { exact, heading, MISSING, writerOf } from '../format';

export type Value = number | string | null;

export interface Field {
  /** The column of the table. */
  readonly name: string;
  readonly label: string;
  /** What hovering the head explains. */
  readonly title: string;
  /** In px, until somebody drags it. */
  readonly width: number;
  readonly isText: boolean;
  value(row: number): Value;
  /** What the cell says. */
  text(row: number): string;
  /** The value in full. */
  exact(row: number): string;
}

/** How a view wants a column; what it leaves out is told from the column's name. */
export interface FieldOptions {
  readonly name: string;
  readonly label?: string;
  readonly title?: string;
  readonly width?: number;
}

const TEXT_WIDTH = 160;
const NAME_WIDTH = 240;
const NUMBER_WIDTH = 96;
const CHARACTER_PX = 7.5;
const PADDING_PX = 26;

/** The fields of a table: those that are wanted and there, or all of it. */
export function fieldsOf(table: Columns, wanted: readonly (string | FieldOptions)[] = []): Field[] {
  const all = table.names;
  const options = (wanted.length > 0 ? wanted : all).map((one) =>
    typeof one === 'string' ? { name: one } : one
  );
  return options
    .filter(({ name }) => all.includes(name))
    .map((one, index) => fieldOf(table, one, index === 0));
}

function fieldOf(table: Columns, options: FieldOptions, isFirst: boolean): Field {
  const { name } = options;
  const label = options.label ?? heading(name);
  const title = options.title ?? name;
  const atLeast = Math.round(label.length * CHARACTER_PX + PADDING_PX);
  if (table.strings.has(name)) {
    const value = (row: number) => stringAt(table, name, row);
    const text = (row: number) => value(row) ?? MISSING;
    const width = options.width ?? Math.max(isFirst ? NAME_WIDTH : TEXT_WIDTH, atLeast);
    return { name, label, title, width, isText: true, value, text, exact: text };
  }
  const width = options.width ?? Math.max(NUMBER_WIDTH, atLeast);
  const isFlag = table.numbers.get(name) instanceof Uint8Array;
  const { unit, write } = isFlag
    ? { unit: '', write: (value: number) => (value ? 'yes' : 'no') }
    : writerOf(name);
  const value = (row: number) => {
    const number = numberAt(table, name, row);
    return Number.isNaN(number) ? null : number;
  };
  return {
    name,
    label,
    title,
    width,
    isText: false,
    value,
    text: (row) => write(numberAt(table, name, row)),
    exact: (row) => (isFlag ? write(numberAt(table, name, row)) : exact(numberAt(table, name, row), unit))
  };
}
