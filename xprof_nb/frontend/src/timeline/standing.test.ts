import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { mount as mountExplorer } from '../explore/view';
import type { Mounted, ViewState } from '../host';
import { StaticHost } from '../hosts/static';
import { linkOf } from '../shell/link';
import { onStateChanged, resume, stateOf } from '../shell/state';
import { FakeHost, rowsTable } from '../testing/fixtures';
import { clearStage, frames, press, setStage } from '../testing/stage';
import { answerTrace, traceSnapshot } from '../testing/trace';
import { mount } from './view';

const shown: Mounted[] = [];

beforeEach(() => {
  setStage();
});

afterEach(() => {
  for (const view of shown.splice(0)) {
    view.dispose();
  }
  clearStage();
  // A link outlives the views of a page.
  linkOf(traceSnapshot().run).choose({}, {});
  linkOf(traceSnapshot().run).narrow({}, {});
});

async function show(answer = answerTrace, snapshot = traceSnapshot()) {
  const el = document.createElement('div');
  document.body.append(el);
  const host = new FakeHost('kernel', snapshot, answer);
  const view = mount(host, el);
  shown.push(view);
  await frames();
  return { el, host, view };
}

const area = (el: HTMLElement) => el.querySelector('[role=application]') as HTMLElement;
const names = (el: HTMLElement) =>
  [...el.querySelectorAll('.jp-Timeline-trackName')].map((name) => name.textContent);
const read = (el: HTMLElement) => stateOf(el)?.read() as ViewState;
const noMarkers = async (query: string, params: Parameters<typeof answerTrace>[1]) => {
  const answer = await answerTrace(query, params);
  return query === 'trace_marks'
    ? { ...answer, summary: { markers: [], saved: false, reason: 'The folder is read-only.' } }
    : answer;
};

describe('how a timeline stands', () => {
  it('goes over to another one, through JSON', async () => {
    const { el } = await show(noMarkers);
    const tree = el.querySelector('[role=tree]') as HTMLElement;
    tree.focus();
    // Steps before Ops no more, HBM pinned, threads unfolded, the device's tracks seen closer.
    await press(
      tree,
      'Home',
      'ArrowDown',
      'ArrowDown',
      'Shift+ArrowDown',
      'ArrowDown',
      'p',
      'End',
      'ArrowRight'
    );
    await press(area(el), 'w', 'w', 'Home', 'ArrowDown', 'ArrowDown', 'ArrowDown', '.', 'Enter', 'm', 'x');
    const search = el.querySelector('input[type=search]') as HTMLInputElement;
    search.value = 'fusion';
    search.dispatchEvent(new Event('input'));
    await frames();
    const state = read(el);
    expect(state.shown).toMatchObject({ search: 'fusion', has_details: true, filter: '' });
    expect(state.shown.tracks).toMatchObject({ unfolded: [5], pinned: [4] });
    expect(state.made.markers).toHaveLength(1);

    const other = await show(noMarkers);
    expect(read(other.el)).not.toEqual(state);
    stateOf(other.el)?.write(JSON.parse(JSON.stringify(state)));
    await frames();
    expect(JSON.parse(JSON.stringify(read(other.el)))).toEqual(JSON.parse(JSON.stringify(state)));
    expect(names(other.el)).toEqual(names(el));
    await vi.waitFor(() => {
      expect(other.el.querySelector('.jp-Timeline-details')?.textContent).toContain('jit_f');
      expect(other.el.querySelector('.jp-Timeline-table')?.textContent).toContain('=fusion');
      expect(other.el.querySelector('.jp-Timeline-hits')?.textContent).toContain('of 2');
    });
    expect(other.el.querySelectorAll('.jp-Timeline-markerList li')).toHaveLength(1);
    expect(other.el.querySelector('.jp-Timeline-window')?.textContent).toBe(
      el.querySelector('.jp-Timeline-window')?.textContent
    );
  });

  it('keeps a focus', async () => {
    const { el } = await show();
    stateOf(el)?.write({ shown: { focus: { start_ps: 1e6, end_ps: 4e6 } }, made: {} });
    await press(area(el), 'x');
    expect(el.querySelector('.jp-Timeline-selection')?.textContent).toContain('Focus: 3.00 µs');
    expect(read(el).shown.focus).toEqual({ start_ps: 1e6, end_ps: 4e6 });
  });

  it('is not taken over where it is damaged, or of another run', async () => {
    const { el } = await show();
    const before = read(el);
    for (const wrong of [
      { window: { start_ps: 'x', end_ps: null }, tracks: 3, event: [], selection: { tracks: [99] } },
      {
        window: { start_ps: 9, end_ps: 3 },
        tracks: { order: 'x', hidden: [99], pinned: [{}] },
        event: { track: 99 }
      },
      { search: 7, filter: null, focus: { start_ps: Number.NaN, end_ps: 1 } }
    ]) {
      stateOf(el)?.write({ shown: wrong as never, made: { markers: 'none' } });
      await frames();
      expect(read(el)).toEqual(before);
    }
  });

  it('is told when it has come to rest', async () => {
    const { el } = await show();
    const keep = vi.fn((_state: ViewState) => '');
    onStateChanged(el, keep);
    await press(area(el), 'w', 'w', 'w');
    await vi.waitFor(() => expect(keep).toHaveBeenCalled());
    expect(keep.mock.calls.at(-1)?.[0].shown.window).toEqual(read(el).shown.window);
  });
});

