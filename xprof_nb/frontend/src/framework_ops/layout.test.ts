import { describe, expect, it } from 'vitest';
import { rowsTable } from '../testing/fixtures';
import { OpTree } from '../tree/tree';
import { type Box, boxes } from './layout';

const ROWS: Record<string, number | string>[] = [
  {
    node: 0,
    parent: -1,
    key: 'd',
    kind: 'device',
    name: 'devices',
    self_time_ps: 100,
    forward_time_ps: 40,
    backward_time_ps: 50
  },
  {
    node: 1,
    parent: 0,
    key: 'd/mlp',
    kind: 'scope',
    name: 'mlp',
    self_time_ps: 80,
    forward_time_ps: 30,
    backward_time_ps: 50
  },
  {
    node: 2,
    parent: 1,
    key: 'd/mlp/dot',
    kind: 'op',
    name: 'dot',
    self_time_ps: 60,
    forward_time_ps: 30,
    backward_time_ps: 30
  },
  {
    node: 3,
    parent: 1,
    key: 'd/mlp/add',
    kind: 'op',
    name: 'add',
    self_time_ps: 20,
    forward_time_ps: 0,
    backward_time_ps: 20
  },
  {
    node: 4,
    parent: 0,
    key: 'd/loss',
    kind: 'op',
    name: 'loss',
    self_time_ps: 20,
    forward_time_ps: 10,
    backward_time_ps: 0
  }
];
const top = () => new OpTree(rowsTable(ROWS)).top[0] as NonNullable<OpTree['top'][0]>;
const all = { isSplit: false, zoomed: '', leastWidth: 0 };
const told = (found: readonly Box[]) =>
  found.map(({ name, depth, start, width }) => `${name} ${depth} ${start.toFixed(2)} ${width.toFixed(2)}`);

describe('the boxes of the icicle', () => {
  it('are as wide as their share of the time, inside those around them', () => {
    expect(told(boxes(top(), all))).toEqual([
      'devices 0 0.00 1.00',
      'mlp 1 0.00 0.80',
      'dot 2 0.00 0.60',
      'add 2 0.60 0.20',
      'loss 1 0.80 0.20'
    ]);
  });

  it('show one scope over the whole width, with those around it', () => {
    expect(told(boxes(top(), { ...all, zoomed: 'd/mlp' }))).toEqual([
      'devices 0 0.00 1.00',
      'mlp 1 0.00 1.00',
      'dot 2 0.00 0.75',
      'add 2 0.75 0.25'
    ]);
    expect(told(boxes(top(), { ...all, zoomed: 'gone' }))).toHaveLength(5);
  });

  it('are divided by pass, each with the time of its scopes in it', () => {
    expect(told(boxes(top(), { ...all, isSplit: true }))).toEqual([
      'devices 0 0.00 1.00',
      'forward 1 0.00 0.40',
      'mlp 2 0.00 0.30',
      'dot 3 0.00 0.30',
      'loss 2 0.30 0.10',
      'backward 1 0.40 0.50',
      'mlp 2 0.40 0.50',
      'dot 3 0.40 0.30',
      'add 3 0.70 0.20',
      'neither 1 0.90 0.10',
      'loss 2 0.90 0.10'
    ]);
    const zoomed = boxes(top(), { ...all, isSplit: true, zoomed: 'backward:d/mlp' });
    expect(told(zoomed).slice(-2)).toEqual(['dot 3 0.00 0.60', 'add 3 0.60 0.40']);
    expect(zoomed.find(({ name }) => name === 'dot')?.time_ps).toBe(30);
  });

  it('leave out what is too narrow to be seen', () => {
    expect(told(boxes(top(), { ...all, leastWidth: 0.3 }))).toEqual([
      'devices 0 0.00 1.00',
      'mlp 1 0.00 0.80',
      'dot 2 0.00 0.60'
    ]);
  });
});
