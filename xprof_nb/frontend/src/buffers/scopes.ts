/** What is live at the peak as a tree of the model's scopes, and as rectangles whose areas are its bytes. */
import { type HierarchyRectangularNode, hierarchy, treemap } from 'd3-hierarchy';
import type { Buffer } from './rows';

export interface Node {
  readonly name: string;
  /** Names from the root to it. */
  readonly path: readonly string[];
  /** Null for a scope, and for what stands for many small buffers. */
  readonly buffer: Buffer | null;
  /** Of a leaf. */
  readonly bytes: number;
  readonly children: readonly Node[];
}

/** A part of a picture that is 1 wide and 1 high. */
export interface Tile {
  readonly node: Node;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly bytes: number;
}

export const MOST_TILES = 300;
const WITHOUT_SCOPE: Record<string, string> = {
  parameter: 'parameters',
  output: 'outputs',
  constant: 'constants',
  temporary: 'temporaries of no scope'
};

interface Growing {
  name: string;
  path: readonly string[];
  buffer: Buffer | null;
  bytes: number;
  children: Growing[];
}

/** The scope a buffer belongs to; what the compiler made by itself, and arguments, are together by what they are for. */
export function scopeOf({ scope, kind }: Buffer): readonly string[] {
  const path = scope.split('/').filter(Boolean);
  return path.length > 0 ? path : [WITHOUT_SCOPE[kind] ?? (kind || 'other')];
}

/**
 * The tree of some buffers: the largest by themselves, smaller ones together by their outermost scope.
 *
 * `rest_bytes` are bytes of the peak whose buffers are not known here.
 */
export function scopeTree(buffers: readonly Buffer[], rest_bytes = 0): Node {
  const root: Growing = { name: '', path: [], buffer: null, bytes: 0, children: [] };
  const sorted = [...buffers].filter((buffer) => buffer.bytes > 0).sort((a, b) => b.bytes - a.bytes);
  for (const buffer of sorted.slice(0, MOST_TILES)) {
    const home = descend(root, scopeOf(buffer));
    home.children.push(leaf(home, buffer.name, buffer.bytes, buffer));
  }
  const small = new Map<string, { bytes: number; count: number }>();
  for (const buffer of sorted.slice(MOST_TILES)) {
    const [scope = ''] = scopeOf(buffer);
    const sum = small.get(scope) ?? { bytes: 0, count: 0 };
    small.set(scope, { bytes: sum.bytes + buffer.bytes, count: sum.count + 1 });
  }
  for (const [scope, sum] of small) {
    const home = descend(root, [scope]);
    home.children.push(leaf(home, `${sum.count} smaller`, sum.bytes, null));
  }
  if (rest_bytes > 0) {
    root.children.push(leaf(root, 'smaller ones, not saved here', rest_bytes, null));
  }
  return root;
}

/** The scope at a path, or the deepest there is on it. */
export function at(root: Node, path: readonly string[]): Node {
  let found = root;
  for (const name of path) {
    const next = found.children.find((child) => child.name === name && child.children.length > 0);
    if (next === undefined) {
      return found;
    }
    found = next;
  }
  return found;
}

/** Down through scopes that have one part alone: they tell nothing apart. */
export function branching(node: Node): Node {
  const [only, second] = node.children;
  return only !== undefined && second === undefined && only.children.length > 0 ? branching(only) : node;
}

/** Rectangles, as square as can be, for the leaves of a tree and for the parts of its root. */
export function tiles(
  root: Node,
  aspect: number
): { readonly leaves: readonly Tile[]; readonly groups: readonly Tile[] } {
  const summed = hierarchy(root, ({ children }) => children)
    .sum(({ bytes, children }) => (children.length > 0 ? 0 : bytes))
    .sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
  const placed = treemap<Node>().size([aspect, 1])(summed);
  const tile = ({ data, x0, x1, y0, y1, value = 0 }: HierarchyRectangularNode<Node>): Tile => ({
    node: data,
    left: x0 / aspect,
    top: y0,
    width: (x1 - x0) / aspect,
    height: y1 - y0,
    bytes: value
  });
  return {
    leaves: placed
      .leaves()
      .filter(({ depth }) => depth > 0)
      .map(tile),
    groups: (placed.children ?? []).filter(({ children }) => children !== undefined).map(tile)
  };
}

function descend(root: Growing, path: readonly string[]): Growing {
  let home = root;
  for (const name of path) {
    const known = home.children.find(
      (child) => child.name === name && child.buffer === null && child.bytes === 0
    );
    const next = known ?? { name, path: [...home.path, name], buffer: null, bytes: 0, children: [] };
    if (known === undefined) {
      home.children.push(next);
    }
    home = next;
  }
  return home;
}

function leaf(home: Growing, name: string, bytes: number, buffer: Buffer | null): Growing {
  return { name, path: [...home.path, name], buffer, bytes, children: [] };
}
