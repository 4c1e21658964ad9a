/**
 * Layers for a graph: operands above, users below. dagre orders the layers and routes the edges.
 *
 * dagre is given the layers, since its own search for them takes seconds where edges are long; and edges over many
 * layers, which it would split into as many parts, are drawn past it. So the time is bounded by the number of nodes.
 */
import { layout as dagre, Graph } from '@dagrejs/dagre';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Size {
  readonly id: string;
  readonly width: number;
  readonly height: number;
}

export interface Link {
  readonly from: string;
  readonly to: string;
}

export interface Layers {
  /** Upper left corners, by id. */
  readonly corners: ReadonlyMap<string, Point>;
  /** Where each link runs, in their order. */
  readonly routes: readonly (readonly Point[])[];
  readonly width: number;
  readonly height: number;
}

const LONGEST_SPAN = 4;
const BETWEEN_PX = 16;
const LAYER_GAP_PX = 44;

/** Place nodes so that none overlap and every link leads downward. */
export function layered(nodes: readonly Size[], links: readonly Link[]): Layers {
  const rank = ranks(
    nodes.map(({ id }) => id),
    links
  );
  const graph = new Graph({ multigraph: true });
  graph.setGraph({
    rankdir: 'TB',
    nodesep: BETWEEN_PX,
    // dagre halves it, for the layers of edge labels that it puts between.
    ranksep: 2 * LAYER_GAP_PX,
    ranker: (layers: Graph) => {
      for (const id of layers.nodes()) {
        layers.node(id).rank = 2 * (rank.get(id) ?? -1);
      }
    }
  });
  for (const { id, width, height } of nodes) {
    graph.setNode(id, { width, height });
  }
  const isRouted = links.map(({ from, to }) => {
    const span = (rank.get(to) ?? 0) - (rank.get(from) ?? 0);
    return span > 0 && span <= LONGEST_SPAN;
  });
  links.forEach(({ from, to }, number) => {
    if (isRouted[number]) {
      graph.setEdge(from, to, {}, String(number));
    }
  });
  dagre(graph);
  const corners = new Map<string, Point>();
  for (const { id, width, height } of nodes) {
    const { x = 0, y = 0 } = graph.node(id);
    corners.set(id, { x: x - width / 2, y: y - height / 2 });
  }
  const sizes = new Map(nodes.map((node) => [node.id, node]));
  const routes = links.map(({ from, to }, number) =>
    isRouted[number]
      ? ((graph.edge(from, to, String(number)).points ?? []) as Point[])
      : straight(from, to, corners, sizes)
  );
  const { width = 0, height = 0 } = graph.graph();
  return { corners, routes, width, height };
}

/** The layer of each node: below all it reads, and what reads nothing right above its first reader. */
export function ranks(ids: readonly string[], links: readonly Link[]): Map<string, number> {
  const below = new Map<string, string[]>(ids.map((id) => [id, []]));
  const waiting = new Map<string, number>(ids.map((id) => [id, 0]));
  for (const { from, to } of links) {
    below.get(from)?.push(to);
    waiting.set(to, (waiting.get(to) ?? 0) + 1);
  }
  const sources = ids.filter((id) => waiting.get(id) === 0);
  const rank = new Map<string, number>(ids.map((id) => [id, 0]));
  // A graph of operands has no cycle; of a damaged one, what is in a cycle stays in the first layer.
  const ready = [...sources];
  for (let next = ready.shift(); next !== undefined; next = ready.shift()) {
    for (const reader of below.get(next) ?? []) {
      rank.set(reader, Math.max(rank.get(reader) ?? 0, (rank.get(next) ?? 0) + 1));
      const left = (waiting.get(reader) ?? 0) - 1;
      waiting.set(reader, left);
      if (left === 0) {
        ready.push(reader);
      }
    }
  }
  for (const source of sources) {
    const readers = (below.get(source) ?? []).map((id) => rank.get(id) ?? 0);
    rank.set(source, readers.length > 0 ? Math.max(0, Math.min(...readers) - 1) : 0);
  }
  return rank;
}

function straight(
  from: string,
  to: string,
  corners: ReadonlyMap<string, Point>,
  sizes: ReadonlyMap<string, Size>
): Point[] {
  const edge = (id: string, isBottom: boolean) => {
    const { x = 0, y = 0 } = corners.get(id) ?? {};
    const { width = 0, height = 0 } = sizes.get(id) ?? {};
    return { x: x + width / 2, y: isBottom ? y + height : y };
  };
  return [edge(from, true), edge(to, false)];
}
