import { expect, it } from 'vitest';
import { rowsTable } from '../testing/fixtures';
import { kindTable } from './kind_table';
import { kindsOf, kindsOfRows, peakOf, stepsOf, workOf } from './kinds';

const MS = 1e9;
const summary = {
  link_peak_bytes_per_s: 200e9,
  link_peak_label: 'datasheet',
  link_peak_source: 'a sheet of data',
  by_kind: [
    {
      kind: 'all-reduce',
      occurrences: 40,
      time_ps: 30 * MS,
      exposed_time_ps: 12 * MS,
      exposed_fraction: 0.4,
      exposed_per_step_ps: 3 * MS,
      payload_bytes: 2 ** 30,
      algorithm_bytes_per_s: 30e9,
      bus_bytes_per_s: 50e9,
      link_utilization: 0.25
    },
    { kind: 'async copy', occurrences: 1, time_ps: 1 * MS, exposed_time_ps: 0, bus_bytes_per_s: null }
  ],
  steps: [{ step: 3, length_ps: 10 * MS, exposed_ps: 3 * MS, exposed_fraction: 0.3, copy_exposed_ps: 0 }]
};

const cells = (table: HTMLElement, kind: string) =>
  [...table.querySelectorAll(`tr[data-moving="${kind}"] > *`)].map((cell) => cell.textContent);

it('every kind has its times, its payload and its bandwidth against the peak of the link', () => {
  const table = kindTable(kindsOf(summary), peakOf(summary));
  expect(cells(table, 'all-reduce')).toEqual([
    '▲all-reduce',
    '40',
    '30.0 ms',
    '12.0 ms, 40.0 %',
    '3.00 ms',
    '1.00 GiB',
    '30.0 GB/s',
    '50.0 GB/s, 25.0 %'
  ]);
  const bus = table.querySelector('tr[data-moving="all-reduce"] > :last-child') as HTMLElement;
  expect(bus.title).toContain('of 200 GB/s (datasheet): a sheet of data');
  expect(bus.querySelector<HTMLElement>('.jp-XprofBarTable-bar')?.style.width).toBe('25%');
  expect(bus.querySelector<HTMLElement>('.jp-Collectives-peak')?.style.left).toBe('100%');
});

it('what is unknown is missing, not nought', () => {
  const table = kindTable(kindsOf(summary), peakOf({}));
  expect(cells(table, 'async copy').slice(3)).toEqual(['0 ps', '–', '–', '–', '–']);
  expect(kindTable(kindsOf({}), peakOf({})).querySelectorAll('tbody tr')).toHaveLength(0);
});

it('steps are read as they are', () => {
  expect(stepsOf(summary)).toEqual([{ step: 3, length_ps: 10 * MS, exposed_ps: 3 * MS, copyExposed_ps: 0 }]);
  expect(stepsOf({ steps: 'none' })).toEqual([]);
});

it('kinds have the colour of what they are', () => {
  expect(
    ['all-reduce', 'send/recv', 'host offload', 'async copy', 'host-to-device copy'].map(workOf)
  ).toEqual(['collective', 'collective', 'host', 'data', 'host']);
});

it('kinds of the rows shown are their sums, and rates means over time', () => {
  const row = (kind: string, time: number, bus: number) => ({
    kind,
    occurrences: 10,
    time_ps: time * MS,
    exposed_time_ps: (time / 2) * MS,
    exposed_per_step_ps: 1 * MS,
    payload_bytes: 100,
    bus_bytes_per_s: bus,
    link_utilization: bus / 200e9
  });
  const table = rowsTable([
    row('all-reduce', 1, 100e9),
    row('all-reduce', 3, 20e9),
    row('all-to-all', 9, Number.NaN),
    row('all-reduce', 50, 1e9)
  ]);
  const [scatter, reduce] = kindsOfRows(table, [0, 1, 2], 2);
  expect(scatter).toMatchObject({ kind: 'all-to-all', occurrences: 10, bus_bytes_per_s: Number.NaN });
  expect(reduce).toMatchObject({
    occurrences: 20,
    time_ps: 4 * MS,
    exposed_ps: 2 * MS,
    exposedFraction: 0.5,
    exposedPerStep_ps: 1 * MS,
    payload_bytes: 2000,
    bus_bytes_per_s: 40e9,
    linkUtilization: 0.2,
    algorithm_bytes_per_s: Number.NaN
  });
});
