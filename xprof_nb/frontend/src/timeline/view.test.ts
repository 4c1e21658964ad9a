import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HostError, type Mounted } from '../host';
import { StaticHost } from '../hosts/static';
import { linkOf } from '../shell/link';
import type { FakePen } from '../testing/fake_pen';
import { FakeHost, rowsTable } from '../testing/fixtures';
import { clearStage, frames, press, setStage, WIDTH } from '../testing/stage';
import { answerTrace, boxes, EVENTS, traceSnapshot } from '../testing/trace';
import { savedWindows } from './saved';
import { mount } from './view';

vi.mock('./saved', () => ({ savedWindows: vi.fn(() => []) }));

let shown: Mounted | null = null;
let pens = new Map<string, FakePen>();

beforeEach(() => {
  pens = setStage();
});

afterEach(() => {
  shown?.dispose();
  shown = null;
  clearStage();
  // A link outlives the views of a page.
  linkOf(traceSnapshot().run).choose({}, {});
  linkOf(traceSnapshot().run).narrow({}, {});
});

async function show(host: FakeHost | StaticHost = new FakeHost('kernel', traceSnapshot(), answerTrace)) {
  const el = document.createElement('div');
  document.body.append(el);
  shown = mount(host, el);
  await frames();
  if (host instanceof FakeHost) {
    await vi.waitFor(() => expect(texts()).toContain('fusion.1'));
  }
  return { el, host };
}

const texts = () => pens.get('jp-Timeline-tracksCanvas')?.texts() ?? [];
const area = (el: HTMLElement) => el.querySelector('[role=application]') as HTMLElement;
const names = (el: HTMLElement) =>
  [...el.querySelectorAll('[role=treeitem]')].map(
    (row) => row.querySelector('.jp-Timeline-trackName')?.textContent
  );
const said = (el: HTMLElement) => el.querySelector('.jp-Timeline-live')?.textContent;
const windowText = (el: HTMLElement) => el.querySelector('.jp-Timeline-window')?.textContent;

function point(target: HTMLElement, type: string, x: number, y: number, more: object = {}): void {
  const init = { clientX: x, clientY: y, button: 0, bubbles: true, cancelable: true, pointerId: 1, ...more };
  target.dispatchEvent(new PointerEvent(type, init));
}

async function drag(
  target: HTMLElement,
  from: [number, number],
  to: [number, number],
  more: object = {}
): Promise<void> {
  point(target, 'pointerdown', ...from, more);
  point(target, 'pointermove', ...to, { ...more, buttons: 1 });
  point(target, 'pointerup', ...to, more);
  await frames();
}

