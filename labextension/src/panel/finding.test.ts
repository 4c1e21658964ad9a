import { describe, expect, it } from 'vitest';
import { run } from '../testing/runs';
import { searched, tagSearch } from './search';
import { grouped, type Order } from './sort';

describe('searched', () => {
  const tagged = run({
    note: 'batch 8',
    tags: ['base line', 'v2'],
    origin: 'sweep',
    hosts: ['worker-0', 'worker-1']
  });

  it.each([
    ['', true],
    ['TPU  batch', true],
    ['tpu rollout', false],
    ['tag:v2', true],
    ['tag:V', true],
    ['tag:batch', false],
    ['tag:"base line"', true],
    ['tag:"line base"', false],
    ['origin:sweep device:v6', true],
    ['origin:captured', false],
    ['note:batch name:train', true],
    ['host:worker-1', true],
    ['dir:/logs', true],
    ['"batch 8"', true],
    ['"8 batch"', false],
    ['tag:', true],
    ['tag:"v2', true],
    ['constructor:x', false],
    ['http://x', false]
  ])('%s: %s', (query, expected) => {
    expect(searched(query)(tagged)).toBe(expected);
  });

  it('finds what has a colon in it', () => {
    expect(searched('gs://bucket')(run({ logdir: 'gs://bucket/logs' }))).toBe(true);
  });

  it.each(['v2', 'base line', '<b>', 'a"b c'])('finds by a tag %s', (tag) => {
    expect(searched(tagSearch(tag))(run({ tags: [tag.replaceAll('"', '')] }))).toBe(true);
  });
});

describe('grouped', () => {
  const runs = [
    run({
      run: 'b10',
      path: '/1',
      logdir: '/x',
      bytes: 5,
      durationSeconds: 9,
      started: new Date('2026-01-01')
    }),
    run({ run: 'b9', path: '/2', logdir: '/x', bytes: 7, durationSeconds: Number.NaN, started: null }),
    run({
      run: 'a',
      path: '/3',
      logdir: '/y',
      bytes: Number.NaN,
      durationSeconds: 1,
      started: new Date('2026-02-01')
    })
  ];

  it.each<[Order, [string, string[]][]]>([
    [
      'newest',
      [
        ['/y', ['a']],
        ['/x', ['b10', 'b9']]
      ]
    ],
    [
      'name',
      [
        ['/y', ['a']],
        ['/x', ['b9', 'b10']]
      ]
    ],
    [
      'size',
      [
        ['/x', ['b9', 'b10']],
        ['/y', ['a']]
      ]
    ],
    [
      'duration',
      [
        ['/x', ['b10', 'b9']],
        ['/y', ['a']]
      ]
    ]
  ])('%s first, log dirs too, unknown last', (order, expected) => {
    const names = grouped(runs, order).map(({ logdir, runs: members }) => [
      logdir,
      members.map(({ run: name }) => name)
    ]);
    expect(names).toEqual(expected);
  });

  it('leaves the list it was given as it was', () => {
    const before = [...runs];
    grouped(runs, 'name');
    expect(runs).toEqual(before);
  });
});
