/** Which rows the table shows, in which order: a pure function of the tree and what the person chose. */
import {
  isExpandable,
  LABELS,
  type Label,
  type Measure,
  missingChildren,
  type OpNode,
  type OpTree
} from './tree';

export interface Sort {
  readonly by: Measure | Label;
  readonly descending: boolean;
}

export interface Choice {
  readonly sort: Sort;
  /** Which rows are wanted, with those around them; null for all. */
  readonly matching: Matching | null;
  readonly expanded: ReadonlySet<string>;
}

/** Whether a row is one of those wanted. */
export type Matching = (node: OpNode) => boolean;

interface Place {
  readonly level: number;
  /** 1-based place among its siblings, and how many there are. */
  readonly position: number;
  readonly setSize: number;
}

export interface NodeRow extends Place {
  readonly type: 'node';
  readonly id: string;
  readonly node: OpNode;
  /** null when there is nothing to expand. */
  readonly expanded: boolean | null;
}

/** Stands for children that the snapshot does not hold. */
export interface MoreRow extends Place {
  readonly type: 'more';
  readonly id: string;
  readonly parent: OpNode;
  readonly missing: number;
}

export type Row = NodeRow | MoreRow;

const SEARCHED: readonly Label[] = ['name', 'op', 'category', 'framework_op', 'source'];
const NAME_ONLY: readonly Label[] = ['name'];

/** The rows on show, top to bottom. */
export function visibleRows(tree: OpTree, choice: Choice): Row[] {
  const kept = choice.matching === null ? null : matchesAndAncestors(tree, choice.matching);
  const rows: Row[] = [];
  const top = tree.top.filter((node) => kept === null || kept.has(node.key));
  sorted(top, choice.sort).forEach((node, index) => {
    appendNode(node, { level: 1, position: index + 1, setSize: top.length }, choice, kept, rows);
  });
  return rows;
}

/** The rows that have every word of a filter; null when there is none. */
export function matchingOf(filter: string): Matching | null {
  const terms = searchTerms(filter);
  return terms.length === 0 ? null : (node) => matches(node, terms);
}

/** The words of a filter, all of which must be found. */
export function searchTerms(filter: string): string[] {
  return filter.toLowerCase().split(/\s+/).filter(Boolean);
}

/** Whether every word is found in a row; of a fused instruction only in its name, the rest it shares with its fusion. */
export function matches(node: OpNode, terms: readonly string[]): boolean {
  const searched = node.kind === 'fused' ? NAME_ONLY : SEARCHED;
  const haystack = searched
    .map((name) => node.labels[name] ?? '')
    .join('\n')
    .toLowerCase();
  return terms.every((term) => haystack.includes(term));
}

/** How many ops the filter leaves, of those loaded; an op in two places counts once a program. */
export function countOps(tree: OpTree, filter: string): number {
  const terms = searchTerms(filter);
  const found = new Set<string>();
  for (const node of tree.nodes()) {
    if (node.kind === 'op' && matches(node, terms)) {
      found.add(`${node.labels.program_id}/${node.labels.op ?? node.labels.name}`);
    }
  }
  return found.size;
}

/** The rows open at first: the way to the most expensive leaves, one branch deep. */
export function firstExpanded(tree: OpTree): Set<string> {
  const expanded = new Set<string>();
  let level: readonly OpNode[] = tree.top;
  while (level.length > 0) {
    const largest = level.reduce((a, b) => (time(b) > time(a) ? b : a));
    if (largest.children.length === 0 || largest.kind === 'op') {
      break;
    }
    expanded.add(largest.key);
    level = largest.children;
  }
  return expanded;
}

/** The keys of the nodes above one. */
export function ancestors(node: OpNode): string[] {
  return node.parent === null ? [] : [node.parent.key, ...ancestors(node.parent)];
}

function time(node: OpNode): number {
  return isAside(node) ? -1 : node.measures.time_ps;
}

/** Idle time, and time of hosts: no part of what devices spent on ops. */
function isAside({ kind }: OpNode): boolean {
  return kind === 'idle' || kind === 'host';
}

function matchesAndAncestors(tree: OpTree, matching: Matching): Set<string> {
  const kept = new Set<string>();
  for (const node of tree.nodes()) {
    if (node.kind !== 'root' && matching(node)) {
      kept.add(node.key);
      for (const key of ancestors(node)) {
        kept.add(key);
      }
    }
  }
  return kept;
}

/** Append a row and, when it is open, those inside it. */
function appendNode(
  node: OpNode,
  place: Place,
  choice: Choice,
  kept: ReadonlySet<string> | null,
  rows: Row[]
): void {
  const matching = kept === null ? [] : node.children.filter((child) => kept.has(child.key));
  const canOpen = isExpandable(node);
  const open = canOpen && (choice.expanded.has(node.key) || matching.length > 0);
  rows.push({ type: 'node', id: node.key, node, expanded: canOpen ? open : null, ...place });
  if (!open) {
    return;
  }
  // Below a match that has no matching rows of its own, everything is kept: the person looks inside it.
  const children = matching.length > 0 ? matching : node.children;
  const missing = matching.length > 0 ? 0 : missingChildren(node);
  const level = place.level + 1;
  const setSize = children.length + (missing > 0 ? 1 : 0);
  sorted(children, choice.sort).forEach((child, index) => {
    appendNode(child, { level, position: index + 1, setSize }, choice, kept, rows);
  });
  if (missing > 0) {
    rows.push({
      type: 'more',
      id: `more:${node.key}`,
      parent: node,
      missing,
      level,
      position: setSize,
      setSize
    });
  }
}

/** Siblings in order; missing values, idle time and what hosts did come last whichever way. */
function sorted(nodes: readonly OpNode[], sort: Sort): OpNode[] {
  const direction = sort.descending ? -1 : 1;
  return [...nodes].sort((a, b) => {
    const aside = Number(isAside(a)) - Number(isAside(b));
    return aside || compare(a, b, sort.by, direction) || b.measures.time_ps - a.measures.time_ps;
  });
}

function compare(a: OpNode, b: OpNode, by: Measure | Label, direction: number): number {
  if (isLabel(by)) {
    const [left, right] = [a.labels[by], b.labels[by]];
    return (
      missingLast(left === null, right === null) ?? direction * collator.compare(left ?? '', right ?? '')
    );
  }
  const [left, right] = [a.measures[by], b.measures[by]];
  return missingLast(Number.isNaN(left), Number.isNaN(right)) ?? direction * (left - right);
}

function missingLast(left: boolean, right: boolean): number | null {
  return left || right ? Number(left) - Number(right) : null;
}

function isLabel(by: Measure | Label): by is Label {
  return (LABELS as readonly string[]).includes(by);
}

// fusion.9 before fusion.12
const collator = new Intl.Collator('en', { numeric: true });
