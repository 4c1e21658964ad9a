/** The table as text: what is copied into a spreadsheet or saved as a file. */
import { type Cells, toCsv as csvOf, toTsv as tsvOf } from '../shell/delimited';
import { ancestors } from '../tree/rows';
import { LABELS, MEASURES, type OpNode, type OpTree } from '../tree/tree';

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
    ...LABELS.map((name) => node.labels[name] ?? ''),
    ...MEASURES.map((name) => node.measures[name])
  ]);
  return [['depth', 'kind', ...LABELS, ...MEASURES], ...rows];
}

function* preorder(nodes: readonly OpNode[]): Iterable<OpNode> {
  for (const node of nodes) {
    yield node;
    yield* preorder(node.children);
  }
}
