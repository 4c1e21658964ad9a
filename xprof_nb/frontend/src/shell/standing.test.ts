import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Host, Mount, Params, ViewState } from '../host';
import { mount as mountRoofline } from '../roofline/view';
import { FakeHost, rowsTable, snapshot } from '../testing/fixtures';
import { answerView } from './answer';
import { linkOf } from './link';
import { onStateChanged, resume, stateOf } from './state';

const ROWS = ['b', 'a', 'c'].map((op, at) => ({
  op,
  program_id: '7',
  level: 'op',
  name: op,
  category: at === 0 ? 'convolution' : 'loop fusion',
  bound_by: at === 1 ? 'memory' : 'compute',
  time_ps: (at + 1) * 1e9,
  flops_per_s: 1e11,
  hbm_arithmetic_intensity: 10,
  link_arithmetic_intensity: 20
}));
const TABLE = { table: rowsTable(ROWS), summary: {}, notes: [], rowsTotal: 3 };

let runs = 0;
function hostOf(kind: 'static' | 'kernel', params: Params = {}): FakeHost {
  const run = { ...snapshot().run, identity: `answer ${runs++}` };
  return new FakeHost(kind, { ...snapshot(), ...TABLE, run, view: 'ops', params }, async () => TABLE);
}

function drawn(host: Host, state: ViewState | null = null, mount: Mount = answerView({ label: 'ops' })) {
  const el = document.createElement('div');
  document.body.append(el);
  resume(mount, host, el, state);
  return el;
}

const read = (el: HTMLElement) => JSON.parse(JSON.stringify(stateOf(el)?.read())) as ViewState;
const names = (el: HTMLElement) =>
  [...el.querySelectorAll('.jp-XprofGrid-row > :first-child')].map((cell) => cell.textContent);
const heads = (el: HTMLElement) =>
  [...el.querySelectorAll<HTMLElement>('.jp-XprofGrid-head button[data-field]')].map(
    (head) => head.dataset.field
  );
const head = (el: HTMLElement, field: string) =>
  el.querySelector<HTMLElement>(`button[data-field=${field}]`) as HTMLElement;

afterEach(() => document.body.replaceChildren());

describe('how the view of an answer stands', () => {
  it('goes over to the next one: filter, order, columns and what is chosen', () => {
    const el = drawn(hostOf('static'));
    head(el, 'op').click();
    const box = el.querySelector('input[type=search]') as HTMLInputElement;
    box.value = 'fusion';
    box.dispatchEvent(new Event('input', { bubbles: true }));
    head(el, 'category').dispatchEvent(
      new KeyboardEvent('keydown', { key: 'ArrowLeft', altKey: true, bubbles: true })
    );
    (el.querySelector('.jp-XprofGrid-row [data-field=time_ps]') as HTMLElement).click();
    const state = read(el);
    expect([names(el), state.shown.linked]).toEqual([
      ['a', 'c'],
      { choice: { op: 'a', program_id: '7' }, filters: {} }
    ]);

    const other = drawn(hostOf('static'), state);
    expect([names(other), heads(other)]).toEqual([names(el), heads(el)]);
    expect(other.querySelector<HTMLInputElement>('input[type=search]')?.value).toBe('fusion');
    expect(other.querySelector('.jp-mod-selected')?.firstChild?.textContent).toBe('a');
    expect(read(other)).toEqual(state);
  });

  it('asks again for what was asked for, of the part of the run that it was narrowed to', async () => {
    const host = hostOf('kernel', { program: 'p' });
    const shown = {
      params: { memory_space: 1 },
      linked: { choice: {}, filters: { step: 4, window_ps: [1, 2] } }
    };
    const el = drawn(host, { shown, made: {} });
    await vi.waitFor(() => expect(read(el).shown).toMatchObject(shown));
    expect(host.asked.at(-1)?.params).toEqual({
      program: 'p',
      memory_space: 1,
      step: 4,
      window_ps: [1, 2],
      host: null,
      device: null
    });
    // Whoever cannot ask keeps it for who can.
    expect(read(drawn(hostOf('static'), { shown, made: {} })).shown.params).toEqual({ memory_space: 1 });
  });

  it('is told to the page, and not before anything has changed', async () => {
    const el = drawn(hostOf('static'));
    const keep = vi.fn(() => 'here');
    onStateChanged(document.body, keep);
    el.querySelector<HTMLElement>('.jp-XprofAnswer')?.dispatchEvent(new Event('pointerup'));
    await new Promise((done) => setTimeout(done, 350));
    expect(keep).not.toHaveBeenCalled();
    head(el, 'op').click();
    await vi.waitFor(() => expect(keep).toHaveBeenCalledTimes(1));
  });

  it('has what its parts keep', () => {
    const el = drawn(hostOf('static'), null, mountRoofline);
    const select = el.querySelector('select[data-column=bound_by]') as HTMLSelectElement;
    select.value = 'memory';
    select.dispatchEvent(new Event('change'));
    (el.querySelector('[data-level=link]') as HTMLElement).click();
    const other = drawn(hostOf('static'), read(el), mountRoofline);
    expect(names(other)).toEqual(['a']);
    expect(other.querySelector('[data-level=link]')?.getAttribute('aria-pressed')).toBe('true');
  });

  it('takes nothing from a damaged state', () => {
    const shown = {
      table: { filter: 3, sort: { field: {} }, columns: { order: [4], hidden: 'x', widths: { op: 'y' } } },
      linked: { choice: { op: 3, step: 1.5 }, filters: { window_ps: [2, 1] } },
      level: 9,
      only: { bound_by: 'nothing' }
    };
    const host = hostOf('static');
    const el = drawn(host, { shown, made: {} }, mountRoofline);
    expect(names(el)).toEqual(['b', 'a', 'c']);
    expect([linkOf(host.snapshot.run).choice, linkOf(host.snapshot.run).filters]).toEqual([{}, {}]);
  });
});
