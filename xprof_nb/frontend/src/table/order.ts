/** In which order the rows of a table are shown. */
import type { Field } from './fields';

export interface Sort {
  readonly field: string;
  readonly descending: boolean;
}

/** Put rows in order; missing values come last in both directions, and equal ones keep their place. */
export function sorted(rows: readonly number[], fields: readonly Field[], sort: Sort | null): number[] {
  const field = fields.find(({ name }) => name === sort?.field);
  if (field === undefined || sort === null) {
    return [...rows];
  }
  const place = field.isText
    ? ranks(rows, field)
    : (row: number) => (field.value(row) ?? Number.NaN) as number;
  const keys = Float64Array.from(rows, place);
  const sign = sort.descending ? -1 : 1;
  const order = Array.from(rows, (_, index) => index).sort((a, b) => {
    const [left, right] = [keys[a] as number, keys[b] as number];
    return Number.isNaN(left) || Number.isNaN(right)
      ? Number(Number.isNaN(left)) - Number(Number.isNaN(right))
      : sign * (left - right);
  });
  return order.map((index) => rows[index] as number);
}

/** The place of each row's text among all there are: fewer to compare than rows, and fusion.9 before fusion.12. */
function ranks(rows: readonly number[], field: Field): (row: number) => number {
  const texts = [...new Set(rows.map((row) => field.value(row)))].filter((text) => text !== null).map(String);
  const rank = new Map(texts.sort(collator.compare).map((text, index) => [text, index]));
  return (row) => {
    const text = field.value(row);
    return text === null ? Number.NaN : (rank.get(String(text)) ?? Number.NaN);
  };
}

const collator = new Intl.Collator('en', { numeric: true });
