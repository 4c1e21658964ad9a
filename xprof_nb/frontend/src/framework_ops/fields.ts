/** The columns of the tree of framework ops, and in which order they give way. */
import { byteRate, count, flopRate, MISSING, percent, time } from '../format';
import { kindOf } from '../kinds';
import { type Field, type Layout, label, measure, rate } from '../tree/fields';
import type { Label, Measure } from '../tree/tree';

const FIELDS: readonly Field[] = [
  label('name', 'name', 'name', 180, 3),
  { ...measure('share', 'share of time', 'time_fraction', 124, percent), align: 'left', grow: 2 },
  measure('self', 'time', 'self_time_ps', 76, time),
  measure('forward', 'forward', 'forward_time_ps', 76, orMissing(time)),
  measure('backward', 'backward', 'backward_time_ps', 80, orMissing(time)),
  measure('again', 'computed again', 'rematted_time_ps', 112, orMissing(time)),
  measure('count', 'occurrences', 'occurrences', 92, count),
  measure('hlo', 'HLO ops', 'hlo_op_count', 70, orMissing(count)),
  rate('flops', 'FLOP/s, of peak', 'flops_per_s', 'flops_utilization', 186, flopRate),
  rate('bandwidth', 'bandwidth, of peak', 'hbm_bytes_per_s', 'hbm_utilization', 160, byteRate),
  {
    ...label('kind', 'kind of work', 'work_kind', 124, 0),
    cell: (node) => ({ text: kindOf(node.labels.work_kind).label })
  },
  label('framework', 'framework op', 'framework_op', 280, 2)
];

export const LAYOUT: Layout = {
  fields: FIELDS,
  keptLongest: [
    ...['name', 'share', 'self', 'forward', 'backward', 'flops', 'bandwidth', 'again', 'count', 'hlo'],
    ...['kind', 'framework']
  ]
};

/** What a cell explains on hover, where it is more than the heading says. */
export const HEADS: Readonly<Record<string, string>> = {
  share: 'self time of what is below ÷ all device time, idle time included; hosts have no share of it',
  self: 'device time of what is below the row, or host time of it',
  forward: 'of that, in the pass forward of a gradient (jvp)',
  backward: 'of that, in the pass back of a gradient (transpose)',
  again: 'of that, computed a second time for the pass back: checkpoints and rematerialisation',
  hlo: 'how many HLO ops XLA made of it',
  flops: 'floating-point operations ÷ self time, and the share of the peak',
  bandwidth: 'bytes of main memory ÷ self time, and the share of the peak',
  kind: 'the kind of work most of its time was spent on'
};

/** The measures that some runs have none of. */
export const SOMETIMES: readonly (Measure | Label)[] = [
  'forward_time_ps',
  'backward_time_ps',
  'rematted_time_ps'
];

/** Nothing of the kind is no time of 0. */
function orMissing(write: (value: number) => string): (value: number) => string {
  return (value) => (value === 0 ? MISSING : write(value));
}
