import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Answer, Params } from '../host';
import { FakeHost, rowsTable, snapshot } from '../testing/fixtures';
import { answerView } from './answer';
import { linkOf } from './link';

const ROWS = [
  { op: 'dot.1', program_id: '17', time_ps: 3e9, flops_utilization: 1.2 },
  { op: 'add.2', program_id: '17', time_ps: 1e9, flops_utilization: Number.NaN }
];

function answer(
  rows: readonly Record<string, number | string>[],
  sentence = 'dot.1 is the largest.'
): Answer {
  return { table: rowsTable(rows), summary: { sentence }, notes: [] };
}

function shown(
  rows: readonly Record<string, number | string>[] = ROWS,
  reply = answer(rows),
  total = rows.length
) {
  const first = answer(rows);
  const saved = { ...snapshot(), ...first, view: 'ops', params: {}, rowsTotal: total };
  const ask = vi.fn(async (_query: string, _params: Params) => reply);
  const host = new FakeHost('kernel', saved, ask);
  const el = document.createElement('div');
  document.body.append(el);
  const mounted = answerView({ label: 'ops' })(host, el);
  return { el, host, mounted, ask, link: linkOf(saved.run) };
}

const cells = (el: HTMLElement) =>
  [...el.querySelectorAll('.jp-XprofGrid-row')].map((row) =>
    [...row.children].map((cell) => cell.textContent)
  );

afterEach(() => {
  document.body.replaceChildren();
  linkOf(snapshot().run).narrow({}, {});
  linkOf(snapshot().run).choose({}, {});
});

describe('answerView', () => {
  it('shows the sentence and the rows in human units', () => {
    const { el } = shown();
    expect(el.querySelector('.jp-XprofAnswer-sentence')?.textContent).toBe('dot.1 is the largest.');
    expect(cells(el)).toEqual([
      ['dot.1', '17', '3.00 ms', '120.0 % ⚠'],
      ['add.2', '17', '1.00 ms', '–']
    ]);
    expect(el.querySelector('.jp-XprofAnswer-counted')?.textContent).toBe('2 of 2 rows shown');
  });

  it('says why a table is empty', () => {
    const first = { ...answer([]), notes: ['No kernel was recorded.'] };
    const saved = { ...snapshot(), ...first, view: 'kernels', params: {}, rowsTotal: 0 };
    const el = document.createElement('div');
    answerView({ label: 'kernels' })(new FakeHost('static', saved, vi.fn()), el);
    expect(el.querySelector('.jp-XprofEmpty')?.textContent).toContain('No kernel was recorded.');
    expect(el.querySelector<HTMLElement>('.jp-XprofGrid-frame')?.hidden).toBe(true);
  });

  it('loads the rows that the snapshot left out', async () => {
    const { el, ask } = shown(ROWS.slice(0, 1), answer(ROWS), 2);
    await vi.waitFor(() => expect(cells(el)).toHaveLength(2));
    expect(ask).toHaveBeenCalledWith('ops', {}, expect.anything());
  });

  it('chooses the op of a row in all views, and outlines what others choose', () => {
    const { el, link } = shown();
    const heard = vi.fn();
    link.subscribe({}, heard);
    el.querySelector<HTMLElement>('.jp-XprofGrid-row [data-field=time_ps]')?.click();
    expect(heard.mock.lastCall?.[0].choice).toEqual({ op: 'dot.1', program_id: '17' });
    link.choose({ op: 'add.2' }, {});
    const marked = [...el.querySelectorAll('.jp-XprofGrid-row.jp-mod-selected')];
    expect(marked.map((row) => row.firstChild?.textContent)).toEqual(['add.2']);
  });

  it('asks again when the run is narrowed, says to what, and widens again', async () => {
    const { el, ask, link } = shown();
    link.narrow({ step: 7 }, {});
    await vi.waitFor(() => expect(ask).toHaveBeenCalledTimes(1));
    expect(ask.mock.lastCall?.[1]).toMatchObject({ step: 7 });
    expect(el.querySelector('.jp-XprofNarrowed')?.textContent).toContain('Narrowed to step 7');
    el.querySelector<HTMLElement>('.jp-XprofNarrowed button')?.click();
    await vi.waitFor(() => expect(ask).toHaveBeenCalledTimes(2));
    expect(ask.mock.lastCall?.[1]).toMatchObject({ step: null });
    expect(el.querySelector<HTMLElement>('.jp-XprofNarrowed')?.hidden).toBe(true);
    expect(link.filters).toEqual({});
  });

  it('no longer listens once it is taken away', () => {
    const { el, ask, link, mounted } = shown();
    mounted.dispose();
    link.narrow({ step: 7 }, {});
    expect([el.childElementCount, ask.mock.calls.length]).toEqual([0, 0]);
  });
});
