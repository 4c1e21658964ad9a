import { PageConfig } from '@jupyterlab/coreutils';
import type { Json } from '@xprof-nb/views';
import { beforeEach, describe, expect, it } from 'vitest';
import { addressOf, codeIn, isBelowRoot, isFile, withoutCode } from './address';
import { decodeTarget, encodeTarget, LONGEST } from './code';

const STATE = {
  shown: {
    view: 'timeline',
    views: { timeline: { window_ps: [12, 34], chosen: 'fusion.12 “é” 数' } },
    linked: { op: 'fusion.12' }
  },
  made: { timeline: { markers: [1] } }
};

function codeOf(value: unknown): string {
  const binary = Array.from(new TextEncoder().encode(JSON.stringify(value)), (byte) =>
    String.fromCharCode(byte)
  );
  return `1.${btoa(binary.join('')).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
}

describe('a target', () => {
  it('comes back as it went, in letters an address may have', () => {
    const code = encodeTarget({ run: '/logs/run a', state: STATE });
    expect(code).toMatch(/^1\.[\w-]+$/);
    expect(decodeTarget(code)).toEqual({ run: '/logs/run a', state: STATE });
  });

  it('leaves out what would make it too long, the least telling first', () => {
    const long: Json = 'x'.repeat(LONGEST);
    const left = (state: typeof STATE | object) =>
      decodeTarget(encodeTarget({ run: '', state: state as typeof STATE }))?.state;
    expect(left({ ...STATE, made: { timeline: long } })).toEqual({ shown: STATE.shown, made: {} });
    const views = { ...STATE.shown.views, memory: { long } };
    expect(left({ shown: { ...STATE.shown, views }, made: {} })).toEqual({ shown: STATE.shown, made: {} });
    const huge = { ...STATE.shown, views: { timeline: { long } } };
    expect(left({ shown: huge, made: {} })).toEqual({
      shown: { view: 'timeline', linked: { op: 'fusion.12' } },
      made: {}
    });
    expect(left({ shown: { ...huge, linked: long }, made: {} })).toEqual({
      shown: { view: 'timeline' },
      made: {}
    });
  });

  it.each([
    ['', 'nothing'],
    ['1.', 'no body'],
    ['1.%%%', 'letters it never has'],
    ['1.AAAA', 'no JSON'],
    ['1._w', 'no UTF-8'],
    ['2.e30', 'a newer version'],
    ['e30', 'no version'],
    [`1.${'A'.repeat(LONGEST)}`, 'too long'],
    [codeOf({ run: 'x'.repeat(4097) }), 'a path no file system has']
  ])('is null for %.12s: %s', (code) => {
    expect(decodeTarget(code)).toBeNull();
  });

  it.each([[null], [[1, 2]], ['text'], [7], [{ run: { a: 1 }, shown: 'x', made: [3] }]])(
    'of the wrong types is empty: %j',
    (value) => {
      expect(decodeTarget(codeOf(value))).toEqual({ run: '', state: { shown: {}, made: {} } });
    }
  );

  it('reaches nothing that all objects share', () => {
    const text =
      '{"shown":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"view":"memory"}}';
    const code = `1.${btoa(text).replaceAll('=', '')}`;
    expect(decodeTarget(code)?.state.shown).toEqual({ view: 'memory' });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('an address', () => {
  beforeEach(() => {
    PageConfig.setOption('baseUrl', '/user/x/');
    PageConfig.setOption('appUrl', '/lab');
  });

  it('has the path of what is below the root folder to read', () => {
    const address = new URL(addressOf({ run: 'logs/run a/vm.xplane.pb', state: STATE }));
    expect(address.pathname).toBe('/user/x/lab/tree/logs/run%20a/vm.xplane.pb');
    expect(decodeTarget(codeIn(address.search) ?? '')).toEqual({ run: '', state: STATE });
  });

  it('has other paths in its code', () => {
    for (const run of ['/logs/run', 'gs://bucket/run', 'C:\\logs']) {
      const address = new URL(addressOf({ run, state: STATE }));
      expect(address.pathname).toBe('/user/x/lab');
      expect(decodeTarget(codeIn(address.search) ?? '')?.run).toBe(run);
      expect(isBelowRoot(run)).toBe(false);
    }
  });

  it('keeps the rest of its query', () => {
    expect(withoutCode('?token=a&xprof=1.e30')).toBe('?token=a');
    expect(withoutCode('?xprof=1.e30')).toBe('');
    expect(codeIn('?token=a')).toBeNull();
  });

  it('tells files that are documents from folders', () => {
    expect(['a/vm.xplane.pb', 'x.trace.json.gz', 'x.TRACE.json', 'a/run', 'x.json'].map(isFile)).toEqual([
      true,
      true,
      true,
      false,
      false
    ]);
  });
});
