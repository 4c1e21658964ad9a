/** What hovering a cell says: the exact value, the formula with its terms, the peak and its source, or why nothing is there. */
import {
  byteRate,
  bytes,
  count,
  exact,
  flopRate,
  flops,
  percent,
  SUSPICIOUS_FRACTION,
  time
} from '../format';
import type { Summary } from '../host';
import { kindOf } from '../kinds';
import { number, text } from '../payload';
import type { OpNode } from './tree';

type Explainer = (node: OpNode, summary: Summary) => string[];

/** The lines for one cell; empty when the cell says all there is. */
export function explainCell(field: string, node: OpNode, summary: Summary): string[] {
  return EXPLAINERS[field]?.(node, summary) ?? [];
}

/** The lines for a column's header. */
export function explainHeader(field: string, summary: Summary): string[] {
  const lines: Readonly<Record<string, string[]>> = {
    share: ['time of the row and everything below it ÷ time of the whole profile, idle time included'],
    time: ['time of the row and everything below it, summed over occurrences and devices'],
    self: ['time of the row without what ran inside it'],
    count: ['how often it ran'],
    flops: ['floating-point operations ÷ time, and their share of the peak', peakFlops(summary)],
    bandwidth: ['bytes accessed ÷ time, and their share of the peak', peakBytes(summary)],
    bound: ['the resource it uses most, as a share of that resource’s peak'],
    wasted: ['share of all time that would be saved if the row ran at the peak of what bounds it']
  };
  return (lines[field] ?? []).filter(Boolean);
}

/** `113 GFLOP/s f32 (measured)`; empty when nobody vouches for a peak. */
export function peakFlops(summary: Summary): string {
  const peak = number(summary.peak_flops_per_s);
  const dtype = text(summary.peak_flops_dtype);
  return Number.isFinite(peak)
    ? `peak ${flopRate(peak)} ${dtype}${inBrackets(text(summary.peak_flops_label))}`
    : '';
}

export function peakBytes(summary: Summary): string {
  const peak = number(summary.peak_bytes_per_s);
  return Number.isFinite(peak) ? `peak ${byteRate(peak)}${inBrackets(text(summary.peak_bytes_label))}` : '';
}

const EXPLAINERS: Readonly<Record<string, Explainer>> = {
  name: ({ labels, kind }) =>
    [
      labels.name ?? '',
      [kindOf(labels.work_kind).label, kind === 'op' ? labels.category : null].filter(Boolean).join(', '),
      labels.framework_op && labels.framework_op !== labels.name
        ? `framework op: ${labels.framework_op}`
        : '',
      labels.source ? `source: ${labels.source}` : '',
      labels.program ? `program: ${labels.program}` : ''
    ].filter(Boolean),
  share: ({ measures, labels }, summary) => [
    `${exact(measures.time_fraction * 100, '%')}: ${time(measures.time_ps)} of ${time(number(summary.total_time_ps))}`,
    `kind of work: ${kindOf(labels.work_kind).label}`
  ],
  time: ({ measures }) => [
    exact(measures.time_ps, 'ps'),
    ...perOccurrence(measures.time_ps, measures.occurrences, time)
  ],
  self: ({ measures }) =>
    Number.isFinite(measures.self_time_ps)
      ? [
          exact(measures.self_time_ps, 'ps'),
          ...perOccurrence(measures.self_time_ps, measures.occurrences, time)
        ]
      : ['No self time: this row only groups others.'],
  count: ({ measures, kind }) =>
    Number.isFinite(measures.occurrences)
      ? [`${exact(measures.occurrences, '')} occurrences`]
      : [kind === 'idle' ? 'Idle time has no occurrences.' : 'How often it ran is not recorded.'],
  flops: ({ measures, labels, kind }, summary) =>
    rateLines(
      measures.flops_per_s,
      measures.flops_utilization,
      `${flops(measures.flops)} ÷ ${time(measures.time_ps)} = ${flopRate(measures.flops_per_s)}`,
      exact(measures.flops_per_s, 'FLOP/s'),
      [peakFlops(summary), text(summary.peak_flops_source)],
      noRate(kind, labels.work_kind, measures.flops, 'does no floating-point arithmetic')
    ),
  bandwidth: ({ measures, labels, kind }, summary) =>
    rateLines(
      measures.bytes_per_s,
      measures.hbm_utilization,
      `${bytes(measures.bytes_accessed)} ÷ ${time(measures.time_ps)} = ${byteRate(measures.bytes_per_s)}`,
      exact(measures.bytes_per_s, 'B/s'),
      [peakBytes(summary), text(summary.peak_bytes_source)],
      noRate(kind, labels.work_kind, measures.bytes_accessed, 'accesses no memory')
    ),
  bound: ({ measures, labels }) =>
    labels.bound_by === null
      ? ['No resource can be named: neither its FLOP/s nor its bandwidth can be set against a peak.']
      : [
          `${labels.bound_by}: compute at ${percent(measures.flops_utilization)} of its peak, ` +
            `memory at ${percent(measures.hbm_utilization)} of its peak`
        ],
  wasted: ({ measures }) =>
    Number.isFinite(measures.wasted_fraction)
      ? [`${exact(measures.wasted_fraction * 100, '%')} of all time: what running at the peak would save`]
      : ['Unknown: it needs a utilisation, and there is none for this row.'],
  kind: ({ labels }) => [kindOf(labels.work_kind).what],
  category: ({ labels }) => (labels.category ? [labels.category] : ['The row groups several categories.']),
  framework: ({ labels }) =>
    labels.framework_op
      ? [labels.framework_op]
      : ['The program does not say which framework op this came from.']
};

function rateLines(
  rate: number,
  utilization: number,
  formula: string,
  exactRate: string,
  peak: readonly string[],
  missing: string
): string[] {
  if (!Number.isFinite(rate) || rate === 0) {
    return [missing];
  }
  const known = peak.filter(Boolean);
  const of = Number.isFinite(utilization)
    ? `${percent(utilization)} of ${known[0] ?? 'the peak'}`
    : 'No peak is known.';
  const doubt =
    utilization > SUSPICIOUS_FRACTION ? ['⚠ more than the peak allows: its cost or the peak is wrong'] : [];
  return [exactRate, formula, of, ...known.slice(1), ...doubt];
}

function noRate(kind: string, workKind: string | null, amount: number, nothing: string): string {
  if (kind === 'idle') {
    return 'Nothing ran.';
  }
  if (amount === 0) {
    return `It ${nothing}.`;
  }
  return workKind === 'custom'
    ? 'Unknown: XLA does not know the cost of a custom kernel.'
    : 'Unknown: the program does not tell the cost of this row.';
}

function perOccurrence(total: number, occurrences: number, format: (value: number) => string): string[] {
  return occurrences > 1 ? [`${format(total / occurrences)} on average, ${count(occurrences)} times`] : [];
}

function inBrackets(label: string): string {
  return label ? ` (${label})` : '';
}
