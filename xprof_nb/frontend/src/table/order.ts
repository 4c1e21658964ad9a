/** Which rows of a table are shown, and in which order. */
import type { Field, Value } from './fields';

export interface Sort {
  readonly field: string;
  readonly descending: boolean;
}

/** The rows whose texts have every word of a filter in them; `name:word` looks in one column. */
export function matching(rows: number, fields: readonly Field[], filter: string): number[] {
  const tests = filter
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => testOf(word, fields));
  return Array.from({ length: rows }, (_, row) => row).filter((row) => tests.every((test) => test(row)));
}

/** Put rows in order; missing values come last in both directions, and equal ones keep their place. */
export function sorted(rows: readonly number[], fields: readonly Field[], sort: Sort | null): number[] {
  const field = fields.find(({ name }) => name === sort?.field);
  if (field === undefined || sort === null) {
    return [...rows];
  }
  const values = new Map(rows.map((row) => [row, field.value(row)]));
  const sign = sort.descending ? -1 : 1;
  return [...rows].sort((a, b) => compared(values.get(a) ?? null, values.get(b) ?? null, sign));
}

function compared(a: Value, b: Value, sign: number): number {
  if (a === null || b === null) {
    return Number(a === null) - Number(b === null);
  }
  if (typeof a === 'number' && typeof b === 'number') {
    return sign * (a - b);
  }
  return sign * (a < b ? -1 : Number(a > b));
}

function testOf(word: string, fields: readonly Field[]): (row: number) => boolean {
  const at = word.indexOf(':');
  const named = fields.find(({ name, label }) =>
    [name, label.replaceAll(' ', '_')].includes(at > 0 ? word.slice(0, at) : '')
  );
  const sought = named === undefined ? word : word.slice(at + 1);
  const searched = named === undefined ? fields.filter(({ isText }) => isText) : [named];
  return (row) => searched.some((field) => field.text(row).toLowerCase().includes(sought));
}
