import { afterEach, describe, expect, it, vi } from 'vitest';
import { StaticHost } from '../hosts/static';
import { linkOf } from '../shell/link';
import { FakeHost, rowsTable, snapshot, spread as spreadFixture } from '../testing/fixtures';
import { clear, labels, named, press, show, type } from '../testing/op_profile';

afterEach(clear);

describe('devices and steps', () => {
  it('come with a snapshot', () => {
    const saved = { ...snapshot(), extra: { spread: spreadFixture } };
    const el = show(new StaticHost(saved));
    const row = named(el, 'dot.14');
    expect(row.querySelector('[data-field=step]')?.textContent).toBe('25.0 %');
    expect(row.querySelector('[data-field=devices]')?.textContent).toBe('+25.0 %');
    expect(named(el, 'dot').querySelector('[data-field=devices]')?.classList.contains('jp-mod-missing')).toBe(
      true
    );
    row.click();
    const facts = el.querySelector('.jp-OpDetails-numbers')?.textContent;
    expect(facts).toContain('per step2.00 ms25.0 % of a step');
    expect(facts).toContain('slowest deviceTPU:3250 ms, mean 200 ms');
  });
});

describe('among other views', () => {
  const link = () => linkOf(snapshot().run);
  afterEach(() => {
    link().narrow({}, {});
    link().choose({}, {});
  });

  it('outlines what another view chose, and opens the way to it', () => {
    const el = show(new StaticHost(snapshot()));
    link().choose({ op: 'gather.2', program_id: '1' }, {});
    expect(named(el, 'gather.2').getAttribute('aria-selected')).toBe('true');
    expect(el.querySelector('.jp-OpDetails')).toBeNull();
    link().choose({ op: 'gather.2', program_id: '2' }, {});
    expect(el.querySelector('[aria-selected=true]')).toBeNull();
  });

  it('leaves a filter that hides what was chosen', () => {
    const el = show(new StaticHost(snapshot()));
    type(el, 'softmax');
    link().choose({ op: 'gather.2' }, {});
    expect(named(el, 'gather.2').getAttribute('aria-selected')).toBe('true');
    expect((el.querySelector('input[type=search]') as HTMLInputElement).value).toBe('');
  });

  it('searches the profile for what is not loaded', async () => {
    const found = rowsTable([
      { node: 0, parent: -1, key: '/p1', name: 'jit_train_step(1)', kind: 'program' },
      { node: 1, parent: 0, key: '/p1/late', name: 'scatter.9', op: 'scatter.9', program_id: '1', kind: 'op' }
    ]);
    const host = new FakeHost('server', snapshot(), async () => ({ table: found, summary: {}, notes: [] }));
    const el = show(host);
    link().choose({ op: 'scatter.9', program_id: '1' }, {});
    await vi.waitFor(() => expect(named(el, 'scatter.9').getAttribute('aria-selected')).toBe('true'));
    expect(host.asked[0]).toEqual({
      query: 'op_profile',
      params: { by: 'program', limit: 300, search: 'scatter.9' }
    });
  });

  it('tells the others what is chosen here, and opens them', () => {
    const heard = vi.fn();
    const stop = link().subscribe({}, heard);
    const el = show(new StaticHost(snapshot()));
    named(el, 'dot.14').click();
    expect(heard.mock.lastCall?.[0].choice).toMatchObject({ op: 'dot.14', program_id: '1' });
    el.querySelector<HTMLElement>('.jp-OpDetails-elsewhere [data-view=graph]')?.click();
    expect(heard.mock.lastCall?.[0]).toMatchObject({ choice: { op: 'dot.14' }, view: 'graph' });
    expect(el.querySelector('.jp-XprofTasks')?.textContent).toContain('profile.explore()');
    press(el, 'Escape');
    expect(heard.mock.lastCall?.[0].choice).toEqual({});
    named(el, 'dot').click();
    expect(el.querySelector('.jp-OpDetails-elsewhere')).toBeNull();
    stop();
  });

  it('asks again when the run is narrowed, says to what, and widens again', async () => {
    const part = {
      table: rowsTable([
        { node: 0, parent: -1, key: '', name: 'all programs', kind: 'root', children_total: 0 }
      ]),
      summary: { by: 'program', sentence: 'One step.' },
      notes: []
    };
    const host = new FakeHost('kernel', snapshot(), async () => part);
    const el = show(host);
    link().narrow({ step: 3, device: 'TPU:1' }, {});
    await vi.waitFor(() => expect(labels(el)).toEqual(['all programs']));
    expect(el.querySelector('.jp-XprofNarrowed')?.textContent).toContain('Narrowed to step 3, TPU:1');
    expect(host.asked[0]?.params).toMatchObject({ by: 'program', step: 3, device: 'TPU:1', window_ps: null });
    await vi.waitFor(() => expect(host.asked[1]?.params).toMatchObject({ step: 3, device: 'TPU:1' }));
    el.querySelector<HTMLElement>('.jp-XprofNarrowed button')?.click();
    expect(link().filters).toEqual({});
    await vi.waitFor(() => expect(host.asked[2]?.params).toMatchObject({ step: null, device: null }));
  });
});
