/** The columns of the op profile, and in which order they give way. */
import { byteRate, count, flopRate, MISSING, percent, time } from '../format';
import { kindOf } from '../kinds';
import { type Field, type Layout, label, measure, rate } from '../tree/fields';

/** In the order they stand in the table. */
export const FIELDS: readonly Field[] = [
  label('name', 'name', 'name', 156, 3),
  { ...measure('share', 'share of time', 'time_fraction', 124, percent), align: 'left', grow: 2 },
  measure('time', 'time', 'time_ps', 72, time),
  measure('self', 'self time', 'self_time_ps', 84, time),
  measure('count', 'occurrences', 'occurrences', 92, count),
  rate('flops', 'FLOP/s, of peak', 'flops_per_s', 'flops_utilization', 186, flopRate),
  rate('bandwidth', 'bandwidth, of peak', 'hbm_bytes_per_s', 'hbm_utilization', 160, byteRate),
  label('bound', 'bound by', 'bound_by', 74, 0),
  measure('wasted', 'wasted', 'wasted_fraction', 70, percent),
  measure('step', 'of a step', 'step_fraction', 76, percent),
  measure('devices', 'devices', 'device_imbalance_fraction', 112, above),
  {
    ...label('kind', 'kind of work', 'work_kind', 124, 0),
    cell: (node) => ({ text: kindOf(node.labels.work_kind).label })
  },
  label('category', 'category', 'category', 160, 1),
  label('framework', 'framework op', 'framework_op', 320, 2)
];

/** `+3.1 %`: how far the slowest device is above the mean. */
function above(fraction: number): string {
  return Number.isNaN(fraction) ? MISSING : `+${percent(fraction)}`;
}

/** Self time before time: it is what the share and the order of the rows are of. */
const KEPT_LONGEST: readonly string[] = [
  'name',
  'share',
  'self',
  'bound',
  'wasted',
  'flops',
  'bandwidth',
  'step',
  'devices',
  'time',
  'count',
  'kind',
  'category',
  'framework'
];

export const LAYOUT: Layout = { fields: FIELDS, keptLongest: KEPT_LONGEST };
