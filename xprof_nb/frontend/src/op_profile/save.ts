/** The table as text: what is copied into a spreadsheet or saved as a file. */
import { type Cells, toCsv as csvOf, toTsv as tsvOf } from '../shell/delimited';
import { ancestors } from '../tree/rows';
import { LABELS, MEASURES, type OpNode, type OpTree } from '../tree/tree';

// The others are those of framework ops.
const LABELS_HERE = LABELS.filter((name) => !['on', 'type'].includes(name));
const MEASURES_HERE = MEASURES.slice(0, MEASURES.indexOf('forward_time_ps'));

/** Tab-separated rows for pasting. */
export function toTsv(tree: OpTree): string {
  return tsvOf(cells(tree));
}

/** Comma-separated rows, RFC 4180. */
export function toCsv(tree: OpTree): string {
  return csvOf(cells(tree));
}

function cells(tree: OpTree): Cells[] {
  const rows = [...preorder(tree.top)].map((node) => [
    ancestors(node).length,
    node.kind,
    ...LABELS_HERE.map((name) => node.labels[name] ?? ''),
    ...MEASURES_HERE.map((name) => node.measures[name])
  ]);
  return [['depth', 'kind', ...LABELS_HERE, ...MEASURES_HERE], ...rows];
}

function* preorder(nodes: readonly OpNode[]): Iterable<OpNode> {
  for (const node of nodes) {
    yield node;
    yield* preorder(node.children);
  }
}