describe('a timeline among all views of a run', () => {
  async function explored(view: string) {
    const run = { ...traceSnapshot().run, identity: 'explored' };
    const opened = traceSnapshot({ run });
    const explorer = Object.assign(
      new FakeHost('kernel', { ...opened, view: 'explore', params: { view } }, noMarkers),
      {
        open: async () => new FakeHost('kernel', opened, noMarkers)
      }
    );
    const el = document.createElement('div');
    document.body.append(el);
    const kept: ViewState[] = [];
    onStateChanged(el, (state) => {
      kept.push(state);
      return 'kept here';
    });
    const mounted = mountExplorer(explorer, el);
    shown.push(mounted);
    const drawn = () => vi.waitFor(() => expect(area(el)).not.toBeNull(), 10_000);
    return { el, kept, drawn, mounted };
  }

  it('is a part of how they all stand', async () => {
    const { el, kept, drawn, mounted } = await explored('trace');
    await drawn();
    await frames();
    await press(area(el), 'w', 'm');
    await vi.waitFor(() =>
      expect(el.querySelector('.jp-Timeline-markers')?.textContent).toContain('kept here')
    );
    const [inner] = [stateOf(area(el).closest('.jp-XprofExplore-place') as HTMLElement)?.read()];
    mounted.dispose();
    const state = kept.at(-1) as ViewState;
    expect(state.shown).toMatchObject({ view: 'trace', views: { trace: { window: inner?.shown.window } } });
    expect(state.made).toEqual({ trace: inner?.made });

    const again = await explored('overview');
    stateOf(again.el)?.write(JSON.parse(JSON.stringify(state)));
    await again.drawn();
    await frames();
    expect(stateOf(again.el)?.read()).toMatchObject({ shown: { view: 'trace' }, made: state.made });
    expect(again.el.querySelectorAll('.jp-Timeline-markerList li')).toHaveLength(1);
  });
});

describe('markers that the run cannot keep', () => {
  it('are kept by the page, which says where, until the run can', async () => {
    let isWritable = false;
    const { el } = await show(async (query, params) =>
      isWritable ? answerTrace(query, params) : noMarkers(query, params)
    );
    const keep = vi.fn((_state: ViewState) => 'kept in this notebook: save it');
    onStateChanged(el, keep);
    await press(area(el), 'm');
    const pane = () => el.querySelector('.jp-Timeline-markers')?.textContent;
    await vi.waitFor(() =>
      expect(pane()).toContain('kept in this notebook: save it (The folder is read-only)')
    );
    expect(keep.mock.calls.at(-1)?.[0].made.markers).toHaveLength(1);
    isWritable = true;
    await press(area(el), 'm');
    await vi.waitFor(() => expect(pane()).toContain('kept with the run'));
    expect(keep.mock.calls.at(-1)?.[0].made).toEqual({});
  });

  it('are not replaced by those of the run, which has none', async () => {
    const { el, host } = await show(noMarkers);
    const marker = { id: 'm0', name: 'mine', color: '#123456', time_ps: 5 };
    stateOf(el)?.write({ shown: {}, made: { markers: [marker] } });
    await frames();
    expect(host.asked.map(({ query }) => query)).toContain('trace_marks');
    expect(el.querySelector<HTMLInputElement>('.jp-Timeline-markerName')?.value).toBe('mine');
    expect(read(el).made).toEqual({ markers: [marker] });
  });

  it('of a snapshot are the page’s as well', async () => {
    const el = document.createElement('div');
    document.body.append(el);
    shown.push(mount(new StaticHost(traceSnapshot()), el));
    await frames();
    await press(area(el), 'm');
    expect(read(el).made.markers).toHaveLength(1);
  });
});

