/** What a row of a table stands for, and whether that is what was chosen. */
import { type Columns, numberAt, stringAt } from '../columns';
import type { Choice } from './link';

/** The op of a row, as a choice. */
export function opOf(table: Columns, row: number): Choice {
  const op = stringAt(table, 'op', row);
  const program = stringAt(table, 'program_id', row) ?? numberText(numberAt(table, 'program_id', row));
  const framework = stringAt(table, 'framework_op', row);
  return {
    ...(op === null ? {} : { op, ...(program === null ? {} : { program_id: program }) }),
    ...(framework === null ? {} : { framework_op: framework })
  };
}

function numberText(value: number): string | null {
  return Number.isNaN(value) ? null : String(value);
}

/**
 * Whether what a row stands for is what was chosen: parts that both name agree, and there is one.
 *
 * A framework op counts where one of the two knows no op; views keep more or less of its text.
 */
export function isSame(row: Choice, choice: Choice): boolean {
  const named = (part: keyof Choice) => row[part] !== undefined && choice[part] !== undefined;
  const both = (['op', 'program_id', 'step'] as const).filter(named);
  if (!named('op') && named('framework_op')) {
    return row.framework_op === choice.framework_op;
  }
  return both.some((part) => part !== 'program_id') && both.every((part) => row[part] === choice[part]);
}
