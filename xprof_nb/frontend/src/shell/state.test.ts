import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Host, ViewState } from '../host';
import { StaticHost } from '../hosts/static';
import { readState } from '../payload';
import { snapshot } from '../testing/fixtures';
import { onStateChanged, resume, type Stateful, StateTeller, stateOf } from './state';

let page: HTMLElement;
let view: HTMLElement;
let state: ViewState;
const stateful: Stateful = {
  read: () => state,
  write: (written) => {
    state = written;
  }
};

beforeEach(() => {
  vi.useFakeTimers();
  page = document.createElement('div');
  view = document.createElement('section');
  view.className = 'jp-XprofView';
  page.append(view);
  document.body.append(page);
  state = { shown: { window: 1 }, made: {} };
});

afterEach(() => {
  vi.useRealTimers();
  document.body.replaceChildren();
});

describe('the state of a view', () => {
  it('is told once it has come to rest, and only when it has changed', () => {
    const teller = new StateTeller(view, stateful);
    const keep = vi.fn(() => 'here');
    const stop = onStateChanged(page, keep);
    teller.changed();
    vi.runAllTimers();
    expect(keep).not.toHaveBeenCalled();
    state = { shown: { window: 2 }, made: {} };
    teller.changed();
    teller.changed();
    expect(keep).not.toHaveBeenCalled();
    vi.runAllTimers();
    expect(keep.mock.calls).toEqual([[{ shown: { window: 2 }, made: {} }]]);
    stop();
    state = { shown: { window: 3 }, made: {} };
    expect(teller.tell()).toBe('');
    expect(keep).toHaveBeenCalledTimes(1);
  });

  it('is told before the view goes', () => {
    const teller = new StateTeller(view, stateful);
    const keep = vi.fn(() => '');
    onStateChanged(page, keep);
    state = { shown: { window: 2 }, made: {} };
    teller.changed();
    teller.dispose();
    expect(keep).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['is left', () => window.dispatchEvent(new Event('pagehide'))],
    ['is put away', () => document.dispatchEvent(new Event('visibilitychange'))]
  ])('is told before the page %s, and no more once the view is gone', (_, leave) => {
    const teller = new StateTeller(view, stateful);
    const keep = vi.fn(() => '');
    onStateChanged(page, keep);
    leave();
    expect(keep).not.toHaveBeenCalled();
    state = { shown: { window: 2 }, made: {} };
    teller.changed();
    leave();
    expect(keep.mock.calls).toEqual([[{ shown: { window: 2 }, made: {} }]]);
    // Moved, and not drawn yet: nobody has said that anything changed.
    state = { shown: { window: 3 }, made: {} };
    leave();
    expect(keep).toHaveBeenLastCalledWith({ shown: { window: 3 }, made: {} });
    teller.dispose();
    state = { shown: { window: 4 }, made: {} };
    leave();
    expect(keep).toHaveBeenCalledTimes(2);
  });

  it('is kept by the outermost who can, who says where', () => {
    const teller = new StateTeller(view, stateful);
    const [inner, outer] = [vi.fn(() => 'in the kernel'), vi.fn(() => 'in this notebook')];
    onStateChanged(view, inner);
    onStateChanged(page, outer);
    onStateChanged(document.body, () => '');
    state = { shown: {}, made: { markers: [] } };
    expect(teller.tell()).toBe('in this notebook');
    expect(inner).toHaveBeenCalledTimes(1);
    // Nothing new: where it is kept is known.
    expect(teller.tell()).toBe('in this notebook');
    expect(outer).toHaveBeenCalledTimes(1);
  });

  it('is found on the element, and written there', () => {
    expect(stateOf(page)).toBeNull();
    new StateTeller(view, stateful);
    stateOf(page)?.write({ shown: { window: 7 }, made: {} });
    expect(stateOf(page)?.read().shown).toEqual({ window: 7 });
  });

  it('may come from anywhere', () => {
    for (const damaged of [null, 3, 'x', [], { shown: 3, made: null }, undefined]) {
      expect(readState(damaged)).toEqual({ shown: {}, made: {} });
    }
  });

  it('goes on from what the page has kept, else from what the snapshot has', () => {
    const mount = (_host: Host, el: HTMLElement) => {
      const node = document.createElement('section');
      node.className = 'jp-XprofView';
      el.append(node);
      new StateTeller(node, stateful);
      return { dispose: () => node.remove() };
    };
    const drawn = (saved: object, kept: ViewState | null) => {
      page.replaceChildren();
      state = { shown: { new: true }, made: {} };
      resume(mount, new StaticHost(snapshot({ state: saved })), page, kept);
      return state.shown;
    };
    expect(drawn({ shown: { window: 1 } }, null)).toEqual({ window: 1 });
    expect(drawn({ shown: { window: 1 } }, { shown: { window: 2 }, made: {} })).toEqual({ window: 2 });
    expect(drawn({}, null)).toEqual({ new: true });
  });
});
