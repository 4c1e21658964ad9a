/** What hovering a framework op says. */
import { byteRate, count, exact, flopRate, percent, time } from '../format';
import { kindOf } from '../kinds';
import type { OpNode } from '../tree/tree';
import { HEADS } from './fields';

/** The lines for a row or a box. */
export function explainNode({ measures, labels, kind, children }: OpNode): string[] {
  const { self_time_ps, time_fraction, forward_time_ps, backward_time_ps, rematted_time_ps } = measures;
  const passes = [
    ['forward', forward_time_ps],
    ['backward', backward_time_ps],
    ['computed again', rematted_time_ps]
  ] as const;
  return [
    labels.framework_op ?? labels.name ?? '',
    `${time(self_time_ps)} (${exact(self_time_ps, 'ps')})${Number.isNaN(time_fraction) ? '' : `, ${percent(time_fraction)} of device time`}`,
    ...passes
      .filter(([, spent]) => spent > 0)
      .map(([pass, spent]) => `${pass} ${time(spent)}, ${percent(spent / self_time_ps)}`),
    measures.flops_per_s > 0
      ? `${flopRate(measures.flops_per_s)}, ${percent(measures.flops_utilization)} of peak`
      : '',
    measures.hbm_bytes_per_s > 0
      ? `${byteRate(measures.hbm_bytes_per_s)}, ${percent(measures.hbm_utilization)} of peak`
      : '',
    kind === 'op' && measures.occurrences > 0 ? `${count(measures.occurrences)} times` : '',
    children.length > 0 ? `mostly ${kindOf(labels.work_kind).label}` : kindOf(labels.work_kind).label
  ].filter(Boolean);
}

export function explainHead(field: string): string[] {
  return [HEADS[field] ?? ''].filter(Boolean);
}
