import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Host, HostError, type Mounted, type Params } from '../host';
import { StaticHost } from '../hosts/static';
import { linkOf } from '../shell/link';
import { FakeHost, payload, snapshot } from '../testing/fixtures';
import { mount } from './view';

class OpeningHost extends FakeHost {
  readonly opened: [string, Params][] = [];

  override async open(view: string, params: Params): Promise<Host> {
    this.opened.push([view, params]);
    if (view === 'graph') {
      throw new HostError('No HLO was recorded.', 'Capture again.');
    }
    const saved = snapshot({ view });
    return new FakeHost('server', saved, async () => saved);
  }
}

// The first view to be opened loads its modules.
const LOADING = { timeout: 10_000 };
const mounted: Mounted[] = [];

function shown(devices: readonly string[] = ['TPU:0', 'TPU:1']) {
  const saved = snapshot({ view: 'explore', params: {} });
  const host = new OpeningHost('server', { ...saved, run: { ...saved.run, devices } }, async () => saved);
  const el = document.createElement('div');
  document.body.append(el);
  mounted.push(mount(host, el));
  const tab = (name: string) => el.querySelector<HTMLElement>(`[role=tab][data-view=${name}]`) as HTMLElement;
  return { el, host, tab };
}

afterEach(() => {
  for (const view of mounted.splice(0)) {
    view.dispose();
  }
  document.body.replaceChildren();
  linkOf(snapshot().run).narrow({}, {});
});

describe('the explorer', () => {
  it('begins with the overview, and opens each view once', async () => {
    const { host, tab, el } = shown();
    await vi.waitFor(() => expect(el.querySelector('.jp-XprofAnswer')).not.toBeNull(), LOADING);
    expect(tab('overview').getAttribute('aria-selected')).toBe('true');
    tab('op_profile').click();
    await vi.waitFor(() => expect(el.querySelector('.jp-OpProfile')).not.toBeNull(), LOADING);
    tab('overview').click();
    await vi.waitFor(() => expect(el.querySelector('.jp-XprofAnswer')).not.toBeNull());
    expect(host.opened.map(([view]) => view)).toEqual(['overview', 'op_profile']);
  });

  it('says in its place why a view cannot be opened', async () => {
    const { el, tab } = shown();
    tab('graph').click();
    await vi.waitFor(() => expect(el.querySelector('[role=alert]')?.textContent).toContain('Capture again.'));
  });

  it('goes where a choice asks to be seen', async () => {
    const { tab } = shown();
    linkOf(snapshot().run).choose({ op: 'dot.1' }, {}, 'op_profile');
    await vi.waitFor(() => expect(tab('op_profile').getAttribute('aria-selected')).toBe('true'));
  });

  it('narrows the run to a device and a step, and shows what others narrow it to', () => {
    const { el } = shown();
    const device = el.querySelector<HTMLSelectElement>('select[aria-label=device]') as HTMLSelectElement;
    const step = el.querySelector<HTMLInputElement>('input[aria-label=Step]') as HTMLInputElement;
    device.value = 'TPU:1';
    device.dispatchEvent(new Event('change'));
    step.value = '7';
    step.dispatchEvent(new Event('change'));
    expect(linkOf(snapshot().run).filters).toEqual({ device: 'TPU:1', step: 7 });
    linkOf(snapshot().run).narrow({ step: 8 }, {});
    expect([device.value, step.value]).toEqual(['', '8']);
  });

  it('has no picker for what there is only one of', () => {
    const { el } = shown(['CPU:0']);
    expect(el.querySelector('select[aria-label=device]')).toBeNull();
  });

  it('walks its tabs by arrow keys', () => {
    const { tab } = shown();
    tab('overview').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));
    expect(tab('op_profile').getAttribute('aria-selected')).toBe('true');
    expect([tab('overview').tabIndex, tab('op_profile').tabIndex]).toEqual([-1, 0]);
  });
});

describe('a saved run', () => {
  it('opens the views that were saved with it', async () => {
    const host = new StaticHost(snapshot({ extra: { views: { op_profile: payload } } }));
    expect((await host.open('op_profile')).snapshot.view).toBe('op_profile');
    await expect(host.open('roofline')).rejects.toThrow('This view was not saved.');
  });

  it('says so when a library was not saved with it', async () => {
    await expect(new StaticHost(snapshot()).library('bokeh')).rejects.toThrow('without bokeh');
  });
});
