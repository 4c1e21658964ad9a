import { nullTranslator } from '@jupyterlab/translation';
import { HostError } from '@xprof-nb/views';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { RunList as Found, RunEntry } from '../api';
import { emptyState } from './empty';
import { ago, exactly, facts } from './facts';
import { RunList } from './list';
import { grouped, matches, RunsModel } from './model';

const trans = nullTranslator.load('xprof_nb');
const NOW = new Date('2026-11-30T14:00:00Z');

function run(changes: Partial<RunEntry> = {}): RunEntry {
  return {
    run: 'train-1',
    path: '/logs/plugins/profile/train-1',
    logdir: '/logs',
    started: new Date('2026-11-30T13:57:00Z'),
    durationSeconds: 1.2,
    hostCount: 1,
    bytes: 12.1 * 1024 ** 2,
    origin: 'captured',
    device: 'TPU v6 Lite',
    note: '',
    tags: [],
    ...changes
  };
}

describe('ago', () => {
  it.each([
    ['2026-11-30T13:59:30Z', 'just now'],
    ['2026-11-30T13:57:00Z', '3 min ago'],
    ['2026-11-30T11:10:00Z', '2 h ago'],
    ['2026-11-29T10:00:00Z', 'yesterday'],
    ['2026-11-20T14:00:00Z', '10 days ago'],
    ['2026-11-30T14:00:05Z', 'just now']
  ])('%s reads %s', (then, text) => {
    expect(ago(new Date(then), NOW, trans)).toBe(text);
  });

  it('is a date once it is long ago', () => {
    const then = new Date('2026-01-05T12:00:00Z');
    expect(ago(then, NOW, trans)).toBe(then.toLocaleDateString());
  });
});

describe('facts', () => {
  it('says what is known, and only that', () => {
    expect(facts(run(), trans)).toBe('TPU v6 Lite · 1.20 s · 12.1 MiB');
    expect(facts(run({ hostCount: 4 }), trans)).toContain('4 hosts');
    expect(facts(run({ device: '', durationSeconds: Number.NaN, bytes: Number.NaN }), trans)).toBe('');
  });

  it('has the exact values on hover', () => {
    expect(exactly(run({ bytes: 569_000 }))).toContain('569\u2009000 bytes');
  });
});

describe('grouped and matches', () => {
  it('puts the newest first, of log dirs too', () => {
    const old = run({ run: 'old', logdir: '/a', started: new Date('2026-01-01') });
    const undated = run({ run: 'undated', logdir: '/a', started: null });
    const groups = grouped([old, undated, run({ run: 'new', logdir: '/b' })]);
    expect(groups.map(({ logdir, runs }) => [logdir, runs.map((entry) => entry.run)])).toEqual([
      ['/b', ['new']],
      ['/a', ['old', 'undated']]
    ]);
  });

  it('wants every word', () => {
    expect(matches(run({ note: 'batch 8' }), 'TPU  batch')).toBe(true);
    expect(matches(run(), 'tpu batch')).toBe(false);
    expect(matches(run(), '')).toBe(true);
  });
});

describe('RunsModel', () => {
  let model: RunsModel;
  afterEach(() => model.dispose());

  const found = (runs: RunEntry[]): Found => ({ runs, roots: ['/logs'], truncated: false });

  it('tells of news, not of the same again', async () => {
    const runs = vi.fn(async () => found([run()]));
    model = new RunsModel({ runs }, 1_000_000);
    const changed = vi.fn();
    model.changed.connect(changed);
    await model.refresh();
    await model.refresh();
    expect(runs).toHaveBeenCalledTimes(2);
    expect(changed).toHaveBeenCalledTimes(1);
    model.filter = 'nothing';
    expect(model.groups).toEqual([]);
  });

  it('keeps the runs it has when a look fails, and recovers', async () => {
    const runs = vi.fn(async () => found([run()]));
    model = new RunsModel({ runs }, 1_000_000);
    await model.refresh();
    runs.mockRejectedValueOnce(new HostError('no answer', 'Check it.'));
    await model.refresh().catch(() => undefined);
    expect(model.error?.hint).toBe('Check it.');
    expect(model.list?.runs).toHaveLength(1);
    await model.refresh();
    expect(model.error).toBeNull();
  });
});

describe('RunList', () => {
  const setUp = () => {
    const open = vi.fn();
    const list = new RunList(trans, open);
    document.body.append(list.node);
    list.show(
      grouped([
        run({ run: 'b', path: '/b' }),
        run({ run: 'a', path: '/a' }),
        run({ run: 'c', path: '/c', logdir: '/x' })
      ])
    );
    return { list, open };
  };
  const selected = (list: RunList) =>
    list.node.querySelector('[aria-selected=true] .jp-XprofRuns-name')?.textContent;
  const press = (list: RunList, key: string) =>
    list.node.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));

  afterEach(() => document.body.replaceChildren());

  it('is a listbox with a group for each log dir', () => {
    const { list } = setUp();
    expect(list.node.getAttribute('role')).toBe('listbox');
    expect(
      [...list.node.querySelectorAll('[role=group]')].map((group) => group.getAttribute('aria-label'))
    ).toEqual(['/logs', '/x']);
    expect(
      document.getElementById(list.node.getAttribute('aria-activedescendant') ?? '')?.textContent
    ).toContain('b');
    list.dispose();
  });

  it('goes by keyboard and opens with Enter', () => {
    const { list, open } = setUp();
    press(list, 'ArrowDown');
    expect(selected(list)).toBe('a');
    press(list, 'End');
    expect(selected(list)).toBe('c');
    press(list, 'b');
    expect(selected(list)).toBe('b');
    press(list, 'ArrowUp');
    press(list, 'Enter');
    expect(open).toHaveBeenCalledWith(expect.objectContaining({ path: '/b' }));
    list.dispose();
  });

  it('keeps the selected run when the list is drawn anew', () => {
    const { list } = setUp();
    press(list, 'End');
    list.show(grouped([run({ run: 'c', path: '/c' }), run({ run: 'new', path: '/new', started: NOW })]));
    expect(selected(list)).toBe('c');
    list.dispose();
  });

  it('draws hostile names as text', () => {
    const { list } = setUp();
    list.show(grouped([run({ run: '<img src=x>', note: '<b>', logdir: '<i>' })]));
    expect(list.node.querySelector('img, b, i')).toBeNull();
    list.dispose();
  });
});

describe('emptyState', () => {
  it('teaches the two lines that fill it', () => {
    const text = emptyState(['/logs'], trans).textContent;
    expect(text).toContain('%load_ext xprof_nb');
    expect(text).toContain('%xprof capture 3s');
    expect(text).toContain('/logs');
  });
});
