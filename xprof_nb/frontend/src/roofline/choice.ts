/** What a row of the roofline stands for: an op, a step, or the whole. */
import { type Columns, numberAt } from '../columns';
import { opOf } from '../shell/choice';
import type { Choice } from '../shell/link';
import { whatOf } from './points';

export function choiceOfRow(table: Columns, row: number): Choice {
  const step = numberAt(table, 'step', row);
  if (whatOf(table, row) === 'step') {
    return Number.isNaN(step) ? {} : { step };
  }
  return opOf(table, row);
}
