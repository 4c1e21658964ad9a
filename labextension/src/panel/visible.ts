/** Which of many rows are in sight, so that only those are drawn. */

/** Where rows begin, and after them where the last one ends. */
export function offsetsOf(heights: readonly number[]): number[] {
  const offsets = [0];
  for (const height of heights) {
    offsets.push((offsets.at(-1) ?? 0) + height);
  }
  return offsets;
}

/** The index of the row at a height, the nearest one outside of them. */
export function rowAt(offsets: readonly number[], y: number): number {
  let [low, high] = [0, offsets.length - 2];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((offsets[middle] ?? 0) <= y) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return Math.max(0, low);
}

/** The rows from a height on, with some more on both sides: first, and one after the last. */
export function inSight(
  offsets: readonly number[],
  top: number,
  height: number,
  more: number
): [number, number] {
  const count = offsets.length - 1;
  if (count === 0) {
    return [0, 0];
  }
  return [Math.max(0, rowAt(offsets, top) - more), Math.min(count, rowAt(offsets, top + height) + 1 + more)];
}
