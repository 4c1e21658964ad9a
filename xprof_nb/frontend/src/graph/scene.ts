/** Where everything of a graph is drawn: ops as boxes, open fusions as boxes around theirs, and lines between. */
import { type Layers, layered, type Point } from './layout';
import { bodies, type Edge, type Neighbourhood, type Op } from './model';

export interface Box {
  readonly op: Op;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Whether what is fused into it is drawn inside. */
  readonly isOpen: boolean;
  /** How many ops are fused into it, as far as they are known. */
  readonly inner: number;
}

/** All that one op reads of another. */
export interface Line {
  readonly edges: readonly Edge[];
  readonly points: readonly Point[];
}

export interface Scene {
  /** Boxes before what is inside them. */
  readonly boxes: readonly Box[];
  readonly lines: readonly Line[];
  readonly width: number;
  readonly height: number;
  /** How many ops were left out because more cannot be read. */
  readonly leftOut: number;
}

export const OP_WIDTH = 208;
export const OP_HEIGHT = 52;
export const HEAD_HEIGHT = 24;
const PADDING = 12;
export const MOST_DRAWN = 250;

/** Place a neighbourhood, the fusions in `open` with what is inside them; nearest first if there is too much. */
export function arrange(
  all: Neighbourhood,
  open: ReadonlySet<string>,
  radius = Number.POSITIVE_INFINITY
): Scene {
  const inside = bodies(all);
  const near = [...all.ops.values()].filter(
    ({ distance, inside: fusion }) => fusion === null && distance <= radius
  );
  const drawn = near.slice(0, MOST_DRAWN);
  const scene = place(drawn, all, inside, open, MOST_DRAWN - drawn.length);
  return { ...scene, leftOut: near.length - drawn.length };
}

function place(
  ops: readonly Op[],
  all: Neighbourhood,
  inside: ReadonlyMap<string, readonly Op[]>,
  open: ReadonlySet<string>,
  room: number
): Scene {
  let left = room;
  const inner = new Map<string, Scene>();
  for (const { name } of ops) {
    const body = open.has(name) ? inside.get(name) : undefined;
    if (body !== undefined && body.length <= left) {
      left -= body.length;
      inner.set(name, place(body, all, inside, open, 0));
    }
  }
  const lines = joined(
    all.edges,
    ops.map(({ name }) => name)
  );
  const layers = layered(
    ops.map(({ name }) => ({ id: name, ...sizeOf(inner.get(name)) })),
    lines.map(([edge]) => edge)
  );
  return assemble(ops, lines, layers, inner, inside);
}

function assemble(
  ops: readonly Op[],
  lines: readonly (readonly [Edge, ...Edge[]])[],
  layers: Layers,
  inner: ReadonlyMap<string, Scene>,
  inside: ReadonlyMap<string, readonly Op[]>
): Scene {
  const found: { boxes: Box[]; lines: Line[] } = { boxes: [], lines: [] };
  for (const op of ops) {
    const { x, y } = layers.corners.get(op.name) ?? { x: 0, y: 0 };
    const scene = inner.get(op.name);
    found.boxes.push({
      op,
      x,
      y,
      ...sizeOf(scene),
      isOpen: scene !== undefined,
      inner: inside.get(op.name)?.length ?? 0
    });
    if (scene !== undefined) {
      const by = { x: x + PADDING, y: y + HEAD_HEIGHT + PADDING };
      found.boxes.push(...scene.boxes.map((box) => ({ ...box, x: box.x + by.x, y: box.y + by.y })));
      found.lines.push(
        ...scene.lines.map(({ edges, points }) => ({
          edges,
          points: points.map((point) => ({ x: point.x + by.x, y: point.y + by.y }))
        }))
      );
    }
  }
  lines.forEach((edges, number) => {
    found.lines.push({ edges, points: layers.routes[number] ?? [] });
  });
  return { ...found, width: layers.width, height: layers.height, leftOut: 0 };
}

function sizeOf(scene: Scene | undefined): { width: number; height: number } {
  return scene === undefined
    ? { width: OP_WIDTH, height: OP_HEIGHT }
    : {
        width: Math.max(OP_WIDTH, scene.width + 2 * PADDING),
        height: scene.height + 2 * PADDING + HEAD_HEIGHT
      };
}

/** The edges between some ops, those of one pair together. */
function joined(edges: readonly Edge[], names: readonly string[]): (readonly [Edge, ...Edge[]])[] {
  const known = new Set(names);
  const pairs = new Map<string, [Edge, ...Edge[]]>();
  for (const edge of edges) {
    if (known.has(edge.from) && known.has(edge.to) && edge.from !== edge.to) {
      const key = JSON.stringify([edge.from, edge.to]);
      const pair = pairs.get(key);
      if (pair === undefined) {
        pairs.set(key, [edge]);
      } else {
        pair.push(edge);
      }
    }
  }
  return [...pairs.values()];
}
