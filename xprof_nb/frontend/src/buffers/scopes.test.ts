import { describe, expect, it } from 'vitest';
import { rowsTable } from '../testing/fixtures';
import { bufferAt } from './rows';
import { at, branching, MOST_TILES, type Node, scopeTree, type Tile, tiles } from './scopes';

function buffers(...given: readonly (readonly [string, string, number])[]) {
  const table = rowsTable(
    given.map(([name, scope, bytes]) => ({
      name,
      kind: 'temporary',
      bytes,
      ...(scope === '' ? {} : { scope })
    }))
  );
  return given.map((_, row) => bufferAt(table, row));
}

const area = ({ width, height }: Tile) => width * height;
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

describe('the tree of scopes', () => {
  const tree = scopeTree(
    buffers(
      ['a', 'step/mlp', 4],
      ['b', 'step/mlp', 2],
      ['c', 'step/attention', 3],
      ['d', '', 1],
      ['none', 'step', 0]
    )
  );

  it('has every buffer under the scope that makes it, and says what has none', () => {
    const shape = (node: Node): unknown =>
      node.children.length > 0 ? { [node.name]: node.children.map(shape) } : node.name;
    expect(tree.children.map(shape)).toEqual([
      { step: [{ mlp: ['a', 'b'] }, { attention: ['c'] }] },
      { 'temporaries of no scope': ['d'] }
    ]);
  });

  it('is gone into by a path, past scopes that tell nothing apart', () => {
    expect(at(tree, ['step', 'mlp']).children.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(at(tree, ['gone']).path).toEqual([]);
    const single = scopeTree(buffers(['a', 'jit(f)/main/x', 1], ['b', 'jit(f)/main/y', 1]));
    expect(branching(single).path).toEqual(['jit(f)', 'main']);
  });

  it('keeps the bytes of buffers too small to show, and of those that were not saved', () => {
    const many = buffers(
      ...Array.from(
        { length: MOST_TILES + 50 },
        (_, n) => [`b${n}`, n % 2 ? 'odd/x' : 'even', n + 1] as const
      )
    );
    const { leaves } = tiles(scopeTree(many, 77), 3);
    const total = ((MOST_TILES + 50) * (MOST_TILES + 51)) / 2;
    expect(sum(leaves.map(({ bytes }) => bytes))).toBe(total + 77);
    expect(leaves.filter(({ node }) => node.buffer === null)).toHaveLength(3);
  });
});

describe('the tiles', () => {
  it.each([0.5, 1, 3.2])(
    'have areas in proportion to bytes, fill the picture and never overlap, at aspect %f',
    (aspect) => {
      const given = buffers(
        ...Array.from({ length: 40 }, (_, n) => [`b${n}`, `s${n % 5}/t${n % 3}`, 2 ** (n % 11) + n] as const)
      );
      const { leaves, groups } = tiles(scopeTree(given), aspect);
      const total = sum(given.map(({ bytes }) => bytes));
      expect(leaves).toHaveLength(40);
      expect(sum(leaves.map(area))).toBeCloseTo(1, 12);
      expect(sum(groups.map(area))).toBeCloseTo(1, 12);
      for (const tile of leaves) {
        expect(area(tile)).toBeCloseTo(tile.bytes / total, 12);
      }
      for (const [number, a] of leaves.entries()) {
        for (const b of leaves.slice(number + 1)) {
          const across = Math.min(a.left + a.width, b.left + b.width) - Math.max(a.left, b.left);
          const down = Math.min(a.top + a.height, b.top + b.height) - Math.max(a.top, b.top);
          expect(across < 1e-9 || down < 1e-9, `${a.node.name} and ${b.node.name}`).toBe(true);
        }
      }
    }
  );

  it('are those of the paper on squarified treemaps', () => {
    // Bruls, Huizing, van Wijk (2000): 6, 6, 4, 3, 2, 2, 1 in a rectangle of 6 by 4.
    const given = buffers(...[6, 6, 4, 3, 2, 2, 1].map((size, n) => [`b${n}`, 's', size] as const));
    const { leaves } = tiles(branching(scopeTree(given)), 6 / 4);
    const sizes = leaves.map(({ width, height }) => [
      Math.round(width * 6 * 1e6) / 1e6,
      Math.round(height * 4 * 1e6) / 1e6
    ]);
    expect(sizes.slice(0, 2)).toEqual([
      [3, 2],
      [3, 2]
    ]);
    expect(sizes.slice(2, 4)).toEqual([
      [1.714286, 2.333333],
      [1.285714, 2.333333]
    ]);
  });

  it('are none for an empty tree', () => {
    expect(tiles(scopeTree([]), 2)).toEqual({ leaves: [], groups: [] });
  });
});
