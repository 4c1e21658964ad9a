/** The ops that most of the busy time went to, as the overview's summary has them. */
import type { Json } from '../columns';
import { percent, time, utilization } from '../format';
import type { Summary } from '../host';
import { type Kind, kindOf } from '../kinds';
import { number, record, text } from '../payload';
import type { Choice } from '../shell/link';

export interface TopOp {
  readonly name: string;
  readonly kind: Kind;
  /** Of the busy time, or of all device time where that is what is known. */
  readonly fraction: number;
  readonly time_ps: number;
  readonly boundBy: string;
  readonly lines: readonly string[];
  readonly choice: Choice;
}

export function topOpsOf(summary: Summary): TopOp[] {
  return Array.isArray(summary.top_ops) ? summary.top_ops.map(opOf).filter(({ name }) => name !== '') : [];
}

function opOf(value: Json): TopOp {
  const op = record(value);
  const name = text(op.op) || text(op.name);
  const program_id = text(op.program_id);
  const boundBy = text(op.bound_by);
  const time_ps = number(op.self_time_ps);
  const fraction = number(op.busy_fraction ?? op.time_fraction);
  return {
    name,
    kind: kindOf(text(op.work_kind)),
    fraction,
    time_ps,
    boundBy,
    lines: [
      `${name}${text(op.program) ? ` of ${text(op.program)}` : ''}`,
      [text(op.category), text(op.framework_op)].filter(Boolean).join(', '),
      `${percent(fraction)} of busy time, ${time(time_ps)} on all devices together`,
      `FLOP/s ${utilization(number(op.flops_utilization))} of its peak, memory ${utilization(number(op.hbm_utilization))} of its`,
      boundBy ? `bound by ${boundBy}` : '',
      text(op.source)
    ].filter(Boolean),
    choice: { op: name, ...(program_id ? { program_id } : {}) }
  };
}
