import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Answer, Host, Mounted } from '../host';
import { StaticHost } from '../hosts/static';
import { linkOf } from '../shell/link';
import { FakeHost, rowsTable, snapshot } from '../testing/fixtures';
import { mount } from './view';

let shown: Mounted | null = null;

afterEach(() => {
  shown?.dispose();
  shown = null;
  linkOf(snapshot().run).narrow({}, {});
  document.body.replaceChildren();
});

const PS_PER_S = 1e12;
const device = (name: string, peak: number) => ({
  host: 'h',
  device: name,
  allocator: 'bfc',
  peak_bytes: peak,
  peak_ps: 2 * PS_PER_S,
  capacity_bytes: 2 ** 34,
  holder_count: 1,
  held: [{ holder: 'allocation', bytes: peak, count: 1, framework_op: `op of ${name}` }]
});
const event = (name: string, start_ps: number, total: number) => ({
  host: 'h',
  device: name,
  allocator: 'bfc',
  kind: 'allocation',
  start_ps,
  heap_bytes: total,
  total_bytes: total
});
const SAVED = {
  ...snapshot(),
  view: 'memory',
  params: {},
  summary: { allocators: [device('GPU:0', 2 ** 30), device('GPU:1', 2 ** 33)] },
  table: rowsTable([
    event('GPU:0', 0, 2 ** 20),
    event('GPU:0', 2 * PS_PER_S, 2 ** 30),
    event('GPU:1', 2 * PS_PER_S, 2 ** 33),
    event('GPU:0', 4 * PS_PER_S, 2 ** 20)
  ]),
  rowsTotal: 4,
  notes: []
};

function show(host: Host): HTMLElement {
  const el = document.createElement('div');
  document.body.append(el);
  shown = mount(host, el);
  return el;
}

const heading = (el: HTMLElement) => el.querySelector('.jp-Memory-heading')?.textContent;
const slider = (el: HTMLElement) => el.querySelector('input[type=range]') as HTMLInputElement;
const press = (el: HTMLElement, label: string) =>
  [...el.querySelectorAll('button')].find((button) => button.textContent === label)?.click();

function slide(el: HTMLElement, share: number): void {
  slider(el).value = String(share * 1000);
  slider(el).dispatchEvent(new Event('change'));
}

function pick(el: HTMLElement, index: number): void {
  const select = el.querySelector('select[aria-label=Device]') as HTMLSelectElement;
  select.value = String(index);
  select.dispatchEvent(new Event('change'));
}

describe('a saved view of memory', () => {
  it('shows the fullest device and who held its peak', () => {
    const el = show(new StaticHost(SAVED, () => new Promise(() => {})));
    const select = el.querySelector('select[aria-label=Device]') as HTMLSelectElement;
    expect([...select.options].map((option) => option.textContent)).toEqual([
      'GPU:0, bfc: peak 1.00 GiB',
      'GPU:1, bfc: peak 8.00 GiB'
    ]);
    expect(select.value).toBe('1');
    expect(heading(el)).toBe('At the peak, 2.00 s into the capture: 8.00 GiB held by 1 holder');
    pick(el, 0);
    expect(heading(el)).toBe('At the peak, 2.00 s into the capture: 1.00 GiB held by 1 holder');
    expect(el.querySelector('.jp-Memory-holders')?.textContent).toContain('op of GPU:0');
  });

  it('says that another moment needs the live run, and keeps the peak', () => {
    const el = show(new StaticHost(SAVED, () => new Promise(() => {})));
    slide(el, 0.75);
    expect(el.querySelector('.jp-Memory-holders [role=status]')?.textContent).toContain(
      '3.00 s into the capture is not in a saved view'
    );
    expect(heading(el)).toContain('At the peak');
    press(el, 'at the peak');
    expect(el.querySelector('.jp-Memory-holders [role=status]')).toBeNull();
  });

  it('says why it is empty', () => {
    const notes = ['XLA on a CPU reports no allocator events.'];
    const el = show(
      new StaticHost(
        { ...SAVED, summary: {}, table: rowsTable([]), rowsTotal: 0, notes },
        () => new Promise(() => {})
      )
    );
    expect(el.textContent).toContain('XLA on a CPU reports no allocator events');
    expect(el.querySelector<HTMLElement>('.jp-Memory')?.hidden).toBe(true);
  });
});

describe('a live view of memory', () => {
  const answer: Answer = {
    table: rowsTable([
      { host: 'h', device: 'GPU:1', allocator: 'bfc', holder: 'allocation', bytes: 2 ** 20, count: 3 },
      { host: 'h', device: 'GPU:0', allocator: 'bfc', holder: 'allocation', bytes: 2 ** 10, count: 1 }
    ]),
    summary: {},
    notes: []
  };

  it('asks who held the memory of a moment, and shows those of its device', async () => {
    const host = new FakeHost('kernel', SAVED, async () => answer);
    const el = show(host);
    slide(el, 0.25);
    expect(host.asked).toEqual([{ query: 'memory_holders', params: { at_ps: 1 * PS_PER_S } }]);
    await vi.waitFor(() => expect(heading(el)).toBe('1.00 s into the capture: 1.00 MiB held by 1 holder'));
  });

  it('tells an error in its place', async () => {
    const el = show(new FakeHost('kernel', SAVED, () => Promise.reject(new Error('the file has changed'))));
    slide(el, 0.25);
    await vi.waitFor(() =>
      expect(el.querySelector('.jp-Memory-holders')?.textContent).toContain('the file has changed')
    );
  });

  it('narrows all views to a window of moments', () => {
    const host = new FakeHost('kernel', SAVED, async () => ({ ...SAVED, table: SAVED.table }));
    const el = show(host);
    slide(el, 0.25);
    press(el, 'from here');
    slide(el, 0.5);
    press(el, 'until here');
    expect(el.querySelector('.jp-Memory-range')?.textContent).toContain('1.00 s from 1.00 s');
    press(el, 'Narrow all views to this window');
    expect(linkOf(SAVED.run).filters.window_ps).toEqual([1e12, 2e12 + 1]);
    expect(host.asked.at(-1)?.params.window_ps).toEqual([1e12, 2e12 + 1]);
  });
});
