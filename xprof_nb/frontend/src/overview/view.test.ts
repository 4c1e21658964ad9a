import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { columnsOf } from '../columns';
import { type Answer, type Host, HostError, type Mounted, type Summary } from '../host';
import { StaticHost } from '../hosts/static';
import { linkOf } from '../shell/link';
import { FakeHost, snapshot } from '../testing/fixtures';
import { mount } from './view';

const MS = 1e9;
const HOSTILE = '<img src=x onerror="globalThis.pwned=1">';

const summary: Summary = {
  sentence: 'Memory-bound: step 20.0 ms.',
  step_kind: 'marked',
  step_count: 4,
  step_time_mean_ps: 20 * MS,
  step_time_sd_ps: 0.5 * MS,
  step_time_median_ps: 20 * MS,
  step_time_min_ps: 19 * MS,
  step_time_max_ps: 21 * MS,
  total_time_ps: 100 * MS,
  busy_time_ps: 80 * MS,
  device_busy_fraction: 0.8,
  device_duty_cycle_fraction: 0.9,
  device_count: 2,
  flops: 27e12 * 0.1,
  flops_utilization: 0.27,
  busy_flops_utilization: 0.3375,
  hbm_bytes: 61e9,
  hbm_utilization: 1.22,
  peak_flops_per_s: 100e12,
  peak_flops_dtype: 'bf16',
  peak_flops_label: 'datasheet',
  peak_flops_source: 'a sheet of data',
  peak_bytes_per_s: 500e9,
  peak_bytes_label: 'measured',
  peak_bytes_source: 'a measurement',
  peak_memory_bytes: 12 * 2 ** 30,
  memory_capacity_bytes: 32 * 2 ** 30,
  peak_memory_source: 'recorded',
  peak_memory_of: 'TPU:1',
  top_ops: [
    {
      op: HOSTILE,
      program: 'p',
      program_id: '12190760917235803885',
      work_kind: 'matrix',
      self_time_ps: 60 * MS,
      busy_fraction: 0.75,
      bound_by: 'memory'
    },
    {
      op: 'copy.1',
      program: 'p',
      program_id: '12190760917235803885',
      work_kind: 'data',
      self_time_ps: 20 * MS,
      busy_fraction: 0.25,
      bound_by: null
    }
  ]
};
const table = columnsOf([
  { name: 'step_time_mean_ps', value: 20 * MS, unit: 'ps', definition: 'mean, start to start' },
  { name: 'flops_utilization', value: 0.27, unit: 'fraction', definition: 'time the FLOPs need' }
]);

/** Where BokehJS cannot run. */
class ChartlessHost extends FakeHost {
  override async library(): Promise<string> {
    throw new HostError('no charts here');
  }
}

const answers: Record<string, Answer> = {
  input_pipeline: {
    table: columnsOf([
      {
        step: 0,
        device: 'TPU:0',
        step_time_ps: 20 * MS,
        compute_ps: 12 * MS,
        launch_ps: 6 * MS,
        idle_ps: 2 * MS,
        is_partial: 0
      }
    ]),
    summary: {
      bound: 'not input-bound',
      input_fraction: 0.01,
      fractions: { compute: 0.6, launch: 0.3, idle: 0.1 },
      mean_ps: { compute: 12 * MS },
      definitions: { compute: 'an op of the device computed' }
    },
    notes: []
  }
};

let shown: Mounted | null = null;

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
});

afterEach(() => {
  shown?.dispose();
  shown = null;
  document.body.replaceChildren();
  const link = linkOf(snapshot().run);
  link.choose({}, {});
  link.narrow({}, {});
  vi.restoreAllMocks();
});

function saved(changes: Partial<ReturnType<typeof snapshot>> = {}) {
  return {
    ...snapshot(),
    view: 'overview',
    summary,
    table,
    notes: [],
    params: {},
    rowsTotal: 2,
    extra: {},
    ...changes
  };
}

async function answer(query: string): Promise<Answer> {
  const found = answers[query];
  if (found === undefined) {
    throw new HostError(`no ${query}`);
  }
  return found;
}

async function show(host: Host): Promise<HTMLElement> {
  const el = document.createElement('div');
  document.body.append(el);
  shown = mount(host, el);
  await vi.waitFor(() => expect(tile(el, 'input').textContent).not.toContain('…'));
  return el;
}

const tile = (el: HTMLElement, id: string) => el.querySelector(`[data-tile="${id}"]`) as HTMLButtonElement;
const words = (el: HTMLElement, id: string) =>
  [...tile(el, id).querySelectorAll('span')].map((span) => span.textContent);

