import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Mounted } from '../host';
import { linkOf } from '../shell/link';
import { FakeHost, rowsTable } from '../testing/fixtures';
import { fused, graphAnswer, graphSnapshot } from '../testing/graph';
import { mount } from './view';

let mounted: Mounted | null = null;

beforeEach(() => vi.useFakeTimers());

afterEach(() => {
  mounted?.dispose();
  mounted = null;
  document.body.replaceChildren();
  vi.useRealTimers();
});

function show(host: FakeHost): HTMLElement {
  const el = document.createElement('div');
  document.body.append(el);
  mounted = mount(host, el);
  return el;
}

function live(answers: Record<string, ReturnType<typeof graphAnswer>> = {}): FakeHost {
  return new FakeHost(
    'kernel',
    graphSnapshot(fused()),
    async (query, { op }) => answers[`${query} ${op}`] ?? fused()
  );
}

function op(el: HTMLElement, name: string): SVGGElement {
  const found = el.querySelector<SVGGElement>(`[data-op="${name}"]`);
  if (found === null) {
    throw new Error(`${name} is not drawn`);
  }
  return found;
}

function drawn(el: HTMLElement): string[] {
  return [...el.querySelectorAll<SVGGElement>('[data-op]')].map((group) => group.dataset.op ?? '').sort();
}

function press(el: HTMLElement, key: string): void {
  const focused = el.querySelector('[data-op][tabindex="0"]');
  focused?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
}

const settled = () => vi.advanceTimersByTimeAsync(300);

