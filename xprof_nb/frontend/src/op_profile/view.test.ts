import { afterEach, describe, expect, it, vi } from 'vitest';
import { HostError } from '../host';
import { pageOf, StaticHost } from '../hosts/static';
import { FakeHost, payload, rowsTable, snapshot } from '../testing/fixtures';
import { clear, labels, named, press, rows, show, type } from '../testing/op_profile';
import { mount } from './view';

afterEach(clear);

const choice = (el: HTMLElement, value: string) =>
  el.querySelector(`[data-choice=${value}]`) as HTMLButtonElement;

describe('a snapshot', () => {
  it('shows the answer first, then the rows open to the most expensive op', () => {
    const el = show(new StaticHost(snapshot()));
    expect(el.querySelector('.jp-OpProfile-sentence')?.textContent).toContain(
      'Busy 87.6\u00a0% of 2.48\u00a0s on 1 device'
    );
    expect(labels(el).slice(0, 4)).toEqual(['all programs', 'jit_train_step(1)', 'dot', 'dot.14']);
    expect(named(el, 'dot.14').textContent).toContain('23.1 %');
    expect(named(el, 'dot.14').querySelector<HTMLElement>('.jp-XprofTree-bar')?.style.width).toBe('23.1%');
    expect(el.querySelector('.jp-XprofBadge')?.textContent).toBe('snapshot');
    expect(el.querySelector('.jp-OpProfile-count')?.textContent).toBe('15 of 427 ops shown');
  });

  it('is a treegrid to a screen reader', () => {
    const el = show(new StaticHost(snapshot()));
    const grid = el.querySelector('[role=treegrid]') as HTMLElement;
    expect(grid.getAttribute('aria-rowcount')).toBe(String(rows(el).length + 1));
    const op = named(el, 'dot');
    expect([op.role, op.getAttribute('aria-level'), op.getAttribute('aria-expanded')]).toEqual([
      'row',
      '3',
      'true'
    ]);
    expect(op.getAttribute('aria-setsize')).toBe('10');
    expect(el.querySelector('[aria-sort=descending]')?.textContent).toContain('time');
    expect(el.querySelector('[data-lm-suppress-shortcuts=true]')).not.toBeNull();
  });

  it('draws hostile names as text', () => {
    const el = show(
      new StaticHost(snapshot({ title: '<b>t</b>', notes: ['<script>globalThis.pwned=1</script>'] }))
    );
    type(el, 'onerror');
    expect(el.querySelector('img, script, b')).toBeNull();
    expect(named(el, '<img src=x onerror="globalThis.pwned=1">&amp;')).toBeDefined();
    expect(Reflect.get(globalThis, 'pwned')).toBeUndefined();
  });

  it('flags a utilisation above its peak and dashes what is missing', () => {
    const el = show(new StaticHost(snapshot()));
    type(el, 'dot_add_fusion');
    expect(named(el, 'dot_add_fusion.3').querySelector('.jp-mod-suspicious')?.textContent).toBe('⚠ 131.0 %');
    type(el, 'custom-call.5');
    expect(named(el, 'custom-call.5').querySelector('[data-field=flops]')?.textContent).toBe('–');
  });

  it('says in place why nothing can be asked', () => {
    const el = show(new StaticHost(snapshot()));
    expect(choice(el, 'category').getAttribute('aria-disabled')).toBe('true');
    choice(el, 'category').click();
    expect(el.querySelector('.jp-XprofTasks')?.textContent).toContain('xprof_nb.open("/home/me/xprof-logs');
  });

  it('says in place why it is empty', () => {
    const table = btoa(String.fromCharCode(...emptyTable()));
    const el = show(new StaticHost(snapshot({ table, notes: ['The capture holds no device work.'] })));
    expect(el.querySelector('.jp-XprofEmpty')?.textContent).toContain('The capture holds no device work.');
  });

  it('shows the saved details of an op', async () => {
    const el = show(new StaticHost(snapshot()));
    type(el, 'softmax');
    named(el, 'exponential_reduce_fusion').click();
    await vi.waitFor(() =>
      expect(el.querySelector('.jp-OpDetails-hlo')?.textContent).toContain('calls=%fused_computation.3')
    );
    const pane = el.querySelector('.jp-OpDetails') as HTMLElement;
    expect(pane.querySelector('.jp-OpDetails-where')?.textContent).toBe('In[5]:10');
    expect(pane.querySelector('.jp-OpDetails-line')?.textContent).toBe(
      'weights = jax.nn.softmax(scores, axis=-1)'
    );
    expect(pane.textContent).toContain('f32[128]{0}');
    expect(pane.querySelectorAll('.jp-OpDetails-fused tbody tr')).toHaveLength(3);
  });

  it('says how to get details that were not saved', async () => {
    const el = show(new StaticHost(snapshot()));
    named(el, 'dot.14').click();
    await vi.waitFor(() =>
      expect(el.querySelector('.jp-OpDetails [role=alert]')?.textContent).toContain('xprof_nb.open')
    );
    expect(el.querySelector('.jp-OpDetails')?.textContent).toContain('573 ms');
  });

  it('puts the share beside the self time it is of, and nothing beside what is missing', () => {
    const el = show(new StaticHost(snapshot()));
    const facts = () =>
      new Map(
        [...el.querySelectorAll('.jp-OpDetails-numbers > div')].map((fact) => [
          fact.querySelector('dt')?.textContent,
          fact.querySelector('dd')?.textContent
        ])
      );
    named(el, 'dot.14').click();
    expect(facts().get('self time')).toMatch(/573 ms\s*[\d.]+ % of all time$/);
    expect(facts().get('time')).toBe('573 ms');
    type(el, 'add.2');
    named(el, 'add.2').click();
    expect(facts().get('time')).toBe('–');
    expect(facts().get('self time')).toBe('–');
    expect(facts().get('occurrences')).toBe('–');
  });
});

