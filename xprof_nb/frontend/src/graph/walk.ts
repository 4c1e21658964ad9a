/** Where arrow keys lead in a scene: up to what an op reads, down to who reads it, sideways in its layer. */
import { middleOf } from './draw';
import type { Box, Scene } from './scene';

export type Direction = 'up' | 'down' | 'left' | 'right';

/** The op an arrow key leads to; null when there is none. */
export function neighbourOf(scene: Scene, name: string, direction: Direction): string | null {
  const from = scene.boxes.find(({ op }) => op.name === name);
  if (from === undefined) {
    return scene.boxes[0]?.op.name ?? null;
  }
  const joined = new Set(
    scene.lines.flatMap(({ edges }) => edges.flatMap((edge) => linked(edge, name, direction)))
  );
  const isSideways = direction === 'left' || direction === 'right';
  const candidates = scene.boxes.filter((box) =>
    isSideways ? isBeside(from, box, direction) : joined.has(box.op.name)
  );
  return nearest(from, candidates)?.op.name ?? null;
}

function linked(edge: { from: string; to: string }, name: string, direction: Direction): string[] {
  if (direction === 'up') {
    return edge.to === name ? [edge.from] : [];
  }
  return edge.from === name ? [edge.to] : [];
}

function isBeside(from: Box, box: Box, direction: Direction): boolean {
  const [a, b] = [middleOf(from), middleOf(box)];
  const overlaps = box.y < from.y + from.height && from.y < box.y + box.height;
  return box !== from && overlaps && (direction === 'right' ? b.x > a.x : b.x < a.x);
}

function nearest(from: Box, boxes: readonly Box[]): Box | undefined {
  const a = middleOf(from);
  const away = (box: Box) => Math.hypot(middleOf(box).x - a.x, middleOf(box).y - a.y);
  return [...boxes].sort((one, other) => away(one) - away(other))[0];
}
