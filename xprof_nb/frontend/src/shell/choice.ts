/** What a row of a table stands for, and whether that is what was chosen. */
import { type Columns, numberAt, stringAt } from '../columns';
import type { Choice } from './link';

/** The op of a row, as a choice. */
export function opOf(table: Columns, row: number): Choice {
  const op = stringAt(table, 'op', row);
  const program = stringAt(table, 'program_id', row) ?? numberText(numberAt(table, 'program_id', row));
  return op === null ? {} : { op, ...(program === null ? {} : { program_id: program }) };
}

function numberText(value: number): string | null {
  return Number.isNaN(value) ? null : String(value);
}

/** Whether what a row stands for is what was chosen: parts that both name agree, and there is one. */
export function isSame(row: Choice, choice: Choice): boolean {
  const both = (['op', 'program_id', 'step'] as const).filter(
    (part) => row[part] !== undefined && choice[part] !== undefined
  );
  return both.some((part) => part !== 'program_id') && both.every((part) => row[part] === choice[part]);
}
