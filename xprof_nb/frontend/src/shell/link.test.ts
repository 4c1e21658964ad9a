import { describe, expect, it, vi } from 'vitest';
import { time } from '../format';
import { snapshot } from '../testing/fixtures';
import { described, linkOf, paramsOf } from './link';

const run = (identity: string) => ({ ...snapshot().run, identity });

describe('linkOf', () => {
  it('is one for all views of a run, and another for another run', () => {
    expect(linkOf(run('a'))).toBe(linkOf(run('a')));
    expect(linkOf(run('a'))).not.toBe(linkOf(run('b')));
  });

  it('tells everybody but who chose', () => {
    const link = linkOf(run('told'));
    const [chooser, other] = [{}, {}];
    const heard = { chooser: vi.fn(), other: vi.fn() };
    link.subscribe(chooser, heard.chooser);
    const stop = link.subscribe(other, heard.other);
    link.choose({ op: 'dot.1' }, chooser, 'graph');
    expect(heard.chooser).not.toHaveBeenCalled();
    expect(heard.other).toHaveBeenCalledWith({ choice: { op: 'dot.1' }, filters: {}, view: 'graph' });
    link.narrow({ step: 7 }, chooser);
    expect(heard.other).toHaveBeenLastCalledWith({ choice: { op: 'dot.1' }, filters: { step: 7 } });
    stop();
    link.narrow({}, chooser);
    expect(heard.other).toHaveBeenCalledTimes(2);
  });

  it('lets a listener stop while it is being told', () => {
    const link = linkOf(run('stopping'));
    const stop = link.subscribe({}, () => stop());
    const heard = vi.fn();
    link.subscribe({}, heard);
    link.choose({ step: 1 }, {});
    expect(heard).toHaveBeenCalledOnce();
  });
});

describe('filters', () => {
  it('are parameters and words', () => {
    const filters = { device: 'TPU:0', step: 7, window_ps: [1e9, 4e9] as const };
    expect(paramsOf(filters)).toEqual({ device: 'TPU:0', step: 7, window_ps: [1e9, 4e9] });
    expect(described(filters, time)).toBe('step 7, 3.00 ms from 1.00 ms, TPU:0');
    expect([paramsOf({}), described({}, time)]).toEqual([{}, '']);
  });
});