describe('the graph', () => {
  it('draws the neighbourhood, says what of it is not drawn, and what is in the middle', () => {
    const el = show(live());
    expect(drawn(el)).toEqual(['fusion', 'out', 'p']);
    expect(op(el, 'fusion').classList.contains('jp-mod-center')).toBe(true);
    expect(op(el, 'fusion').getAttribute('aria-expanded')).toBe('false');
    expect(op(el, 'fusion').getAttribute('aria-label')).toContain('self time 4.00 µs, reads 2, read by 1');
    expect(op(el, 'out').textContent).toContain('↓ 3 more');
    expect(el.querySelector('.jp-XprofGraph-about')?.textContent).toContain('4.00 µs');
  });

  it('expands a fusion in place and collapses it again, by mouse and by keyboard', () => {
    const el = show(live());
    el.querySelector('[data-fold="fusion"]')?.dispatchEvent(new MouseEvent('click', { bubbles: true }));
    expect(drawn(el)).toEqual(['a', 'b', 'c', 'fusion', 'out', 'p']);
    expect(op(el, 'fusion').getAttribute('aria-expanded')).toBe('true');
    press(el, 'e');
    expect(drawn(el)).toEqual(['fusion', 'out', 'p']);
  });

  it('asks for what is fused into an op when the answer left it out', async () => {
    const outer = graphAnswer([{ node: 'big', opcode: 'fusion', called: 'body.1' }], []);
    const body = graphAnswer([{ node: 'x' }, { node: 'y' }], [['x', 'y', 0]]);
    const host = new FakeHost('kernel', graphSnapshot(outer), async () => body);
    const el = show(host);
    press(el, 'e');
    await settled();
    expect(host.asked).toEqual([{ query: 'graph', params: { op: 'body.1', program: '7' } }]);
    expect(drawn(el)).toEqual(['big', 'x', 'y']);
  });

  it('chooses an op for all views, and follows what others choose', async () => {
    const other = graphAnswer([{ node: 'elsewhere' }], []);
    const host = live({ 'graph elsewhere': other });
    const el = show(host);
    const link = linkOf(host.snapshot.run);
    op(el, 'out').dispatchEvent(new MouseEvent('click', { bubbles: true }));
    expect(link.choice).toEqual({ op: 'out', program_id: '7' });
    expect(op(el, 'out').classList.contains('jp-mod-chosen')).toBe(true);
    link.choose({ op: 'p', program_id: '7' }, {});
    expect(op(el, 'p').getAttribute('aria-pressed')).toBe('true');
    expect(host.asked).toEqual([]);
    link.choose({ op: 'elsewhere', program_id: '7' }, {});
    await settled();
    expect(host.asked.at(-1)).toEqual({ query: 'graph', params: { op: 'elsewhere', program: '7' } });
    expect(drawn(el)).toEqual(['elsewhere']);
    link.choose({}, {});
  });

  it('centres on an op by Enter or double click, and steps back', async () => {
    const around = graphAnswer([{ node: 'out' }, { node: 'next', distance: 1 }], [['out', 'next', 0]]);
    const host = live({ 'graph out': around });
    const el = show(host);
    op(el, 'out').dispatchEvent(new MouseEvent('dblclick', { bubbles: true }));
    await settled();
    expect(drawn(el)).toEqual(['next', 'out']);
    press(el, 'Backspace');
    await settled();
    expect(host.asked.map(({ params }) => params.op)).toEqual(['out', 'fusion']);
    expect(drawn(el)).toEqual(['fusion', 'out', 'p']);
  });

  it('walks by arrow keys and keeps one tab stop', () => {
    const el = show(live());
    press(el, 'ArrowUp');
    expect(document.activeElement).toBe(op(el, 'p'));
    expect(el.querySelectorAll('[data-op][tabindex="0"]')).toHaveLength(1);
  });

  it('finds ops in the whole program, and goes there', async () => {
    const hits = {
      table: rowsTable([{ op: 'far.9', program_id: '7', opcode: 'dot', shape: 'f32[8]', self_time_ps: 2e6 }]),
      summary: { hit_count: 120, searched_count: 50_000 },
      notes: []
    };
    const host = live({
      'graph_search undefined': hits,
      'graph far.9': graphAnswer([{ node: 'far.9' }], [])
    });
    const el = show(host);
    const input = el.querySelector<HTMLInputElement>('[role=combobox]');
    if (input === null) {
      throw new Error('no search');
    }
    input.value = 'dot f32';
    input.dispatchEvent(new Event('input'));
    await settled();
    expect(host.asked[0]).toEqual({
      query: 'graph_search',
      params: { program: '7', text: 'dot f32', limit: 50 }
    });
    expect(el.querySelector('[role=option]')?.textContent).toBe('far.9dot f32[8]2.00 µs');
    expect(el.querySelector('.jp-XprofGraph-counted')?.textContent).toBe(
      '1 of 120 shown, among 50\u2009000 ops of the program'
    );
    input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
    await settled();
    expect(drawn(el)).toEqual(['far.9']);
  });

  it('asks for another radius and another program', async () => {
    const host = live();
    const el = show(host);
    const radius = el.querySelector<HTMLInputElement>('[aria-label="radius in edges"]');
    const program = el.querySelector<HTMLSelectElement>('[aria-label="program"]');
    if (radius === null || program === null) {
      throw new Error('no switches');
    }
    radius.value = '4';
    radius.dispatchEvent(new Event('change'));
    await settled();
    expect(host.asked.at(-1)?.params).toMatchObject({ radius: 4, op: 'fusion', program: '7' });
    program.dispatchEvent(new Event('change'));
    await settled();
    expect(host.asked.at(-1)?.params).toMatchObject({ op: null, program: '7' });
  });

  it('saved, narrows the radius by itself and says what it cannot do', () => {
    const host = new FakeHost('static', graphSnapshot(fused()), () => Promise.reject(new Error('static')));
    const el = show(host);
    const radius = el.querySelector<HTMLInputElement>('[aria-label="radius in edges"]');
    if (radius === null) {
      throw new Error('no switches');
    }
    radius.value = '0';
    radius.dispatchEvent(new Event('change'));
    expect(drawn(el)).toEqual(['fusion']);
    linkOf(host.snapshot.run).choose({ op: 'gone', program_id: '7' }, {});
    expect(el.textContent).toContain('gone is not among the ops saved here');
    linkOf(host.snapshot.run).choose({}, {});
  });

  it('pales what the filter of the table leaves out', () => {
    const el = show(live());
    const filter = el.querySelector<HTMLInputElement>('.jp-XprofAnswer-filter');
    if (filter === null) {
      throw new Error('no filter');
    }
    filter.value = 'parameter';
    filter.dispatchEvent(new Event('input'));
    expect(op(el, 'out').classList.contains('jp-mod-pale')).toBe(true);
    expect(op(el, 'p').classList.contains('jp-mod-pale')).toBe(false);
  });

  it('goes into the body of a loop, says the way there, and leads back', async () => {
    const outside = graphAnswer([{ node: 'while.1', opcode: 'while', called: 'body, condition' }], []);
    const inside = graphAnswer([{ node: 'dot.1' }], [], {
      computation: 'body',
      callers: ['while.1', 'while.2'],
      way: [{ computation: 'main', op: 'while.1' }],
      computation_op_count: 9
    });
    const host = new FakeHost('kernel', graphSnapshot(outside), async (_query, asked) =>
      asked.op === 'body' ? inside : outside
    );
    const el = show(host);
    const mark = op(el, 'while.1').querySelector('[data-fold]') as SVGGElement;
    expect(mark.textContent).toBe('↘');
    mark.dispatchEvent(new MouseEvent('click', { bubbles: true }));
    await settled();
    expect([drawn(el), host.asked.at(-1)?.params]).toEqual([
      ['dot.1'],
      expect.objectContaining({ op: 'body', program: '7' })
    ]);
    const way = el.querySelector('nav.jp-XprofGraph-way') as HTMLElement;
    expect(way.textContent).toBe('jit_f › main › while.1 › body (9 ops), also called by while.2');
    (way.querySelector('button') as HTMLElement).click();
    await settled();
    expect([drawn(el), host.asked.at(-1)?.params.op]).toEqual([['while.1'], 'while.1']);
  });
});
