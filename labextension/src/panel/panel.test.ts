import { nullTranslator } from '@jupyterlab/translation';
import { HostError } from '@xprof-nb/views';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { RunEntry, RunList } from '../runs_api';
import { NOW, run } from '../testing/runs';
import { emptyState } from './empty';
import { ago, exactly, facts } from './facts';
import { RunsModel } from './model';
import { readStanding } from './standing';

const trans = nullTranslator.load('xprof_nb');

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
    expect(facts(run(), trans)).toBe('1.20 s · 12.1 MiB · TPU v6 Lite · captured');
    expect(facts(run({ origin: 'sweep', device: '' }), trans)).toBe('sweep · 1.20 s · 12.1 MiB');
    expect(facts(run({ hostCount: 4 }), trans)).toContain('4 hosts');
    const unknown = { device: '', durationSeconds: Number.NaN, bytes: Number.NaN, origin: 'constructor' };
    expect(facts(run(unknown), trans)).toBe('constructor');
  });

  it('has the exact values on hover', () => {
    expect(exactly(run({ bytes: 569_000 }))).toContain('569\u2009000 bytes');
  });
});

describe('RunsModel', () => {
  let model: RunsModel;
  afterEach(() => model.dispose());

  const found = (runs: RunEntry[], scanning = false): RunList => ({
    runs,
    roots: ['/logs'],
    truncated: false,
    scanning
  });

  it('tells of news, not of the same again, and keeps what is as it was', async () => {
    const list = vi.fn(async () => found([run()]));
    model = new RunsModel({ list }, 1_000_000);
    const changed = vi.fn();
    model.changed.connect(changed);
    await model.refresh();
    const first = model.groups[0]?.runs[0];
    await model.refresh();
    expect(list).toHaveBeenCalledTimes(2);
    expect(changed).toHaveBeenCalledTimes(1);
    list.mockResolvedValueOnce(found([run(), run({ path: '/new' })]));
    await model.refresh();
    expect(changed).toHaveBeenCalledTimes(2);
    expect(model.groups[0]?.runs[0]).toBe(first);
    model.search = 'nothing';
    expect(model.groups).toEqual([]);
  });

  it('keeps the runs it has when a look fails, and recovers', async () => {
    const list = vi.fn(async () => found([run()]));
    model = new RunsModel({ list }, 1_000_000);
    await model.refresh();
    list.mockRejectedValueOnce(new HostError('no answer', 'Check it.'));
    await model.refresh().catch(() => undefined);
    expect(model.error?.hint).toBe('Check it.');
    expect(model.list?.runs).toHaveLength(1);
    await model.refresh();
    expect(model.error).toBeNull();
  });

  it('looks again soon while the server still scans', async () => {
    vi.useFakeTimers();
    const list = vi.fn(async () => found([], true));
    model = new RunsModel({ list }, 1_000_000);
    const first = model.refresh();
    await vi.advanceTimersByTimeAsync(1);
    await first;
    list.mockResolvedValue(found([run()]));
    await vi.advanceTimersByTimeAsync(1_100);
    expect(model.list?.runs).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(list).toHaveBeenCalledTimes(2);
    vi.useRealTimers();
  });
});

describe('readStanding', () => {
  it.each([
    [
      { order: 'size', toggled: ['logdir:/x', 7] },
      { order: 'size', toggled: ['logdir:/x'] }
    ],
    [
      { order: '__proto__', toggled: {} },
      { order: 'newest', toggled: [] }
    ],
    [null, { order: 'newest', toggled: [] }]
  ])('%j', (kept, standing) => {
    expect(readStanding(kept)).toEqual(standing);
  });
});

describe('emptyState', () => {
  it('teaches the two lines that fill it, and puts them into a notebook', () => {
    const insert = vi.fn();
    const box = emptyState(['/logs'], trans, insert);
    expect(box.textContent).toContain('/logs');
    expect(box.querySelector('pre')?.textContent).toBe('%load_ext xprof_nb\n%xprof capture 3s');
    box.querySelector('button')?.click();
    expect(insert).toHaveBeenCalledWith('%load_ext xprof_nb\n%xprof capture 3s');
    expect(emptyState([], trans, null).querySelector('button')).toBeNull();
  });
});