describe('the tiles', () => {
  it('say value, unit and of what', async () => {
    const host = new ChartlessHost('kernel', saved(), answer);
    const el = await show(host);
    expect(words(el, 'step_time')).toEqual(['step time', '20.0 ms ± 500 µs', 'mean ± sd of 4 marked steps']);
    expect(words(el, 'flops').slice(1, 3)).toEqual([
      '27.0 %',
      '27.0 TFLOP/s of 100 TFLOP/s bf16 (datasheet)'
    ]);
    expect(words(el, 'bandwidth').slice(1, 3)).toEqual(['122.0 % ⚠', '610 GB/s of 500 GB/s (measured)']);
    expect(words(el, 'busy').slice(1, 3)).toEqual(['80.0 %', 'of 100 ms on 2 devices; duty cycle 90.0 %']);
    expect(words(el, 'input').slice(1, 3)).toEqual(['1.0 %', 'of step time: not input-bound']);
    expect(words(el, 'memory').slice(1, 3)).toEqual(['12.0 GiB', 'of 32.0 GiB, 37.5 % on TPU:1']);
    expect(host.asked.map(({ query }) => query)).toEqual(['input_pipeline']);
  });

  it('say why a value is missing', async () => {
    const el = await show(
      new ChartlessHost(
        'kernel',
        saved({
          summary: {
            ...summary,
            flops: null,
            flops_utilization: null,
            peak_flops_per_s: null,
            peak_memory_bytes: null,
            peak_memory_source: null
          }
        }),
        async (query) => answer(`no ${query}`)
      )
    );
    expect(words(el, 'flops').slice(1, 3)).toEqual(['–', 'no FLOPs are known; no peak is known']);
    expect(words(el, 'memory').slice(1, 3)).toEqual(['–', 'neither recorded, sampled nor planned']);
    expect(words(el, 'input')[2]).toBe('no no input_pipeline');
    expect(el.querySelector('.jp-Overview-why')?.textContent).toBe('No steps to draw. no no input_pipeline');
  });

  it('say how the peak of memory is known: recorded, sampled, or only planned', async () => {
    const peak = async (changes: Summary) => {
      const el = await show(
        new ChartlessHost('kernel', saved({ summary: { ...summary, ...changes } }), answer)
      );
      const said = [...words(el, 'memory').slice(1, 3), tile(el, 'memory').getAttribute('aria-label')];
      shown?.dispose();
      return said;
    };
    expect(
      await peak({ device_count: 1, peak_memory_source: 'sampled', memory_capacity_bytes: null })
    ).toEqual([
      '12.0 GiB',
      'of an unknown capacity, of live arrays, sampled',
      expect.stringContaining('Opens its evidence: memory')
    ]);
    expect(await peak({ peak_memory_source: 'planned', peak_memory_of: HOSTILE })).toEqual([
      '12.0 GiB',
      `of 32.0 GiB, 37.5 %, as planned for ${HOSTILE}`,
      expect.stringContaining('Opens its evidence: buffers')
    ]);
  });

  it('lead to their evidence in a page of tabs, and name it in a view alone', async () => {
    const el = await show(new ChartlessHost('kernel', saved(), answer));
    const heard = vi.fn();
    const stop = linkOf(snapshot().run).subscribe({}, heard);
    tile(el, 'flops').click();
    expect(heard).toHaveBeenCalledWith(expect.objectContaining({ view: 'roofline' }));
    expect(el.querySelector('[role=status].jp-XprofStatus')?.textContent).toContain('.roofline()');
    stop();
  });
});

it('draws what was saved with it and asks nobody', async () => {
  const el = await show(new StaticHost(saved({ extra: { answers: {} } })));
  expect(words(el, 'input')[2]).toContain('This is a saved snapshot');
  expect(el.querySelectorAll('.jp-Overview-op')).toHaveLength(2);
});

it('chooses an op, outlines what others choose, and takes names as text', async () => {
  const el = await show(new ChartlessHost('kernel', saved(), answer));
  const heard = vi.fn();
  const link = linkOf(snapshot().run);
  const stop = link.subscribe({}, heard);
  const ops = [...el.querySelectorAll<HTMLButtonElement>('.jp-Overview-op')];
  expect(ops[0]?.textContent).toContain(HOSTILE);
  expect(el.querySelector('img')).toBeNull();
  ops[0]?.click();
  expect(heard).toHaveBeenCalledWith(
    expect.objectContaining({ choice: { op: HOSTILE, program_id: '12190760917235803885' } })
  );
  link.choose({ op: 'copy.1', program_id: '12190760917235803885' }, {});
  expect(ops.map((op) => op.getAttribute('aria-pressed'))).toEqual(['false', 'true']);
  stop();
});

it('divides the steps between device and host', async () => {
  const el = await show(new ChartlessHost('kernel', saved(), answer));
  expect([...el.querySelectorAll('.jp-Overview-sides li')].map((side) => side.textContent)).toEqual([
    'device works 60.0 %compute 60.0 %',
    'device waits for the host 30.0 %launching 30.0 %',
    'nothing recorded 10.0 %idle 10.0 %'
  ]);
});

it('writes the values of its table by their units', async () => {
  const el = await show(new ChartlessHost('kernel', saved(), answer));
  const cells = [...el.querySelectorAll<HTMLElement>('.jp-XprofGrid-row [data-field=value]')];
  expect(cells.map((cell) => cell.textContent)).toEqual(['20.0 ms', '27.0 %']);
  expect(cells[0]?.title).toBe('20\u2009000\u2009000\u2009000 ps');
});

it('asks again when the run is narrowed', async () => {
  const host = new ChartlessHost('kernel', saved(), async (query) =>
    query === 'overview' ? { table, summary, notes: [] } : answer(query)
  );
  await show(host);
  linkOf(snapshot().run).narrow({ step: 2 }, {});
  await vi.waitFor(() =>
    expect(host.asked.filter(({ query }) => query === 'input_pipeline')).toHaveLength(2)
  );
  expect(host.asked.at(-1)?.params).toMatchObject({ step: 2 });
});
