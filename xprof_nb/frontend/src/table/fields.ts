/** The columns of a plain table: what each is called, how its cells are written, sorted and exported. */
import { type Columns, numberAt, stringAt } from '../columns';
import { exact, heading, MISSING, type Writer, writerOf } from '../format';

export type Value = number | string | null;

export interface Field {
  /** The column of the table. */
  readonly name: string;
  readonly label: string;
  /** What hovering the head explains. */
  readonly title: string;
  /** In px, until somebody drags it. */
  readonly width: number;
  /** In px: numbers are never cut. */
  readonly leastWidth: number;
  readonly isText: boolean;
  /** Gives way before the others where there is little room. */
  readonly isMinor: boolean;
  /** Whether it stands in the table until somebody asks for it. */
  readonly isShown: boolean;
  /** The unit of its numbers, empty when they have none. */
  readonly unit: string;
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
  readonly isMinor?: boolean;
  /** How a number is written, and its unit, where the row tells it and not the column's name. */
  readonly writer?: (table: Columns, row: number) => Writer;
}

const LEAST_TEXT_WIDTH = 48;
const MOST_TEXT_WIDTH = 200;
const MOST_NAME_WIDTH = 280;
const MOST_HEAD_WIDTH = 140;
const HEAD_CHARACTER_PX = 8.4;
const CHARACTER_PX = 7.5;
const PADDING_PX = 18;
const ARROW_PX = 10;
/** One that is missing in some rows travels as a number. */
const FLAG = /^(is|uses|has)_/;
/** How many rows, evenly spread, tell how wide a column is. */
const SAMPLED_ROWS = 200;

/** The fields of a table: those that are wanted and there, then the rest of it, which is out of sight at first. */
export function fieldsOf(table: Columns, wanted: readonly (string | FieldOptions)[] = []): Field[] {
  const options = wanted
    .map((one) => (typeof one === 'string' ? { name: one } : one))
    .filter(({ name }) => table.names.includes(name));
  const named = new Set(options.map(({ name }) => name));
  const others = table.names.filter((name) => !named.has(name)).map((name) => ({ name }));
  const isAll = options.length === 0;
  return [...options, ...others].map((one, index) =>
    fieldOf(table, one, index === 0, isAll || named.has(one.name))
  );
}

function fieldOf(table: Columns, options: FieldOptions, isFirst: boolean, isShown: boolean): Field {
  const { name } = options;
  const label = options.label ?? heading(name);
  const title = options.title ?? name;
  const isMinor = options.isMinor ?? false;
  const headWidth = Math.min(
    Math.round(label.length * HEAD_CHARACTER_PX) + PADDING_PX + ARROW_PX,
    MOST_HEAD_WIDTH
  );
  if (table.strings.has(name)) {
    const value = (row: number) => stringAt(table, name, row);
    const text = (row: number) => value(row) ?? MISSING;
    const most = isFirst ? MOST_NAME_WIDTH : MOST_TEXT_WIDTH;
    const fitting = Math.min(most, Math.max(headWidth, widthOf(longest(sample(table.rows), text))));
    const width = options.width ?? fitting;
    const leastWidth = LEAST_TEXT_WIDTH;
    return {
      name,
      label,
      title,
      width,
      leastWidth,
      isText: true,
      isMinor,
      isShown,
      unit: '',
      value,
      text,
      exact: text
    };
  }
  const isFlag = table.numbers.get(name) instanceof Uint8Array || FLAG.test(name);
  const usual = isFlag ? { unit: '', write: yesOrNo } : writerOf(name);
  const writer = (row: number) => options.writer?.(table, row) ?? usual;
  const value = (row: number) => {
    const number = numberAt(table, name, row);
    return Number.isNaN(number) ? null : number;
  };
  const text = (row: number) => writer(row).write(numberAt(table, name, row));
  const telling = [...sample(table.rows), ...extremes(table, name)];
  const leastWidth = Math.max(LEAST_TEXT_WIDTH, widthOf(longest(telling, text)));
  return {
    name,
    label,
    title,
    width: Math.max(options.width ?? headWidth, leastWidth),
    leastWidth,
    isText: false,
    isMinor,
    isShown,
    unit: usual.unit,
    value,
    text,
    exact: (row) => (isFlag ? text(row) : exact(numberAt(table, name, row), writer(row).unit))
  };
}

function yesOrNo(value: number): string {
  return Number.isNaN(value) ? MISSING : value ? 'yes' : 'no';
}

function widthOf(characters: number): number {
  return Math.round(characters * CHARACTER_PX + PADDING_PX);
}

function longest(rows: readonly number[], text: (row: number) => string): number {
  return rows.reduce((most, row) => Math.max(most, text(row).length), 0);
}

function sample(rows: number): number[] {
  const step = Math.max(1, Math.floor(rows / SAMPLED_ROWS));
  return Array.from({ length: Math.ceil(rows / step) }, (_, index) => index * step);
}

/** The rows of the least and the greatest number, which are the longest to write. */
function extremes(table: Columns, name: string): number[] {
  const values = table.numbers.get(name) ?? [];
  let [least, greatest] = [-1, -1];
  for (let row = 0; row < values.length; row++) {
    const value = values[row] ?? Number.NaN;
    least = value < (values[least] ?? Number.POSITIVE_INFINITY) ? row : least;
    greatest = value > (values[greatest] ?? Number.NEGATIVE_INFINITY) ? row : greatest;
  }
  return [least, greatest].filter((row) => row >= 0);
}