describe('sorting and filtering', () => {
  it('sorts by a clicked header, then the other way', () => {
    const el = show(new StaticHost(snapshot()));
    const header = () => el.querySelector('button[data-field=name]') as HTMLButtonElement;
    header().click();
    expect(labels(el)[1]).toBe('jit_eval(2)');
    expect(header().parentElement?.getAttribute('aria-sort')).toBe('ascending');
    header().click();
    expect(labels(el)[1]).toBe('jit_train_step(1)');
  });

  it('marks what matches and counts it', () => {
    const el = show(new StaticHost(snapshot()));
    type(el, 'softmax exponential');
    expect(labels(el)).toEqual([
      'all programs',
      'jit_train_step(1)',
      'loop fusion',
      'exponential_reduce_fusion'
    ]);
    expect(el.querySelector('mark')?.textContent).toBe('exponential');
    expect(el.querySelector('.jp-OpProfile-count')?.textContent).toBe('1 of 427 ops shown');
  });
});

describe('keyboard', () => {
  const active = (el: HTMLElement) => el.querySelector('.jp-mod-active .jp-XprofTree-label')?.textContent;

  it('moves, expands, collapses and opens details', async () => {
    const el = show(new StaticHost(snapshot()));
    press(el, 'ArrowDown', 'ArrowDown', 'ArrowDown');
    expect(active(el)).toBe('dot.14');
    press(el, 'ArrowLeft');
    expect(active(el)).toBe('dot');
    press(el, 'ArrowLeft');
    expect(named(el, 'dot').getAttribute('aria-expanded')).toBe('false');
    press(el, 'ArrowRight', 'ArrowRight');
    expect(active(el)).toBe('dot.14');
    press(el, 'End');
    expect(active(el)).toBe('idle');
    press(el, 'Home', 'Enter');
    expect(el.querySelector('.jp-OpDetails strong')?.textContent).toBe('all programs');
    const id = el.querySelector('[role=treegrid]')?.getAttribute('aria-activedescendant');
    expect(document.getElementById(id ?? '')).toBe(named(el, 'all programs'));
    press(el, 'Escape');
    expect(el.querySelector('.jp-OpDetails')).toBeNull();
  });

  it('keeps keys from the notebook and lists them', () => {
    const el = show(new StaticHost(snapshot()));
    const heard = vi.fn();
    document.body.addEventListener('keydown', heard);
    press(el, '?', 'a', 'd', 'd');
    document.body.removeEventListener('keydown', heard);
    expect(heard).not.toHaveBeenCalled();
    expect(el.querySelector('[role=dialog]')?.textContent).toContain('expand or collapse');
  });

  it('goes to the filter with / and back with Escape', () => {
    const el = show(new StaticHost(snapshot()));
    press(el, '/');
    const box = el.querySelector('input[type=search]') as HTMLInputElement;
    expect(document.activeElement).toBe(box);
    type(el, 'dot');
    box.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    expect(box.value).toBe('');
    box.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    expect(document.activeElement).toBe(el.querySelector('[role=treegrid]'));
  });
});

