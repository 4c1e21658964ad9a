/** What the numbers of the overview mean. */
import { type Columns, stringAt } from '../columns';

/** What a number means, as the table has it. */
export function definition(table: Columns, name: string): string {
  for (let row = 0; row < table.rows; row++) {
    if (stringAt(table, 'name', row) === name) {
      return stringAt(table, 'definition', row) ?? '';
    }
  }
  return '';
}