describe('what is chosen elsewhere', () => {
  const ORIGIN = 8_000_000_000_000_000;

  /** Finds what is typed as an expression that is a whole name. */
  const byName: typeof answerTrace = (query, params) =>
    answerTrace(query, { ...params, text: String(params.text).replace(/^\/\^|\$\/$|\\/g, '') });

  function linked(answer = byName) {
    const summary = { ...traceSnapshot().summary, origin_ps: String(ORIGIN) };
    const run = { ...traceSnapshot().run, identity: `run ${shown.length} of ${Math.random()}` };
    return { link: linkOf(run), opened: show(answer, traceSnapshot({ summary, run })) };
  }

  it('is shown: an op by name and program', async () => {
    // The second op called fusion.1 is of the program asked for.
    const { link, opened } = linked(async (query, params) => {
      const found = await byName(query, params);
      return query === 'trace_event' && params.event === 5
        ? { ...found, summary: { ...found.summary, program_id: '7' } }
        : found;
    });
    const { el, host } = await opened;
    const other = vi.fn();
    link.subscribe(other, other);
    link.choose({ op: 'fusion.1', program_id: '7' }, other);
    await vi.waitFor(() => expect(read(el).shown.event).toMatchObject({ name: 'fusion.1', start_ps: 6e6 }));
    expect(read(el).shown.search).toBe('/^fusion\\.1$/');
    const searched = host.asked.filter(({ query }) => query === 'trace_search');
    expect(searched.some(({ params }) => JSON.stringify(params.tracks) === '[3]')).toBe(true);
    await press(area(el), 'Enter');
    await vi.waitFor(() => expect(el.querySelector('.jp-Timeline-details')?.textContent).toContain('jit_f'));
    // The others know: it came from there.
    expect(other).not.toHaveBeenCalled();
    el.querySelector<HTMLElement>('.jp-Timeline-links button')?.click();
    expect(other.mock.calls[0]?.[0]).toMatchObject({ choice: { op: 'fusion.1' }, view: 'op_profile' });
    expect(el.querySelector('.jp-Timeline-status')?.textContent).toContain('profile.explore()');
  });

  it('is shown: a stretch of time, a device, a step', async () => {
    const { link, opened } = linked(async (query, params) =>
      query === 'trace'
        ? { table: rowsTable([]), summary: { shown_start_ps: 5e6, shown_end_ps: 10e6 }, notes: [] }
        : answerTrace(query, params)
    );
    const { el } = await opened;
    const elsewhere = {};
    link.narrow({ window_ps: [ORIGIN + 3e6, ORIGIN + 5e6] }, elsewhere);
    await frames();
    expect(el.querySelector('.jp-Timeline-window')?.textContent).toBe('2.60 µs of 10.0 µs');
    expect(read(el).shown.focus).toEqual({ start_ps: 3e6, end_ps: 5e6 });
    link.narrow({ device: 'TPU:9' }, elsewhere);
    await frames();
    expect(names(el)).toEqual([]);
    expect(read(el).shown.focus).toBeNull();
    link.narrow({ host: '' }, elsewhere);
    await frames();
    expect(names(el)).toContain('Ops');
    link.choose({ step: 8 }, elsewhere);
    await vi.waitFor(() =>
      expect(el.querySelector('.jp-Timeline-window')?.textContent).toBe('6.50 µs of 10.0 µs')
    );
  });

  it('before the timeline was there is followed, but not what it knows already', async () => {
    const { link, opened } = linked();
    link.choose({ op: 'dot.2' }, {});
    const { el, view, host } = await opened;
    await vi.waitFor(() => expect(read(el).shown.event).toMatchObject({ name: 'dot.2' }));
    await press(area(el), 'Escape', 'Escape');
    const state = read(el);
    view.dispose();
    const again = document.createElement('div');
    document.body.append(again);
    shown.push(resume(mount, host, again, state));
    await frames();
    expect(read(again)).toEqual(state);
    expect(state.shown.event).toBeNull();
  });

  it('that is nothing changes nothing', async () => {
    const { link, opened } = linked();
    const { el, host } = await opened;
    const before = [{ ...read(el).shown, known: null }, host.asked.length];
    for (const choice of [{}, { op: '' }, { program_id: '7' }]) {
      link.choose(choice, {});
      await frames();
    }
    link.narrow({ window_ps: [Number.NaN, 1] }, {});
    await frames();
    expect([{ ...read(el).shown, known: null }, host.asked.length]).toEqual(before);
  });

  it('here is told to the others: a focus narrows them all', async () => {
    const { link, opened } = linked();
    const { el } = await opened;
    const other = vi.fn();
    link.subscribe(other, other);
    stateOf(el)?.write({
      shown: {},
      made: {
        markers: [2e6, 5e6].map((time_ps, index) => ({ id: `m${index}`, name: 'x', color: '', time_ps }))
      }
    });
    await press(area(el), ']');
    expect(other.mock.calls.at(-1)?.[0].filters).toEqual({ window_ps: [ORIGIN + 2e6, ORIGIN + 5e6] });
    await press(area(el), 'Escape', 'Escape');
    expect(other.mock.calls.at(-1)?.[0].filters).toEqual({});
  });
});
