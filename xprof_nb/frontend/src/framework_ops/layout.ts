/** Where the boxes of the flame are: a pure function of the tree and what is shown of it. */
import type { Measure, OpNode } from '../tree/tree';

/** A pass of a gradient: forward, backward, or neither. */
export type Pass = 'forward' | 'backward' | 'neither';
export const PASSES: readonly Pass[] = ['forward', 'backward', 'neither'];

export interface Box {
  /** Unique among the boxes. */
  readonly id: string;
  readonly node: OpNode;
  /** Of a picture split by pass. */
  readonly pass: Pass | null;
  /** What it is called: the name of its node, or the pass. */
  readonly name: string;
  readonly depth: number;
  /** Of the width of the picture, 0 to 1. */
  readonly start: number;
  readonly width: number;
  readonly time_ps: number;
}

export interface Shown {
  readonly isSplit: boolean;
  /** The id of the box that takes the whole width; the outermost one when it is not there. */
  readonly zoomed: string;
  /** The least width of a box, of that of the picture. */
  readonly leastWidth: number;
}

/** The boxes of a tree, those around the zoomed one first. */
export function boxes(top: OpNode, { isSplit, zoomed, leastWidth }: Shown): Box[] {
  const all: Box[] = [];
  const outermost = box(top, null, 0, 0, 1);
  place(outermost, isSplit);
  const target = all.find(({ id }) => id === zoomed) ?? outermost;
  const scale = 1 / target.width;
  return all
    .map((each) => ({ ...each, start: (each.start - target.start) * scale, width: each.width * scale }))
    .filter(({ start, width }) => start < 1 - 1e-9 && start + width > 1e-9 && width >= leastWidth)
    .map((each) => {
      const start = Math.max(0, each.start);
      return { ...each, start, width: Math.min(1, each.start + each.width) - start };
    });

  function place(parent: Box, isByPass: boolean): void {
    all.push(parent);
    let at = parent.start;
    const inside = isByPass
      ? PASSES.map((pass) => ({ node: parent.node, pass }))
      : parent.node.children.map((node) => ({ node, pass: parent.pass }));
    for (const { node, pass } of inside) {
      const spent = timeIn(node, pass);
      const width = parent.time_ps > 0 ? (parent.width * spent) / parent.time_ps : 0;
      if (width > 0) {
        place(
          { ...box(node, pass, parent.depth + 1, at, width), ...(isByPass ? { name: pass ?? '' } : {}) },
          false
        );
        at += width;
      }
    }
  }
}

function box(node: OpNode, pass: Pass | null, depth: number, start: number, width: number): Box {
  const id = pass === null ? node.key : `${pass}:${node.key}`;
  return { id, node, pass, name: node.labels.name ?? '', depth, start, width, time_ps: timeIn(node, pass) };
}

/** The time of a node in a pass, or all of it. */
export function timeIn({ measures }: OpNode, pass: Pass | null): number {
  const known = (name: Measure) => (Number.isNaN(measures[name]) ? 0 : measures[name]);
  const all = known('self_time_ps');
  switch (pass) {
    case null:
      return all;
    case 'forward':
      return known('forward_time_ps');
    case 'backward':
      return known('backward_time_ps');
    case 'neither':
      return Math.max(0, all - known('forward_time_ps') - known('backward_time_ps'));
  }
}