describe('a live timeline', () => {
  it('draws what is on screen and asks no more than that', async () => {
    const { el, host } = await show();
    expect(names(el)).toEqual(['vm', 'TPU:0', 'Steps', 'Ops', 'HBM', 'Threads (2)']);
    expect(texts()).toEqual(expect.arrayContaining(['train 7', 'train 8', 'fusion.1', 'all-reduce.3']));
    const asked = (host as FakeHost).asked.filter(({ query }) => query === 'trace_window');
    expect(asked[0]?.params).toEqual({ start_ps: 0, end_ps: 10_000_000, pixels: WIDTH, tracks: [2, 3, 4] });
    expect(windowText(el)).toBe('all of 10.0 µs');
    expect(el.querySelector('img')).toBeNull();
  });

  it('is a tree and an application that says how it is used', async () => {
    const { el } = await show();
    const tree = el.querySelector('[role=tree]') as HTMLElement;
    const described = area(el).getAttribute('aria-describedby') ?? '';
    expect(document.getElementById(described)?.textContent).toContain('question mark');
    const ops = [...tree.querySelectorAll('[role=treeitem]')].find((row) => row.textContent?.includes('Ops'));
    expect([
      ops?.getAttribute('aria-level'),
      ops?.getAttribute('aria-posinset'),
      ops?.getAttribute('aria-setsize')
    ]).toEqual(['3', '2', '3']);
    expect(el.querySelector('[role=separator]')?.getAttribute('aria-valuenow')).not.toBeNull();
    expect(el.querySelector('[data-lm-suppress-shortcuts=true]')).not.toBeNull();
  });

  it('zooms at the pointer with the wheel, and undoes and redoes it', async () => {
    const { el } = await show();
    // happy-dom's wheel has no place.
    const wheel = new WheelEvent('wheel', { deltaY: -240, bubbles: true, cancelable: true });
    Object.assign(wheel, { clientX: 250, clientY: 5 });
    area(el).dispatchEvent(wheel);
    await frames();
    const closer = windowText(el);
    expect(closer).toMatch(/^5\.90 µs of 10\.0 µs$/);
    await press(area(el), 'u');
    expect(windowText(el)).toBe('all of 10.0 µs');
    await press(area(el), 'U');
    expect(windowText(el)).toBe(closer);
  });

  it('leaves a wheel that scrolls the page alone', async () => {
    const { el } = await show();
    document.body.dispatchEvent(new WheelEvent('wheel', { deltaY: 100, bubbles: true }));
    const event = new WheelEvent('wheel', { deltaY: 100, clientX: 250, bubbles: true, cancelable: true });
    area(el).dispatchEvent(event);
    expect(event.defaultPrevented).toBe(false);
  });

  it('pans by drag and by key, and shows all again', async () => {
    const { el } = await show();
    await press(area(el), 'w', 'w');
    const before = (pens.get('jp-Timeline-rulerCanvas') as FakePen).texts();
    await drag(area(el), [500, 50], [300, 50]);
    expect(pens.get('jp-Timeline-rulerCanvas')?.texts()).not.toEqual(before);
    await press(area(el), 'd', 'ArrowRight', 'a', '0');
    expect(windowText(el)).toBe('all of 10.0 µs');
  });

  it('explains an event on hover and on click, and tells the other views', async () => {
    const { el } = await show();
    const follow = vi.fn();
    linkOf(traceSnapshot().run).subscribe(follow, follow);
    const y = 24 + 24 + 24 + 10;
    point(area(el), 'pointermove', 100, y, { buttons: 0 });
    expect(el.querySelector('.jp-Timeline-card')?.textContent).toContain('fusion.1');
    expect(el.querySelector('.jp-Timeline-card')?.textContent).toContain('2.00 µs');
    await drag(area(el), [100, y], [100, y]);
    await vi.waitFor(() =>
      expect(el.querySelector('.jp-Timeline-details')?.textContent).toContain('1.00 TFLOP/s')
    );
    expect(el.querySelector('.jp-Timeline-details')?.textContent).toContain('jit_f (12345678901234567890)');
    expect(follow.mock.calls[0]?.[0].choice).toEqual({ op: 'fusion.1', program_id: '12345678901234567890' });
    el.querySelector<HTMLElement>('.jp-Timeline-links button')?.click();
    expect(follow.mock.calls[1]?.[0].view).toBe('op_profile');
  });

  it('fills in the details of a box that was only a sketch when it was clicked', async () => {
    const rows = { track: 3, lane: 0, start_ps: 0, duration_ps: 2e6, name: 'fusion.1', count: 1 };
    let answer = () => {};
    const later = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const host = new FakeHost('kernel', traceSnapshot(), async (query, params) => {
      await (query === 'trace_window' ? later : null);
      return answerTrace(query, params);
    });
    const el = document.createElement('div');
    document.body.append(el);
    vi.mocked(savedWindows).mockReturnValueOnce([boxes([rows])]);
    shown = mount(host, el);
    await frames();
    await drag(area(el), [100, 82], [100, 82]);
    expect(el.querySelector('.jp-Timeline-details')?.textContent).not.toContain('jit_f');
    answer();
    await vi.waitFor(() => expect(el.querySelector('.jp-Timeline-details')?.textContent).toContain('jit_f'));
  });

  it('walks from event to event by keyboard and says each', async () => {
    const { el } = await show();
    await press(area(el), 'ArrowDown', 'ArrowDown', 'ArrowDown', '.');
    expect(said(el)).toContain('fusion.1, 2.00 µs');
    await press(area(el), '.', 'Shift+ArrowRight');
    expect(said(el)).toContain('fusion.1, 1.00 µs');
    await press(area(el), ',');
    expect(said(el)).toContain('all-reduce.3');
    await press(area(el), 'Enter', 'f');
    await vi.waitFor(() =>
      expect(el.querySelector('.jp-Timeline-details')?.textContent).toContain('all-reduce.3')
    );
    expect(windowText(el)).toBe('1.30 µs of 10.0 µs');
    await press(area(el), 'Escape');
    expect(el.querySelector('.jp-Timeline-details')).toBeNull();
  });

  it('takes a step on a track that is not known yet once it is', async () => {
    let tell = () => {};
    const isTold = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const { el } = await show(
      new FakeHost('kernel', traceSnapshot(), async (query, params) => {
        if (query === 'trace_window' && (params.tracks as number[]).includes(7)) {
          await isTold;
        }
        return answerTrace(query, params);
      })
    );
    const tree = el.querySelector('[role=tree]') as HTMLElement;
    tree.focus();
    await press(tree, 'End', 'ArrowRight', 'End', '.');
    expect(said(el)).toBe('Reading worker/2…');
    tell();
    await vi.waitFor(() => expect(said(el)).toBe('No event of worker/2 in this window.'));
  });

  it('folds, pins, hides, moves and filters tracks', async () => {
    const { el } = await show();
    const tree = el.querySelector('[role=tree]') as HTMLElement;
    tree.focus();
    await press(tree, 'End', 'ArrowRight');
    expect(names(el)).toContain('worker/1');
    await press(tree, 'ArrowLeft');
    expect(names(el)).not.toContain('worker/1');
    await press(tree, 'Home', 'ArrowDown', 'ArrowDown', 'p');
    expect(names(el)[0]).toBe('Steps');
    await press(tree, 'p');
    expect(names(el).slice(2, 4)).toEqual(['Steps', 'Ops']);
    await press(tree, 'Shift+ArrowDown');
    expect(names(el).slice(2, 4)).toEqual(['Ops', 'Steps']);
    await press(tree, 'h');
    expect(names(el)).not.toContain('Steps');
    const filter = el.querySelectorAll<HTMLInputElement>('input[type=search]')[1] as HTMLInputElement;
    filter.value = 'worker';
    filter.dispatchEvent(new Event('input'));
    await frames();
    expect(names(el)).toEqual(['vm', 'Threads (2)', 'worker/1', 'worker/2']);
  });

  it('searches the whole run and steps through the hits', async () => {
    const { el } = await show();
    await press(area(el), '/');
    const box = el.querySelector<HTMLInputElement>('input[type=search]') as HTMLInputElement;
    expect(document.activeElement).toBe(box);
    box.value = 'dispatch';
    box.dispatchEvent(new Event('input'));
    await vi.waitFor(() =>
      expect(el.querySelector('.jp-Timeline-hits')?.textContent).toBe('1 of 1 · 1 name')
    );
    expect(names(el)).not.toContain('worker/1');
    await press(box, 'Enter');
    await vi.waitFor(() => expect(names(el)).toContain('worker/1'));
    expect(said(el)).toContain('dispatch, 1.00 µs');
    await press(area(el), 'n', 'N');
    expect(said(el)).toContain('dispatch');
  });

  it('adds up a box of tracks and time', async () => {
    const { el, host } = await show();
    await drag(area(el), [100, 60], [400, 90], { shiftKey: true });
    await vi.waitFor(() => expect(el.querySelector('.jp-Timeline-table')?.textContent).toContain('=fusion'));
    const asked = (host as FakeHost).asked.find(({ query }) => query === 'trace_selection');
    expect(asked?.params).toEqual({ start_ps: 1_000_000, end_ps: 4_000_000, tracks: [2, 3] });
    expect(el.querySelector('.jp-Timeline-selection')?.textContent).toContain('3.00 µs, 30.0 %');
    const write = vi.fn(async (_text: string) => undefined);
    vi.stubGlobal('navigator', { clipboard: { writeText: write } });
    await press(area(el), 'c');
    expect(write.mock.calls[0]?.[0]).toMatch(/^name\twork_kind\tkind\tcount.*\r\n'=fusion\tmatrix\tops\t2\t/);
    await press(area(el), 'Escape');
    expect(el.querySelector('.jp-Timeline-table')).toBeNull();
  });

  it('adds up a range drawn on the axis, and all that is on screen by key', async () => {
    const { el, host } = await show();
    await drag(el.querySelector('.jp-Timeline-ruler') as HTMLElement, [200, 5], [300, 5]);
    await press(area(el), 'Escape', 'x');
    const asked = (host as FakeHost).asked.filter(({ query }) => query === 'trace_selection');
    expect(asked.map(({ params }) => [params.start_ps, params.end_ps])).toEqual([
      [2_000_000, 3_000_000],
      [0, 10_000_000]
    ]);
  });

  it('puts markers, keeps them and focuses between them', async () => {
    const { el, host } = await show();
    const follow = vi.fn();
    linkOf(traceSnapshot().run).subscribe(follow, follow);
    for (const x of [200, 500]) {
      point(area(el), 'pointermove', x, 5, { buttons: 0 });
      await press(area(el), 'm');
    }
    await vi.waitFor(() =>
      expect(el.querySelector('.jp-Timeline-markers')?.textContent).toContain('kept with the run')
    );
    expect(el.querySelector('.jp-Timeline-distance')?.textContent).toBe('3.00 µs to the next');
    const kept = (host as FakeHost).asked.filter(
      ({ query, params }) => query === 'trace_marks' && params.markers
    );
    expect(kept.at(-1)?.params.markers).toMatchObject([
      { name: 'A', time_ps: 2_000_000 },
      { name: 'B', time_ps: 5_000_000 }
    ]);
    await press(area(el), ']');
    expect(follow.mock.calls.at(-1)?.[0].filters.window_ps).toEqual([2_000_000, 5_000_000]);
    await vi.waitFor(() =>
      expect(el.querySelector('.jp-Timeline-selection')?.textContent).toContain('Focus: 3.00 µs')
    );
    await press(area(el), 'Escape');
    expect(follow.mock.calls.at(-1)?.[0].filters.window_ps).toBeUndefined();
    el.querySelector<HTMLElement>('[aria-label="Delete marker A"]')?.click();
    await frames();
    expect(el.querySelectorAll('.jp-Timeline-markerList li')).toHaveLength(1);
  });

  it('moves the window by the minimap', async () => {
    const { el } = await show();
    const minimap = el.querySelector('.jp-Timeline-minimap') as HTMLElement;
    await drag(minimap, [400, 5], [600, 5]);
    expect(windowText(el)).toBe('2.00 µs of 10.0 µs');
    await press(area(el), 'u');
    expect(windowText(el)).toBe('all of 10.0 µs');
  });

  it('offers what can be done with an event by menu', async () => {
    const { el } = await show();
    area(el).dispatchEvent(
      new MouseEvent('contextmenu', { clientX: 100, clientY: 82, bubbles: true, cancelable: true })
    );
    const items = () => [...el.querySelectorAll<HTMLElement>('.jp-XprofMenu:not([hidden]) [role=menuitem]')];
    expect(items().map((item) => item.textContent)).toEqual(
      expect.arrayContaining(['Zoom to it', 'Search this name', 'Put a marker here', 'Hide the track'])
    );
    items()
      .find((item) => item.textContent === 'Zoom to it')
      ?.click();
    await frames();
    expect(windowText(el)).toBe('2.60 µs of 10.0 µs');
  });

  it('becomes taller by keyboard', async () => {
    const { el } = await show();
    const handle = el.querySelector('[role=separator]') as HTMLElement;
    vi.spyOn(HTMLElement.prototype, 'offsetHeight', 'get').mockReturnValue(300);
    await press(handle, 'ArrowDown');
    expect(handle.getAttribute('aria-valuenow')).toBe('324');
  });

  it('says what failed, and tries again', async () => {
    let isBroken = true;
    const host = new FakeHost('kernel', traceSnapshot(), async (query, params) => {
      if (isBroken && query === 'trace_window') {
        throw new HostError('The profile was moved.', 'Open it again.');
      }
      return answerTrace(query, params);
    });
    const el = document.createElement('div');
    document.body.append(el);
    shown = mount(host, el);
    await vi.waitFor(() =>
      expect(el.querySelector('[role=alert]')?.textContent).toContain('The profile was moved.')
    );
    isBroken = false;
    el.querySelector<HTMLElement>('[role=alert] button')?.click();
    await vi.waitFor(() => expect(texts()).toContain('fusion.1'));
  });

  it('says why there is nothing', async () => {
    const { el } = await show(
      new StaticHost(traceSnapshot({ table: rowsTable([]), notes: ['Tracing was off.'] }))
    );
    expect(el.querySelector('.jp-XprofEmpty')?.textContent).toContain('Tracing was off.');
  });
});

describe('a snapshot', () => {
  it('says what needs the run', async () => {
    const { el } = await show(new StaticHost(traceSnapshot()));
    await press(area(el), 'x');
    expect(el.querySelector('.jp-Timeline-selection')?.textContent).toContain(
      'xprof_nb.open("/home/me/xprof-logs'
    );
    await press(area(el), 'm');
    expect(el.querySelector('.jp-Timeline-markers')?.textContent).toContain('in this view only');
  });
});

describe('hostile names', () => {
  it('stay text', async () => {
    const evil = EVENTS.find(({ name }) => name.startsWith('<img'));
    const { el } = await show();
    const box = el.querySelector<HTMLInputElement>('input[type=search]') as HTMLInputElement;
    box.value = 'onerror';
    box.dispatchEvent(new Event('input'));
    await press(box, 'Enter');
    await press(area(el), 'Enter');
    await vi.waitFor(() =>
      expect(el.querySelector('.jp-Timeline-details')?.textContent).toContain(evil?.name)
    );
    expect(el.querySelector('img')).toBeNull();
    expect(Reflect.get(globalThis, 'pwned')).toBeUndefined();
  });
});
