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
import type { Row } from '../tree/rows';
import type { OpNode } from '../tree/tree';

type Explainer = (node: OpNode, summary: Summary) => string[];

/** What hovering a part of the table says; null where there is nothing to say. */
export function explainAt(target: Element, rowOf: (cell: Element) => Row | undefined, summary: Summary) {
  const cell = target.closest<HTMLElement>('[data-field]');
  const field = cell?.dataset.field;
  if (cell === null || field === undefined) {
    return null;
  }
  const row = rowOf(cell);
  if (row === undefined) {
    return { anchor: cell, lines: explainHeader(field, summary) };
  }
  return row.type === 'node' ? { anchor: cell, lines: explainCell(field, row.node, summary) } : null;
}

/** The lines for one cell; empty when the cell says all there is. */
export function explainCell(field: string, node: OpNode, summary: Summary): string[] {
  return EXPLAINERS[field]?.(node, summary) ?? [];
}

/** The lines for a column's header. */
export function explainHeader(field: string, summary: Summary): string[] {
  const lines: Readonly<Record<string, string[]>> = {
    share: ['self time of the row’s ops ÷ all device time, idle time included'],
    time: [
      'device time of all occurrences, with what ran inside them; of a group: the self times of its ops'
    ],
    self: ['device time of all occurrences, without what ran inside them'],
    count: ['how often it ran'],
    flops: ['floating-point operations ÷ self time, and the share of the peak', peakFlops(summary)],
    bandwidth: ['bytes of main memory ÷ self time, and the share of the peak', peakBytes(summary)],
    bound: ['the resource nearest to its peak; a collective waits for the link, a transfer for the host'],
    wasted: ['share of time × (1 − the higher of the two utilisations): what running at the peak would save'],
    step: ['self time in whole steps, per step and device ÷ mean time of a step, from start to start'],
    devices: [
      'self time on each device: from the fastest to the slowest, the mean marked; slowest ÷ mean − 1'
    ]
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
  share: ({ measures, labels, kind }, summary) => [
    Number.isFinite(measures.time_fraction)
      ? `${exact(measures.time_fraction * 100, '%')}: ${time(measures.self_time_ps)} of ${time(number(summary.total_time_ps))}`
      : noTime(kind),
    `kind of work: ${kindOf(labels.work_kind).label}`
  ],
  time: ({ measures, kind }) =>
    Number.isFinite(measures.time_ps)
      ? [exact(measures.time_ps, 'ps'), ...perOccurrence(measures.time_ps, measures.occurrences, time)]
      : [noTime(kind)],
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
    rateLines({
      rate: exact(measures.flops_per_s, 'FLOP/s'),
      formula: `${flops(measures.flops)} ÷ ${time(measures.self_time_ps)} = ${flopRate(measures.flops_per_s)}`,
      utilization: measures.flops_utilization,
      peak: [peakFlops(summary), text(summary.peak_flops_source)],
      missing:
        measures.flops_per_s > 0 ? '' : noRate(kind, labels.work_kind, measures.flops, 'does no arithmetic')
    }),
  bandwidth: ({ measures, labels, kind }, summary) =>
    rateLines({
      rate: exact(measures.hbm_bytes_per_s, 'B/s'),
      formula: trafficFormula(measures),
      utilization: measures.hbm_utilization,
      peak: [peakBytes(summary), text(summary.peak_bytes_source)],
      missing:
        measures.hbm_bytes_per_s > 0
          ? ''
          : noRate(kind, labels.work_kind, measures.bytes_accessed, 'accesses no main memory')
    }),
  bound: ({ measures, labels }) =>
    labels.bound_by === null
      ? ['No resource can be named: neither its FLOP/s nor its bandwidth can be set against a peak.']
      : [
          `${labels.bound_by}: compute at ${percent(measures.flops_utilization)} of its peak, ` +
            `memory at ${percent(measures.hbm_utilization)} of its peak`
        ],
  wasted: ({ measures }) =>
    Number.isFinite(measures.wasted_fraction)
      ? [
          `${exact(measures.wasted_fraction * 100, '%')} of all time`,
          `${percent(measures.time_fraction)} × (1 − ${percent(bestUtilization(measures))})`
        ]
      : ['Unknown: it needs a utilisation, and there is none for this row.'],
  step: ({ measures }) =>
    Number.isFinite(measures.step_fraction)
      ? [
          `${exact(measures.step_fraction * 100, '%')} of the mean step`,
          `${time(measures.time_per_step_ps)} per step and device`
        ]
      : ['Unknown: no step was marked or inferred, or the row ran in none.'],
  devices: ({ measures, labels }) =>
    Number.isFinite(measures.device_max_time_ps)
      ? [
          `slowest ${time(measures.device_max_time_ps)}${labels.slowest_device ? ` on ${labels.slowest_device}` : ''}`,
          `mean ${time(measures.device_mean_time_ps)}, fastest ${time(measures.device_min_time_ps)}`
        ]
      : ['Unknown: one device, or a row without a time of its own.'],
  kind: ({ labels }) => [kindOf(labels.work_kind).what],
  category: ({ labels }) => (labels.category ? [labels.category] : ['The row groups several categories.']),
  framework: ({ labels }) =>
    labels.framework_op
      ? [labels.framework_op]
      : ['The program does not say which framework op this came from.']
};

interface Rate {
  readonly rate: string;
  readonly formula: string;
  readonly utilization: number;
  /** The peak and its source. */
  readonly peak: readonly string[];
  /** Why there is no rate; empty when there is one. */
  readonly missing: string;
}

function rateLines({ rate, formula, utilization, peak, missing }: Rate): string[] {
  if (missing !== '') {
    return [missing];
  }
  const known = peak.filter(Boolean);
  const of = Number.isFinite(utilization)
    ? `${percent(utilization)} of ${known[0] ?? 'the peak'}`
    : 'No peak is known.';
  const doubt =
    utilization > SUSPICIOUS_FRACTION ? ['⚠ more than the peak allows: its cost or the peak is wrong'] : [];
  return [rate, formula, of, ...known.slice(1), ...doubt];
}

/** Bytes over time; where not all bytes are of main memory, what the difference is. */
function trafficFormula(measures: OpNode['measures']): string {
  const all = byteRate(measures.bytes_per_s);
  return measures.hbm_bytes_per_s === measures.bytes_per_s
    ? `${bytes(measures.bytes_accessed)} ÷ ${time(measures.self_time_ps)} = ${all}`
    : `main memory alone; ${all} with on-chip memory (${bytes(measures.bytes_accessed)})`;
}

function bestUtilization(measures: OpNode['measures']): number {
  return Math.min(1, Math.max(0, measures.flops_utilization || 0, measures.hbm_utilization || 0));
}

function noTime(kind: string): string {
  return kind === 'fused' ? 'No backend measures inside a fusion.' : 'Its time is not recorded.';
}

function noRate(kind: string, workKind: string | null, amount: number, nothing: string): string {
  if (kind === 'idle') {
    return 'Nothing ran.';
  }
  if (kind === 'fused') {
    return noTime(kind);
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
