/** Steps: how long each took, busy and idle, as bars and as a table. */
import { type Columns, numberAt } from '../columns';
import { answerView } from '../shell/answer';
import { StepBars } from './bars';

export const mount = answerView({
  label: 'steps',
  columns: [
    { name: 'name', width: 160 },
    { name: 'step', width: 72 },
    { name: 'device', width: 96 },
    'kind',
    'step_time_ps',
    'duration_ps',
    'busy_time_ps',
    'idle_time_ps',
    'compile_time_ps',
    'start_ps',
    { name: 'is_partial', label: 'cut', title: 'Cut by an edge of the capture: left out of means' },
    { name: 'host', width: 120 }
  ],
  parts: (frame) => [new StepBars(frame)],
  choiceOf
});

function choiceOf(table: Columns, row: number) {
  const step = numberAt(table, 'step', row);
  return Number.isNaN(step) ? {} : { step };
}
