/** The table as text: what is copied into a spreadsheet or saved as a file. */
import { ancestors } from './rows';
import { LABELS, MEASURES, type OpNode, type OpTree } from './tree';

const DEPTH = 'depth';

/** Tab-separated rows for pasting. */
export function toTsv(tree: OpTree): string {
  return lines(tree, '\t', (value) => guarded(value).replace(/[\t\r\n]+/g, ' '));
}

/** Comma-separated rows, RFC 4180. */
export function toCsv(tree: OpTree): string {
  return lines(tree, ',', (value) => {
    const safe = guarded(value);
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  });
}

function lines(tree: OpTree, separator: string, quote: (text: string) => string): string {
  const head = [DEPTH, 'kind', ...LABELS, ...MEASURES].join(separator);
  const rows = [...preorder(tree.top)].map((node) =>
    [
      String(ancestors(node).length),
      quote(node.kind),
      ...LABELS.map((name) => quote(node.labels[name] ?? '')),
      ...MEASURES.map((name) => (Number.isNaN(node.measures[name]) ? '' : String(node.measures[name])))
    ].join(separator)
  );
  return `${[head, ...rows].join('\r\n')}\r\n`;
}

function* preorder(nodes: readonly OpNode[]): Iterable<OpNode> {
  for (const node of nodes) {
    yield node;
    yield* preorder(node.children);
  }
}

// A spreadsheet would run a cell that begins like this as a formula.
function guarded(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}
