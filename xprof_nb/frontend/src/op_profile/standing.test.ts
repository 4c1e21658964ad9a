import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Host, ViewState } from '../host';
import { StaticHost } from '../hosts/static';
import { linkOf } from '../shell/link';
import { onStateChanged, resume, stateOf } from '../shell/state';
import { FakeHost, snapshot, table } from '../testing/fixtures';
import { clear, labels, named, press, show, type } from '../testing/op_profile';
import { mount } from './view';

afterEach(clear);

let runs = 0;
/** A run that nobody on this page has chosen anything in. */
const newRun = () => snapshot({ run: { ...snapshot().run, identity: `standing ${runs++}` } });
const read = (el: HTMLElement) => JSON.parse(JSON.stringify(stateOf(el)?.read())) as ViewState;
const answer = async () => ({ table: table(), summary: { by: 'category' }, notes: [] });

function goOn(host: Host, state: ViewState): HTMLElement {
  const el = document.createElement('div');
  document.body.append(el);
  resume(mount, host, el, state);
  return el;
}

describe('how an op profile stands', () => {
  it('goes over to the next one: open rows, order, filter and the chosen op with its details', () => {
    const el = show(new StaticHost(newRun()));
    named(el, 'dot').click();
    press(el, 'ArrowLeft');
    press(el, 'ArrowDown', 'ArrowRight');
    (el.querySelector('[data-choice=wasted_fraction]') as HTMLElement).click();
    type(el, 'fusion');
    const state = read(el);
    const seen = labels(el);
    expect(state.shown).toMatchObject({
      filter: 'fusion',
      sort: { by: 'wasted_fraction', descending: true }
    });

    const other = goOn(new StaticHost(newRun()), state);
    expect(labels(other)).toEqual(seen);
    expect(other.querySelector<HTMLInputElement>('input[type=search]')?.value).toBe('fusion');
    expect(other.querySelector('[data-choice=wasted_fraction]')?.getAttribute('aria-pressed')).toBe('true');
    const { linked: _, ...own } = read(other).shown;
    expect(state.shown).toMatchObject(own);
  });

  it('is told to the page when a row is opened', async () => {
    const el = show(new StaticHost(newRun()));
    const keep = vi.fn(() => 'here');
    onStateChanged(document.body, keep);
    press(el, 'ArrowLeft');
    await vi.waitFor(() => expect(keep).toHaveBeenCalledTimes(1));
  });

  it('keeps a grouping that a snapshot cannot show for the kernel that can', async () => {
    const state = { shown: { by: 'category', expanded: ['x'] }, made: {} };
    const saved = goOn(new StaticHost(newRun()), state);
    expect(read(saved).shown).toMatchObject({ by: 'category', expanded: ['x'] });
    expect(labels(saved)[0]).toBe('all programs');

    const host = new FakeHost('kernel', newRun(), answer);
    const live = goOn(host, read(saved));
    await vi.waitFor(() =>
      expect(live.querySelector('[data-choice=category]')?.getAttribute('aria-pressed')).toBe('true')
    );
    expect(host.asked[0]).toMatchObject({ query: 'op_profile', params: { by: 'category' } });
  });

  it('narrows and chooses as it was, unless the page has chosen since', async () => {
    const linked = { choice: { op: 'dot.14', program_id: '1' }, filters: { step: 3 } };
    const fresh = new FakeHost('kernel', newRun(), answer);
    goOn(fresh, { shown: { linked }, made: {} });
    await vi.waitFor(() =>
      expect(fresh.asked.filter(({ query }) => query === 'op_profile').at(-1)?.params).toMatchObject({
        step: 3
      })
    );
    expect(linkOf(fresh.snapshot.run).choice.op).toBe('dot.14');

    const used = newRun();
    linkOf(used.run).choose({ op: 'add.1' }, {});
    goOn(new StaticHost(used), { shown: { linked }, made: {} });
    expect([linkOf(used.run).choice, linkOf(used.run).filters]).toEqual([{ op: 'add.1' }, {}]);
  });

  it('takes nothing from a damaged state', () => {
    const before = labels(show(new StaticHost(newRun())));
    const shown = {
      by: 7,
      sort: { by: 'constructor' },
      expanded: 'x',
      filter: null,
      selected: {},
      linked: [3]
    };
    expect(labels(goOn(new StaticHost(newRun()), { shown, made: {} }))).toEqual(before);
  });
});
