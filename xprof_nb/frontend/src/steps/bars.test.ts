import { describe, expect, it } from 'vitest';
import { columnsOf } from '../columns';
import { barsOfPipeline, barsOfSteps, explained, joined, partsOf, type StepBar, typical } from './bars';
import { glyphColumns } from './chart';

const MS = 1e9;

function step(number: number, device: string, time: number, more: Record<string, number | string> = {}) {
  return {
    host: 'h',
    device,
    step: number,
    name: 'train',
    kind: 'marked',
    step_time_ps: time * MS,
    duration_ps: time * MS,
    busy_time_ps: 0.75 * time * MS,
    compile_time_ps: 0,
    is_partial: 0,
    ...more
  };
}

const rowsOf = (table: { rows: number }) => [...Array(table.rows).keys()];

describe('bars of steps', () => {
  it('are means over the devices, between the shortest and the longest', () => {
    const table = columnsOf([step(0, 'TPU:0', 10), step(1, 'TPU:0', 20), step(0, 'TPU:1', 14)]);
    const [first, second] = barsOfSteps(table, rowsOf(table), null) as [StepBar, StepBar];
    expect(first).toMatchObject({
      step: 0,
      time_ps: 12 * MS,
      shortest_ps: 10 * MS,
      longest_ps: 14 * MS,
      devices: 2
    });
    expect(Object.fromEntries(first.parts)).toEqual({ busy: 9 * MS, idle: 3 * MS });
    expect(second).toMatchObject({ step: 1, time_ps: 20 * MS, devices: 1 });
  });

  it('never show more busy time than the step has, and say what the ops took', () => {
    const table = columnsOf([step(0, 'CPU:0', 10, { busy_time_ps: 12 * MS })]);
    const [bar] = barsOfSteps(table, [0], null) as [StepBar];
    expect(Object.fromEntries(bar.parts)).toEqual({ busy: 10 * MS, idle: 0 });
    expect(explained(bar)).toContain('its ops took 12.0 ms: they ran on after the next step had begun');
  });

  it('take the last step’s own length, and nothing from a step without a device', () => {
    const table = columnsOf([
      { ...step(0, 'TPU:0', 10), step_time_ps: Number.NaN, duration_ps: 8 * MS, busy_time_ps: Number.NaN }
    ]);
    const [bar] = barsOfSteps(table, [0], null) as [StepBar];
    expect(bar.time_ps).toBe(8 * MS);
    expect(Object.fromEntries(bar.parts)).toEqual({ idle: 8 * MS });
  });

  it('have the parts that the input pipeline knows of the same step', () => {
    const steps = columnsOf([step(0, 'TPU:0', 10), step(1, 'TPU:0', 10)]);
    const pipeline = columnsOf([
      { ...step(0, 'TPU:0', 10), compute_ps: 6 * MS, infeed_ps: 1 * MS, idle_ps: 3 * MS },
      { ...step(1, 'TPU:0', 9), compute_ps: 9 * MS }
    ]);
    const [known, other] = barsOfSteps(steps, [0, 1], pipeline) as [StepBar, StepBar];
    expect(partsOf([known]).map(({ id }) => id)).toEqual(['compute', 'infeed', 'idle']);
    expect(explained(known)).toContain('infeed 1.00 ms, 10.0 %');
    expect(Object.fromEntries(other.parts), 'of another part of the run').toEqual({
      busy: 7.5 * MS,
      idle: 2.5 * MS
    });
  });

  it('say why one is in no mean', () => {
    const table = columnsOf([
      step(0, 'TPU:0', 4, { is_partial: 1, cut: 'cut at the beginning of the capture' }),
      step(1, 'TPU:0', 30, { compile_time_ps: 20 * MS, cut: '' }),
      step(2, 'TPU:0', 10, { cut: '' }),
      step(3, 'TPU:0', 12, { cut: '' })
    ]);
    expect(barsOfSteps(table, rowsOf(table), null).map(({ leftOut }) => leftOut)).toEqual([
      'cut at the beginning of the capture',
      'it compiled for 20.0 ms',
      '',
      ''
    ]);
    expect(typical(table, rowsOf(table))).toEqual({ mean_ps: 11 * MS, median_ps: 11 * MS });
    expect(typical(table, [1])).toEqual({ mean_ps: 30 * MS, median_ps: 30 * MS });
  });

  it('are joined when there are too many, and say so', () => {
    const table = columnsOf([1, 2, 3, 4, 5].map((time, at) => step(at, 'TPU:0', time)));
    const bars = joined(barsOfPipeline(table, rowsOf(table)), 3);
    expect(bars.map(({ step: number, time_ps }) => [number, time_ps / MS])).toEqual([
      [1, 1.5],
      [3, 3.5],
      [4, 5]
    ]);
    expect(bars[0]?.title).toBe('steps 0 to 1: 2, their mean; the longest is 1');
    expect(joined(bars, 3)).toBe(bars);
  });
});

it('what is drawn piles the parts up to the time of the step', () => {
  const table = columnsOf([
    { ...step(7, 'TPU:0', 10), compute_ps: 6 * MS, host_offload_ps: 3 * MS, idle_ps: 1 * MS }
  ]);
  const bars = barsOfPipeline(table, [0]);
  expect(glyphColumns(bars, partsOf(bars), [1])).toMatchObject({
    step: [7],
    level0: [0],
    level1: [6 * MS],
    level2: [9 * MS],
    level3: [10 * MS],
    time: [10 * MS],
    cross: [' '],
    edge: [1]
  });
});
