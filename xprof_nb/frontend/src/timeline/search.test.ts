import { describe, expect, it } from 'vitest';
import { StaticHost } from '../hosts/static';
import { FakeHost } from '../testing/fixtures';
import { answerTrace, BOUNDS, eventBoxes, traceSnapshot } from '../testing/trace';
import { Levels } from './levels';
import { lookFor, nameTest } from './search';

const signal = new AbortController().signal;

async function steps(host: 'kernel' | 'static', text: string, by: 1 | -1, times: number) {
  const levels = new Levels(BOUNDS);
  levels.add(eventBoxes());
  const answering =
    host === 'static' ? new StaticHost(traceSnapshot()) : new FakeHost(host, traceSnapshot(), answerTrace);
  const found: (readonly [string, number, number])[] = [];
  let from = null;
  for (let i = 0; i < times; i++) {
    const { next } = await lookFor(answering, levels, text, { from, startPs: 1_000_000, by }, signal);
    from = next?.picked ?? null;
    found.push([next?.picked.name ?? '', next?.picked.start ?? Number.NaN, next?.index ?? Number.NaN]);
  }
  return found;
}

describe.each(['kernel', 'static'] as const)('a search with a %s host', (host) => {
  it('goes forward from the window and round and round', async () => {
    expect(await steps(host, 'fusion', 1, 3)).toEqual([
      ['fusion.1', 6_000_000, 2],
      ['fusion.1', 0, 1],
      ['fusion.1', 6_000_000, 2]
    ]);
  });

  it('goes back too', async () => {
    expect(await steps(host, 'FUSION', -1, 3)).toEqual([
      ['fusion.1', 0, 1],
      ['fusion.1', 6_000_000, 2],
      ['fusion.1', 0, 1]
    ]);
  });

  it('says when there is nothing', async () => {
    expect(await steps(host, 'no such op', 1, 1)).toEqual([['', Number.NaN, Number.NaN]]);
  });
});

describe('nameTest', () => {
  it('is text in any case, or a regular expression between slashes', () => {
    expect(nameTest(' Dot ')?.matches('xdOTy')).toBe(true);
    expect(nameTest('/^dot/')?.matches('xdot')).toBe(false);
    expect(nameTest('/^dot/')?.matches('Dot')).toBe(false);
    expect(nameTest('/(/')?.matches('a(b')).toBe(true);
    expect(nameTest('  ')).toBeNull();
  });
});
