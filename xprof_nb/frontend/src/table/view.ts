/** A question without a picture of its own: its sentence and its table. */
import type { Mount } from '../host';
import { answerView } from '../shell/answer';
import type { FieldOptions } from './fields';

/** Draw the answer of a host into an element. */
export const mount: Mount = (host, el) => {
  const { view } = host.snapshot;
  return answerView({ label: view.replaceAll('_', ' '), columns: COLUMNS[view] ?? [] })(host, el);
};

/** The columns worth a screen, where an answer has many. */
const COLUMNS: Record<string, readonly (string | FieldOptions)[]> = {
  ops: [
    'op',
    { name: 'device', width: 80 },
    { name: 'program', width: 120 },
    { name: 'category', width: 120 },
    { name: 'time_fraction', label: 'of device time' },
    'self_time_ps',
    'time_ps',
    'occurrences',
    'flops_per_s',
    'flops_utilization',
    'hbm_bytes_per_s',
    'hbm_utilization',
    'arithmetic_intensity',
    { name: 'bound_by', width: 88 },
    'wasted_fraction',
    'framework_op',
    'source'
  ],
  events: ['name', 'plane', 'line', 'device', 'start_ps', 'duration_ps', 'occurrences']
};
