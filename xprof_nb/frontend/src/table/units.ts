/** How a number is written whose unit stands in the column beside it. */
import { type Columns, stringAt } from '../columns';
import { quantity } from '../format';

export function unitOf(table: Columns, row: number) {
  const unit = stringAt(table, 'unit', row) ?? '';
  return { unit, write: (value: number) => quantity(value, unit) };
}
