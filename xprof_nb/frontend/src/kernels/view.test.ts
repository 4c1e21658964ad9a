import { afterEach, describe, expect, it } from 'vitest';
import { StaticHost } from '../hosts/static';
import { linkOf } from '../shell/link';
import { rowsTable, snapshot } from '../testing/fixtures';
import { sumsOf } from './sums';
import { mount } from './view';

const HOSTILE = 'void k<img src=x onerror=1>()';
const ROWS: Record<string, number | string>[] = [
  {
    kernel: 'gemm',
    op: 'dot.1',
    program_id: '7',
    work_kind: 'matrix',
    time_ps: 6e9,
    occurrences: 3,
    uses_tensor_cores: 1
  },
  {
    kernel: HOSTILE,
    op: 'add.2',
    program_id: '7',
    work_kind: 'elementwise',
    time_ps: 3e9,
    occurrences: 3,
    uses_tensor_cores: 0
  },
  {
    kernel: 'gemm',
    op: 'dot.3',
    program_id: '7',
    work_kind: 'matrix',
    time_ps: 1e9,
    occurrences: 1,
    uses_tensor_cores: 1
  },
  { kernel: 'MemcpyD2D', work_kind: 'data', time_ps: 0.5e9, occurrences: 2, occupancy_fraction: 0.5 }
];
const SUMMARY = {
  kernel_time_ps: 20e9,
  kernel_count: 9,
  tensor_core_time_ps: 10e9,
  top_kernels: [{ kernel: 'gemm', time_ps: 12e9, launches: 6, work_kind: 'matrix' }],
  kind_times: [{ work_kind: 'matrix', time_ps: 20e9 }]
};

afterEach(() => {
  document.body.replaceChildren();
  linkOf(snapshot().run).choose({}, {});
});

function shown(rows = ROWS, notes: readonly string[] = []): HTMLElement {
  const el = document.createElement('div');
  document.body.append(el);
  const saved = {
    ...snapshot(),
    view: 'kernels',
    table: rowsTable(rows),
    summary: SUMMARY,
    notes,
    rowsTotal: rows.length
  };
  mount(new StaticHost(saved), el);
  return el;
}

const bars = (el: HTMLElement) => [...el.querySelectorAll<HTMLElement>('.jp-XprofKernels-row')];

describe('kernels', () => {
  it('add up by name, by kind of work and on tensor cores', () => {
    const sums = sumsOf(rowsTable(ROWS), [0, 1, 2, 3]);
    expect(sums.kernels.map(({ kernel, time_ps, launches }) => [kernel, time_ps, launches])).toEqual([
      ['gemm', 7e9, 4],
      [HOSTILE, 3e9, 3],
      ['MemcpyD2D', 0.5e9, 2]
    ]);
    expect(sums.kinds[0]).toEqual({ kind: 'matrix', time_ps: 7e9 });
    expect([sums.time_ps, sums.tensor_core_time_ps]).toEqual([10.5e9, 7e9]);
  });

  it('are what the answer says of all of them, until rows are filtered', () => {
    const el = shown();
    const title = () => el.querySelector('.jp-XprofKernels-title')?.textContent;
    expect(title()).toBe(
      'Most expensive 1 of 9 kernels and copies: 20.0 ms altogether, 50.0 % of it on tensor cores'
    );
    const box = el.querySelector('input[type=search]') as HTMLInputElement;
    box.value = 'op:dot';
    box.dispatchEvent(new Event('input'));
    expect(title()).toContain('7.00 ms altogether');
    expect(title()).toContain('in this snapshot');
    expect(bars(el).map((bar) => bar.textContent)).toEqual(['■gemm7.00 ms100.0 %']);
  });

  it('are text, whatever they are called', () => {
    const el = shown();
    const box = el.querySelector('input[type=search]') as HTMLInputElement;
    box.value = 'onerror';
    box.dispatchEvent(new Event('input'));
    expect(bars(el)[0]?.textContent).toContain(HOSTILE);
    expect(el.querySelector('img')).toBeNull();
  });

  it('choose their op in all views', () => {
    const el = shown();
    bars(el)[0]?.click();
    expect(linkOf(snapshot().run).choice).toEqual({ op: 'dot.1', program_id: '7' });
    expect(bars(el)[0]?.getAttribute('aria-pressed')).toBe('true');
    expect(el.querySelector('.jp-XprofGrid-row.jp-mod-selected')?.textContent).toContain('gemm');
  });

  it('say what they use of the GPU, and what is not known', () => {
    const el = shown();
    const cells = (field: string) =>
      [...el.querySelectorAll(`.jp-XprofGrid-body [data-field=${field}]`)].map((cell) => cell.textContent);
    expect(cells('uses_tensor_cores')).toEqual(['yes', 'no', 'yes', '–']);
    expect(cells('occupancy_fraction')).toEqual(['–', '–', '–', '50.0 %']);
  });

  it('say why there are none, without an empty picture', () => {
    const el = shown([], ['Kernels are what GPUs run; this profile is of CPU.']);
    expect(el.querySelector('.jp-XprofEmpty')?.textContent).toContain('Kernels are what GPUs run');
    expect(el.querySelector<HTMLElement>('.jp-XprofKernels')?.hidden).toBe(true);
  });
});
