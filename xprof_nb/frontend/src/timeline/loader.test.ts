import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Answer, Params } from '../host';
import { FakeHost, rowsTable } from '../testing/fixtures';
import { BOUNDS, traceSnapshot } from '../testing/trace';
import { Levels } from './levels';
import { aheadOf, isStale, Loader, type LoaderEvents } from './loader';

interface Asked {
  readonly params: Params;
  readonly signal: AbortSignal | undefined;
  answer(): void;
  fail(): void;
}

function loading(kind: 'kernel' | 'static' = 'kernel') {
  const asked: Asked[] = [];
  const host = new FakeHost(kind, traceSnapshot(), (_query, params, signal) => {
    return new Promise<Answer>((resolve, reject) => {
      const row = {
        track: 3,
        lane: 0,
        start_ps: Number(params.start_ps),
        duration_ps: 1,
        count: 9,
        event: 0
      };
      asked.push({
        params,
        signal,
        answer: () => resolve({ table: rowsTable([row]), summary: {}, notes: [] }),
        fail: () => reject(new Error('no'))
      });
    });
  });
  const levels = new Levels(BOUNDS);
  const events = { arrived: vi.fn(), failed: vi.fn(), waiting: vi.fn() } satisfies LoaderEvents;
  const loader = new Loader(host, levels, BOUNDS, events);
  const settle = () => vi.advanceTimersByTimeAsync(200);
  return { asked, levels, events, loader, settle };
}

const wish = (start: number, end: number, tracks = [3]) => ({ span: { start, end }, pixels: 100, tracks });
const span = ({ params }: Asked) => [params.start_ps, params.end_ps];

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('Loader', () => {
  it('asks for what is on screen, then for what is beside it, then for everything', async () => {
    const { asked, loader, settle, events } = loading();
    loader.want(wish(4e6, 5e6));
    for (let i = 0; i < 4; i++) {
      await settle();
      asked[i]?.answer();
      await settle();
    }
    expect(asked.map(span)).toEqual([
      [4e6, 5e6],
      [5e6, 6e6],
      [3e6, 4e6],
      [0, 10e6]
    ]);
    expect(asked[0]?.params).toEqual({ start_ps: 4e6, end_ps: 5e6, pixels: 100, tracks: [3] });
    expect(events.arrived).toHaveBeenCalledTimes(4);
    expect(events.waiting.mock.calls.map(([waiting]) => waiting)).toEqual([true, false, false, false, false]);
  });

  it('asks for one window while a wheel turns through many', async () => {
    const { asked, loader, settle } = loading();
    for (let i = 0; i < 20; i++) {
      loader.want(wish(4e6 + i * 1000, 5e6 - i * 1000));
    }
    await settle();
    expect(asked).toHaveLength(1);
    asked[0]?.answer();
    await settle();
    expect(span(asked[1] as Asked)).toEqual([4_019_000, 4_981_000]);
  });

  it('asks nothing ahead while the window moves', async () => {
    const { asked, loader } = loading();
    loader.want(wish(4e6, 5e6));
    await vi.advanceTimersByTimeAsync(0);
    asked[0]?.answer();
    for (let i = 0; i < 20; i++) {
      loader.want(wish(4e6 + i * 100, 5e6 - i * 100));
      await vi.advanceTimersByTimeAsync(16);
    }
    expect(asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(200);
    expect(asked).toHaveLength(2);
  });

  it('drops an answer that came too late', async () => {
    const { asked, loader, settle, levels, events } = loading();
    loader.want(wish(0, 1e6));
    await settle();
    loader.want(wish(8e6, 9e6));
    expect(asked[0]?.signal?.aborted).toBe(true);
    asked[0]?.answer();
    await settle();
    expect(events.arrived).not.toHaveBeenCalled();
    expect(levels.answers).toHaveLength(0);
    expect(span(asked[1] as Asked)).toEqual([8e6, 9e6]);
  });

  it('lets what a person looks at overtake what was asked ahead', async () => {
    const { asked, loader, settle } = loading();
    loader.want(wish(4e6, 5e6));
    await settle();
    asked[0]?.answer();
    await settle();
    expect(span(asked[1] as Asked)).toEqual([5e6, 6e6]);
    loader.want(wish(4.4e6, 4.5e6));
    await settle();
    expect(asked[1]?.signal?.aborted).toBe(true);
    expect(span(asked[2] as Asked)).toEqual([4.4e6, 4.5e6]);
  });

  it('asks only for the tracks that are missing', async () => {
    const { asked, loader, settle } = loading();
    loader.want(wish(0, 10e6, [3]));
    await settle();
    asked[0]?.answer();
    await settle();
    loader.want(wish(0, 10e6, [2, 3]));
    await settle();
    expect(asked[1]?.params.tracks).toEqual([2]);
  });

  it('does not let tracks that are known wait for ones that nobody has seen yet', async () => {
    const { asked, loader, settle, events } = loading();
    loader.want(wish(4e6, 5e6, [3]));
    await settle();
    asked[0]?.answer();
    await settle();
    loader.want(wish(4.4e6, 4.5e6, [3, 9]));
    await settle();
    const fresh = asked.slice(2);
    expect(fresh.map(({ params }) => params.tracks)).toEqual([[3], [9]]);
    fresh[0]?.answer();
    await settle();
    loader.want(wish(4.45e6, 4.46e6, [3, 9]));
    await settle();
    // The new track is still laid out; where the person went meanwhile is asked of the known one.
    const [later] = asked.slice(4);
    expect(later?.params.tracks).toEqual([3]);
    later?.answer();
    fresh[1]?.answer();
    await settle();
    expect(events.arrived).toHaveBeenCalledTimes(4);
  });

  it('says what failed once, and tries again when it is told to', async () => {
    const { asked, loader, settle, events } = loading();
    loader.want(wish(0, 1e6));
    await settle();
    asked[0]?.fail();
    await settle();
    expect(events.failed).toHaveBeenCalledTimes(1);
    expect(asked).toHaveLength(1);
    loader.retry();
    await settle();
    expect(asked).toHaveLength(2);
  });

  it('asks nobody when there is nobody', async () => {
    const { asked, loader, settle } = loading('static');
    loader.want(wish(0, 1e6));
    await settle();
    expect(asked).toHaveLength(0);
  });

  it('is silent after it was disposed of', async () => {
    const { asked, loader, settle, events } = loading();
    loader.want(wish(0, 1e6));
    await settle();
    loader.dispose();
    asked[0]?.answer();
    await settle();
    expect(events.arrived).not.toHaveBeenCalled();
    expect(asked).toHaveLength(1);
  });
});

describe('isStale', () => {
  it('is what lies elsewhere, or is much too coarse', () => {
    expect(isStale(wish(0, 1e6), wish(2e6, 3e6))).toBe(true);
    expect(isStale(wish(0, 10e6), wish(2e6, 3e6))).toBe(true);
    expect(isStale(wish(0, 4e6), wish(2e6, 3e6))).toBe(false);
    expect(isStale(wish(2.4e6, 2.5e6), wish(2e6, 3e6))).toBe(false);
  });
});

describe('aheadOf', () => {
  it('looks no farther than the run', () => {
    expect(
      aheadOf(wish(0, 8e6), BOUNDS).map(({ span: { start, end }, pixels }) => [start, end, pixels])
    ).toEqual([
      [8e6, 10e6, 25],
      [0, 10e6, 100]
    ]);
  });
});
