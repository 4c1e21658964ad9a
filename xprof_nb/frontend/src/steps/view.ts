/** Steps: how long each took and what its time went to, as bars and as a table. */
import { type Columns, numberAt } from '../columns';
import { answerView } from '../shell/answer';
import { StepsPart } from './part';

export const mount = answerView({
  label: 'steps',
  columns: [
    { name: 'name', width: 160 },
    { name: 'step', width: 72 },
    { name: 'device', isMinor: true, width: 96 },
    {
      name: 'kind',
      isMinor: true,
      width: 88,
      title: 'Marked by the program, recorded by the runtime, or inferred from program runs'
    },
    { name: 'step_time_ps', title: 'From the start of the step to the start of the next; none for the last' },
    { name: 'duration_ps', title: 'The step alone' },
    { name: 'busy_time_ps', title: 'Device time of the ops launched in the step, wherever they ran' },
    { name: 'idle_time_ps', title: 'The rest of the duration' },
    { name: 'compile_time_ps', title: 'How long the host compiled before the next step' },
    'start_ps',
    { name: 'is_partial', label: 'partial', title: 'Cut by an edge: left out of means' },
    { name: 'cut', width: 220, title: 'Where it was cut' },
    { name: 'host', width: 120 }
  ],
  parts: (frame) => [new StepsPart(frame)],
  choiceOf
});

function choiceOf(table: Columns, row: number) {
  const step = numberAt(table, 'step', row);
  return Number.isNaN(step) ? {} : { step };
}
