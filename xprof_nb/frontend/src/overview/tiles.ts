/** The headline numbers of a run: each with its unit, what it is of, what it means and which view is its evidence. */
import { byteRate, count, exact, flopRate, percent, time, utilization } from '../format';
import type { Answer } from '../host';
import { number, text } from '../payload';
import { definition } from './definition';
import { type Heard, isAwaited, reasonOf } from './heard';
import { peakMemory } from './peak_memory';

export interface Tile {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  /** By how much it varies; empty where that is no question. */
  readonly spread: string;
  /** Of what, or why there is no value. */
  readonly of: string;
  /** How full the tile's bar is; NaN for none. */
  readonly fraction: number;
  /** What hovering explains. */
  readonly lines: readonly string[];
  /** The question that is the evidence. */
  readonly view: string;
}

export function tilesOf(answer: Answer, pipeline: Heard): Tile[] {
  return [
    stepTime(answer),
    flopsUtilization(answer),
    bandwidth(answer),
    busy(answer),
    input(pipeline),
    peakMemory(answer)
  ];
}

function stepTime({ table, summary }: Answer): Tile {
  const mean = number(summary.step_time_mean_ps);
  const sd = number(summary.step_time_sd_ps);
  const steps = number(summary.step_count);
  const kind = text(summary.step_kind);
  return {
    id: 'step_time',
    label: 'step time',
    value: time(mean),
    spread: Number.isNaN(sd) ? '' : `± ${time(sd)}`,
    of: Number.isNaN(mean) ? 'no whole step was found' : meansOf(steps, kind, sd),
    fraction: Number.NaN,
    lines: [
      definition(table, 'step_time_mean_ps'),
      `mean ${exact(mean, 'ps')}, standard deviation ${exact(sd, 'ps')}`,
      `median ${time(number(summary.step_time_median_ps))}, ${time(number(summary.step_time_min_ps))} to ${time(number(summary.step_time_max_ps))}`
    ],
    view: 'steps'
  };
}

function meansOf(steps: number, kind: string, sd: number): string {
  const what = `${count(steps)} ${kind ? `${kind} ` : ''}step${steps === 1 ? '' : 's'}`;
  if (Number.isNaN(sd)) {
    return `mean of ${what}`;
  }
  return steps === 1 ? `mean ± sd of ${what}, over its devices` : `mean ± sd of ${what}`;
}

function flopsUtilization({ table, summary }: Answer): Tile {
  const used = number(summary.flops_utilization);
  const seconds = number(summary.total_time_ps) * 1e-12;
  const rate = number(summary.flops) / seconds;
  const peak = number(summary.peak_flops_per_s);
  const isOfOnePeak = Math.abs(rate / peak / used - 1) < 0.01;
  const dtype = `${text(summary.peak_flops_dtype)} (${text(summary.peak_flops_label)})`;
  const against = Number.isNaN(peak) ? 'no peak is known' : `of ${flopRate(peak)} ${dtype}`;
  return {
    id: 'flops',
    label: 'FLOPs utilisation (MFU)',
    value: utilization(used),
    spread: '',
    of: Number.isNaN(rate)
      ? `no FLOPs are known; ${against}`
      : `${flopRate(rate)} ${isOfOnePeak || Number.isNaN(used) ? against : '; each type against its own peak'}`,
    fraction: used,
    lines: [
      definition(table, 'flops_utilization'),
      `while busy: ${utilization(number(summary.busy_flops_utilization))}`,
      source('peak', flopRate(peak), text(summary.peak_flops_source))
    ],
    view: 'roofline'
  };
}

function bandwidth({ table, summary }: Answer): Tile {
  const used = number(summary.hbm_utilization);
  const rate = number(summary.hbm_bytes) / (number(summary.total_time_ps) * 1e-12);
  const peak = number(summary.peak_bytes_per_s);
  const against = Number.isNaN(peak)
    ? 'no peak is known'
    : `of ${byteRate(peak)} (${text(summary.peak_bytes_label)})`;
  return {
    id: 'bandwidth',
    label: 'memory bandwidth',
    value: utilization(used),
    spread: '',
    of: Number.isNaN(rate) ? `no traffic is known; ${against}` : `${byteRate(rate)} ${against}`,
    fraction: used,
    lines: [
      definition(table, 'hbm_utilization'),
      source('peak', byteRate(peak), text(summary.peak_bytes_source))
    ],
    view: 'roofline'
  };
}

function busy({ table, summary }: Answer): Tile {
  const fraction = number(summary.device_busy_fraction);
  const devices = number(summary.device_count);
  const duty = number(summary.device_duty_cycle_fraction);
  return {
    id: 'busy',
    label: 'devices busy',
    value: percent(fraction),
    spread: '',
    of: `of ${time(number(summary.total_time_ps))} on ${count(devices)} device${devices === 1 ? '' : 's'}${
      Number.isNaN(duty) ? '' : `; duty cycle ${percent(duty)}`
    }`,
    fraction,
    lines: [
      definition(table, 'device_busy_fraction'),
      `busy ${exact(number(summary.busy_time_ps), 'ps')}`,
      `duty cycle: ${definition(table, 'device_duty_cycle_fraction')}`
    ],
    view: 'op_profile'
  };
}

function input(pipeline: Heard): Tile {
  const { answer, failure } = pipeline;
  const waiting = number(answer?.summary.input_fraction);
  return {
    id: 'input',
    label: 'waiting for input',
    value: isAwaited(pipeline) ? '…' : percent(waiting),
    spread: '',
    of: text(answer?.summary.bound)
      ? `of step time: ${text(answer?.summary.bound)}`
      : failure || reasonOf(answer),
    fraction: waiting,
    lines: [
      'Share of step time in infeed, the host’s input pipeline and transfers to the device.',
      'From 5 % on a program is moderately input-bound, from 20 % on highly.'
    ],
    view: 'input_pipeline'
  };
}

function source(what: string, value: string, said: string): string {
  return said ? `${what} ${value}: ${said}` : '';
}