describe('a live host', () => {
  const byCategory = () => ({
    table: rowsTable([
      { node: 0, parent: -1, key: '', name: 'all programs', kind: 'root', children_total: 1 },
      { node: 1, parent: 0, key: 'c', name: 'convolution', kind: 'category', time_ps: 5, children_total: 0 }
    ]),
    summary: { by: 'category', sentence: 'Mostly convolution.' },
    notes: []
  });

  it('asks for another grouping once', async () => {
    const host = new FakeHost('kernel', snapshot(), async () => byCategory());
    const el = show(host);
    choice(el, 'category').click();
    await vi.waitFor(() => expect(labels(el)).toEqual(['all programs', 'convolution']));
    expect(el.querySelector('.jp-OpProfile-sentence')?.textContent).toBe('Mostly convolution.');
    choice(el, 'program').click();
    await vi.waitFor(() => expect(labels(el)[1]).toBe('jit_train_step(1)'));
    choice(el, 'category').click();
    await vi.waitFor(() => expect(labels(el)).toEqual(['all programs', 'convolution']));
    expect(host.asked.map(({ query, params }) => `${query} ${params.by}`)).toEqual([
      'op_profile category',
      'op_spread category',
      'op_spread program'
    ]);
    expect(host.asked[0]?.params).toEqual({ by: 'category', limit: 300 });
  });

  it('loads the rows a snapshot left out', async () => {
    const more = rowsTable([
      { node: 9, parent: 3, key: '/p1/loop fusion/late', name: 'late', kind: 'op', time_ps: 1e12 }
    ]);
    const host = new FakeHost('kernel', snapshot(), async () => ({ table: more, summary: {}, notes: [] }));
    const el = show(host);
    named(el, 'loop fusion').querySelector<HTMLElement>('.jp-XprofTree-twisty')?.click();
    el.querySelector<HTMLElement>('.jp-XprofTree-more')?.click();
    await vi.waitFor(() => expect(named(el, 'late')).toBeDefined());
    expect(host.asked[0]?.params).toMatchObject({ by: 'program', under: '/p1/loop fusion' });
    expect(el.querySelector('.jp-XprofTree-more')?.textContent).toContain('411 more');
  });

  it('searches rows that are not loaded', async () => {
    const found = rowsTable([
      { node: 0, parent: -1, key: '/p1', name: 'jit_train_step(1)', kind: 'program' },
      { node: 1, parent: 0, key: '/p1/late', name: 'scatter.9', kind: 'op' }
    ]);
    const host = new FakeHost('server', snapshot(), async () => ({ table: found, summary: {}, notes: [] }));
    const el = show(host);
    type(el, 'scatter.9');
    await vi.waitFor(() => expect(labels(el)).toEqual(['all programs', 'jit_train_step(1)', 'scatter.9']));
    expect(host.asked[0]?.params).toEqual({ by: 'program', limit: 300, search: 'scatter.9' });
  });

  it('shows an error with its hint in place, and tries again', async () => {
    const failing = vi
      .fn()
      .mockRejectedValueOnce(new HostError('the kernel is gone', 'Restart it.'))
      .mockResolvedValue(byCategory());
    const el = show(new FakeHost('kernel', snapshot(), failing));
    choice(el, 'category').click();
    await vi.waitFor(() =>
      expect(el.querySelector('[role=alert]')?.textContent).toContain('the kernel is gone Restart it.')
    );
    expect(labels(el)[1]).toBe('jit_train_step(1)');
    el.querySelector<HTMLElement>('[role=alert] button')?.click();
    await vi.waitFor(() => expect(labels(el)).toEqual(['all programs', 'convolution']));
  });

  it('can be cancelled', async () => {
    const never = (_query: string, _params: object, signal?: AbortSignal) =>
      new Promise<never>((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
      });
    const el = show(new FakeHost('kernel', snapshot(), never));
    choice(el, 'source').click();
    el.querySelector<HTMLElement>('.jp-mod-waiting button')?.click();
    await vi.waitFor(() => expect(el.querySelector('.jp-mod-waiting')).toBeNull());
    expect(el.querySelector('[role=alert]')).toBeNull();
  });
});

describe('theme', () => {
  it('follows JupyterLab at once', async () => {
    document.body.dataset.jpThemeLight = 'true';
    const el = show(new StaticHost(snapshot()));
    const view = el.querySelector<HTMLElement>('.jp-XprofView');
    expect(view?.dataset.theme).toBe('light');
    document.body.dataset.jpThemeLight = 'false';
    await vi.waitFor(() => expect(view?.dataset.theme).toBe('dark'));
    delete document.body.dataset.jpThemeLight;
  });
});

describe('a static page', () => {
  it('draws its payload, or says why not', () => {
    const mountPage = pageOf(mount);
    const good = document.createElement('div');
    const bad = document.createElement('div');
    mountPage(payload, good);
    mountPage({ version: 9 }, bad);
    expect(good.querySelector('[role=treegrid]')).not.toBeNull();
    expect(bad.querySelector('[role=alert]')?.textContent).toContain('newer xprof_nb');
  });
});

function emptyTable(): Uint8Array {
  const header = new TextEncoder().encode('{"v":1,"rows":0,"meta":{},"columns":[]}');
  const data = new Uint8Array(4 + header.length);
  new DataView(data.buffer).setUint32(0, header.length, true);
  data.set(header, 4);
  return data;
}
