/** The input pipeline: what each step waited for, and whether that was input. */
import { type Columns, numberAt } from '../columns';
import { answerView } from '../shell/answer';
import { PARTS } from '../steps/parts';
import { PipelinePart } from './part';

export const mount = answerView({
  label: 'input pipeline',
  columns: [
    { name: 'name', width: 160 },
    { name: 'step', width: 72 },
    { name: 'device', isMinor: true, width: 96 },
    {
      name: 'step_time_ps',
      title: 'From the start of the step to the start of the next; of the last, its own length'
    },
    { name: 'input_fraction', label: 'waits for input' },
    ...PARTS.map(({ id, label }) => ({ name: `${id}_ps`, title: label })),
    { name: 'compute_16bit_ps', label: 'compute, 16-bit' },
    { name: 'is_partial', label: 'partial', title: 'Cut by an edge: left out of means' },
    { name: 'host', width: 120 }
  ],
  parts: (frame) => [new PipelinePart(frame)],
  choiceOf
});

function choiceOf(table: Columns, row: number) {
  const step = numberAt(table, 'step', row);
  return Number.isNaN(step) ? {} : { step };
}
