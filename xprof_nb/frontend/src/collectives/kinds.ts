/** Communication by kind, as the summary of `collectives` has it. */
import { type Columns, numberAt, stringAt } from '../columns';
import type { Summary } from '../host';
import { number, record, text } from '../payload';

export interface MovingKind {
  readonly kind: string;
  /** The kind of work whose colour it has. */
  readonly work: 'collective' | 'data' | 'host';
  readonly occurrences: number;
  readonly time_ps: number;
  readonly exposed_ps: number;
  /** Of the time in which any of the kind went on. */
  readonly exposedFraction: number;
  readonly exposedPerStep_ps: number;
  readonly payload_bytes: number;
  readonly algorithm_bytes_per_s: number;
  readonly bus_bytes_per_s: number;
  readonly linkUtilization: number;
}

export interface LinkPeak {
  readonly bytes_per_s: number;
  readonly label: string;
  readonly source: string;
}

export interface ExposedStep {
  readonly step: number;
  readonly length_ps: number;
  readonly exposed_ps: number;
  readonly copyExposed_ps: number;
}

export function kindsOf(summary: Summary): MovingKind[] {
  return listOf(summary.by_kind).map((kind) => ({
    kind: text(kind.kind),
    work: workOf(text(kind.kind)),
    occurrences: number(kind.occurrences),
    time_ps: number(kind.time_ps),
    exposed_ps: number(kind.exposed_time_ps),
    exposedFraction: number(kind.exposed_fraction),
    exposedPerStep_ps: number(kind.exposed_per_step_ps),
    payload_bytes: number(kind.payload_bytes),
    algorithm_bytes_per_s: number(kind.algorithm_bytes_per_s),
    bus_bytes_per_s: number(kind.bus_bytes_per_s),
    linkUtilization: number(kind.link_utilization)
  }));
}

/**
 * The kinds of some rows of the table.
 *
 * Exposed times are sums of those of ops: where ops of a kind overlap, each counts.
 */
export function kindsOfRows(table: Columns, rows: readonly number[], deviceCount: number): MovingKind[] {
  const byKind = new Map<string, number[]>();
  for (const row of rows) {
    const kind = stringAt(table, 'kind', row) ?? '';
    byKind.set(kind, [...(byKind.get(kind) ?? []), row]);
  }
  return [...byKind]
    .map(([kind, mine]) => kindOfRows(table, kind, mine, deviceCount))
    .sort((a, b) => b.exposed_ps - a.exposed_ps);
}

function kindOfRows(table: Columns, kind: string, rows: readonly number[], devices: number): MovingKind {
  const at = (name: string) => (row: number) => numberAt(table, name, row);
  const total = (value: (row: number) => number) => {
    const known = rows.map(value).filter((each) => !Number.isNaN(each));
    return known.length === 0 ? Number.NaN : known.reduce((sum, each) => sum + each, 0);
  };
  const time = at('time_ps');
  const rate = (name: string) => {
    const of = at(name);
    const known = (row: number) => (Number.isNaN(of(row)) ? Number.NaN : time(row));
    return total((row) => of(row) * time(row)) / total(known);
  };
  const [time_ps, exposed_ps] = [total(time), total(at('exposed_time_ps'))];
  return {
    kind,
    work: workOf(kind),
    occurrences: total(at('occurrences')),
    time_ps,
    exposed_ps,
    exposedFraction: exposed_ps / time_ps,
    exposedPerStep_ps: total(at('exposed_per_step_ps')) / devices,
    payload_bytes: total((row) => at('payload_bytes')(row) * at('occurrences')(row)),
    algorithm_bytes_per_s: rate('algorithm_bytes_per_s'),
    bus_bytes_per_s: rate('bus_bytes_per_s'),
    linkUtilization: rate('link_utilization')
  };
}

export function peakOf(summary: Summary): LinkPeak {
  return {
    bytes_per_s: number(summary.link_peak_bytes_per_s),
    label: text(summary.link_peak_label),
    source: text(summary.link_peak_source)
  };
}

export function stepsOf(summary: Summary): ExposedStep[] {
  return listOf(summary.steps).map((step) => ({
    step: number(step.step),
    length_ps: number(step.length_ps),
    exposed_ps: number(step.exposed_ps),
    copyExposed_ps: number(step.copy_exposed_ps)
  }));
}

/** Copies within a device move data, those from and to the host are the host's; all else is a collective. */
export function workOf(kind: string): MovingKind['work'] {
  if (kind.includes('host')) {
    return 'host';
  }
  return kind.includes('copy') ? 'data' : 'collective';
}

function listOf(value: unknown) {
  return Array.isArray(value) ? value.map(record) : [];
}
