import { describe, expect, it } from 'vitest';
import { decodeLink, encodeLink, linkIn } from './link';

const target = {
  path: '/logs/plugins/profile/überlauf "1"',
  name: 'über',
  state: { shown: { view: 'trace' }, made: {} }
};

describe('links', () => {
  it('lead to what they were made of, by letters that need no escape', () => {
    const link = encodeLink(target);
    expect(link).toMatch(/^[\w-]+$/);
    expect(decodeLink(link)).toEqual(target);
    expect(linkIn(`?token=x&xprof=${link}&reset`)).toBe(link);
    expect(linkIn('?token=x')).toBeNull();
  });

  it('are short: a state that is too long stays behind', () => {
    const link = encodeLink({ ...target, state: { shown: { query: 'x'.repeat(10_000) } } });
    expect(link.length).toBeLessThan(6_000);
    expect(decodeLink(link)).toEqual({ ...target, state: null });
  });

  const made = (data: unknown) => btoa(JSON.stringify(data));

  it.each([
    ['', null],
    ['%%%', null],
    ['AAAA', null],
    ['_____w', null],
    [made('text'), null],
    [made({ v: 2, path: '/r' }), null],
    [made({ v: 1, path: 7 }), null],
    [made({ v: 1, path: 'x'.repeat(5_000) }), null],
    [made({ v: 1, path: '/r', name: {} }), { path: '/r', name: '', state: null }]
  ])('%#: what is not ours leads nowhere', (link, expected) => {
    expect(decodeLink(link)).toEqual(expected);
  });
});
