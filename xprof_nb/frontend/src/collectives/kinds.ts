/** Communication by kind, as the summary of `collectives` has it. */
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
