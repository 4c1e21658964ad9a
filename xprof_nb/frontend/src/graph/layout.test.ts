import { describe, expect, it } from 'vitest';
import { type Link, layered, ranks, type Size } from './layout';

function size(id: string, width = 200, height = 50): Size {
  return { id, width, height };
}

/** A made-up program: each op reads the one before and one from further back. */
function chain(count: number): { nodes: Size[]; links: Link[] } {
  const nodes = Array.from({ length: count }, (_, number) =>
    size(`n${number}`, 120 + (number % 5) * 40, 40 + (number % 3) * 60)
  );
  const links = nodes.slice(1).flatMap(({ id }, number) => [
    { from: `n${number}`, to: id },
    { from: `n${(number * 7) % (number + 1)}`, to: id }
  ]);
  return { nodes, links: [...new Map(links.map((link) => [`${link.from} ${link.to}`, link])).values()] };
}

describe('the layers of a graph', () => {
  it.each([1, 2, 10, 60, 200])('of %i nodes never overlap, and every link leads downward', (count) => {
    const { nodes, links } = chain(count);
    const { corners, routes, width, height } = layered(nodes, links);
    const boxes = nodes.map((node) => ({
      ...node,
      ...(corners.get(node.id) ?? { x: Number.NaN, y: Number.NaN })
    }));
    for (const [number, a] of boxes.entries()) {
      expect(
        a.x >= -0.5 && a.y >= -0.5 && a.x + a.width <= width + 0.5 && a.y + a.height <= height + 0.5
      ).toBe(true);
      for (const b of boxes.slice(number + 1)) {
        const apart =
          a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
        expect(apart, `${a.id} and ${b.id}`).toBe(true);
      }
    }
    const byId = new Map(boxes.map((box) => [box.id, box]));
    links.forEach(({ from, to }, number) => {
      const [above, below] = [byId.get(from), byId.get(to)];
      expect((above?.y ?? 0) + (above?.height ?? 0)).toBeLessThanOrEqual(below?.y ?? 0);
      expect(routes[number]?.length).toBeGreaterThanOrEqual(2);
    });
  });

  it('keep what reads nothing right above its first reader', () => {
    const links = [
      { from: 'p', to: 'a' },
      { from: 'a', to: 'b' },
      { from: 'b', to: 'c' },
      { from: 'late', to: 'c' }
    ];
    expect(Object.fromEntries(ranks(['p', 'a', 'b', 'c', 'late', 'alone'], links))).toEqual({
      p: 0,
      a: 1,
      b: 2,
      c: 3,
      late: 2,
      alone: 0
    });
  });

  it('are found for a damaged graph with a cycle too', () => {
    const links = [
      { from: 'a', to: 'b' },
      { from: 'b', to: 'a' },
      { from: 'b', to: 'c' }
    ];
    expect(
      layered(
        ['a', 'b', 'c'].map((id) => size(id)),
        links
      ).corners.size
    ).toBe(3);
  });
});
