import { describe, expect, it } from 'vitest';
import { rowsTable, table } from '../testing/fixtures';
import { type Choice, countOps, firstExpanded, matchingOf, type Row, visibleRows } from './rows';
import { missingChildren, type OpNode, OpTree } from './tree';

const byTime: Choice = { sort: { by: 'time_ps', descending: true }, matching: null, expanded: new Set(['']) };

function names(rows: readonly Row[]): string[] {
  return rows.map((row) => (row.type === 'node' ? (row.node.labels.name ?? '') : `… ${row.missing}`));
}

describe('visibleRows', () => {
  it('shows the whole, then the programs, with idle time last', () => {
    const rows = visibleRows(new OpTree(table()), byTime);
    expect(names(rows)).toEqual(['all programs', 'jit_train_step(1)', 'jit_eval(2)', 'idle']);
    expect(rows.map((row) => row.level)).toEqual([1, 2, 2, 2]);
    expect(rows.map((row) => row.setSize)).toEqual([1, 3, 3, 3]);
  });

  it('keeps idle time last when sorted the other way', () => {
    const rows = visibleRows(new OpTree(table()), { ...byTime, sort: { by: 'time_ps', descending: false } });
    expect(names(rows)).toEqual(['all programs', 'jit_eval(2)', 'jit_train_step(1)', 'idle']);
  });

  it('opens what is expanded and says how many children were left out', () => {
    const tree = new OpTree(table());
    const rows = visibleRows(tree, { ...byTime, expanded: new Set(['', '/p1', '/p1/loop fusion']) });
    const inside = rows.filter((row) => row.level === 4);
    expect(names(inside).slice(0, 3)).toEqual([
      'exponential_reduce_fusion',
      'multiply_add_fusion.12',
      'broadcast_multiply_fusion.2.clone.remat'
    ]);
    expect(inside.at(-1)).toMatchObject({ type: 'more', missing: 412, position: 5, setSize: 5 });
  });

  it('puts missing values last in both directions', () => {
    const tree = new OpTree(table());
    for (const descending of [true, false]) {
      const rows = visibleRows(tree, {
        ...byTime,
        sort: { by: 'flops_per_s', descending },
        expanded: new Set(['', '/p1'])
      });
      const level = rows.filter((row) => row.level === 3);
      expect(names(level).at(-1)).toBe('custom-call');
    }
  });

  it('sorts names by the numbers in them', () => {
    const rows = ['fusion.9', 'fusion.12', 'fusion.1'].map((name, index) => ({
      node: index,
      parent: -1,
      key: name,
      name,
      kind: 'op'
    }));
    const sorted = visibleRows(new OpTree(rowsTable(rows)), {
      ...byTime,
      sort: { by: 'name', descending: false }
    });
    expect(names(sorted)).toEqual(['fusion.1', 'fusion.9', 'fusion.12']);
  });
});

describe('filter', () => {
  it('keeps matches with the rows above them, opened', () => {
    const rows = visibleRows(new OpTree(table()), { ...byTime, matching: matchingOf('SOFTMAX') });
    expect(names(rows)).toEqual([
      'all programs',
      'jit_train_step(1)',
      'loop fusion',
      'exponential_reduce_fusion'
    ]);
    expect(rows.map((row) => row.level)).toEqual([1, 2, 3, 4]);
  });

  it('wants every word, in whatever column', () => {
    const tree = new OpTree(table());
    expect(countOps(tree, 'dot In[5]:14')).toBe(2);
    expect(countOps(tree, 'dot nowhere')).toBe(0);
    expect(countOps(tree, '')).toBe(15);
  });

  it('lets the person look inside a match', () => {
    const tree = new OpTree(table());
    const rows = visibleRows(tree, {
      ...byTime,
      matching: matchingOf('exponential'),
      expanded: new Set(['/p1/loop fusion/exponential_reduce_fusion'])
    });
    expect(names(rows).slice(4)).toEqual(['multiply.1', 'add.2']);
  });

  it('shows nothing when nothing matches', () => {
    expect(visibleRows(new OpTree(table()), { ...byTime, matching: matchingOf('nowhere') })).toEqual([]);
  });
});

describe('OpTree.merge', () => {
  it('adds children of another answer below their node, once', () => {
    const tree = new OpTree(table());
    const node = tree.get('/p1/loop fusion');
    const more = rowsTable([
      { node: 0, parent: -1, key: '/p1/loop fusion/new', name: 'new', kind: 'op' },
      { node: 1, parent: 0, key: '/p1/loop fusion/new/add', name: 'add', kind: 'fused' },
      {
        node: 2,
        parent: -1,
        key: '/p1/loop fusion/multiply_add_fusion.12',
        name: 'multiply_add_fusion.12',
        kind: 'op'
      }
    ]);
    expect(tree.merge(more, node)).toBe(2);
    expect(tree.get('/p1/loop fusion/new')?.parent).toBe(node);
    expect(tree.get('/p1/loop fusion/new/add')?.parent?.key).toBe('/p1/loop fusion/new');
    expect(missingChildren(node as OpNode)).toBe(411);
    expect(tree.merge(more, node)).toBe(0);
  });

  it('joins a search answer to the tree by key', () => {
    const tree = new OpTree(table());
    const found = rowsTable([
      { node: 0, parent: -1, key: '', name: 'all programs', kind: 'root' },
      { node: 1, parent: 0, key: '/p1', name: 'jit_train_step(1)', kind: 'program' },
      { node: 2, parent: 1, key: '/p1/scatter', name: 'scatter', kind: 'category' },
      { node: 3, parent: 2, key: '/p1/scatter/scatter.1', name: 'scatter.1', kind: 'op' }
    ]);
    expect(tree.merge(found)).toBe(2);
    expect(tree.get('/p1/scatter')?.parent?.key).toBe('/p1');
    expect(tree.top).toHaveLength(1);
  });
});

describe('firstExpanded', () => {
  it('opens the way to the most expensive op', () => {
    expect([...firstExpanded(new OpTree(table()))]).toEqual(['', '/p1', '/p1/dot']);
  });
});
