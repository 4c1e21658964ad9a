/** The op profile as a tree: rows of the wire table joined to their parents, and grown when more is loaded. */
import { type Columns, numberAt, stringAt } from '../columns';
import { isSame } from '../shell/choice';
import type { Choice } from '../shell/link';

export const MEASURES = [
  'occurrences',
  'time_ps',
  'self_time_ps',
  'time_fraction',
  'flops',
  'flops_per_s',
  'flops_utilization',
  'bytes_accessed',
  'bytes_per_s',
  'hbm_bytes_per_s',
  'hbm_utilization',
  'wasted_fraction',
  'time_per_step_ps',
  'step_fraction',
  'device_min_time_ps',
  'device_mean_time_ps',
  'device_max_time_ps',
  'device_imbalance_fraction',
  'forward_time_ps',
  'backward_time_ps',
  'rematted_time_ps',
  'hlo_op_count'
] as const;
export const LABELS = [
  'name',
  'work_kind',
  'program',
  'program_id',
  'op',
  'category',
  'framework_op',
  'source',
  'bound_by',
  'slowest_device',
  'on',
  'type'
] as const;

export type Measure = (typeof MEASURES)[number];
export type Label = (typeof LABELS)[number];

export interface OpNode {
  /** Stable name of the node, the same in every answer about the profile. */
  readonly key: string;
  readonly kind: string;
  readonly measures: Record<Measure, number>;
  readonly labels: Record<Label, string | null>;
  readonly parent: OpNode | null;
  readonly children: OpNode[];
  /** How many children the profile has, loaded or not. */
  readonly childrenTotal: number;
}

export class OpTree {
  /** The rows at the outermost level: the one that stands for the whole profile. */
  readonly top: OpNode[] = [];
  private readonly _byKey = new Map<string, OpNode>();
  private readonly _spread = new Map<string, Spread>();

  constructor(table: Columns) {
    this.merge(table);
  }

  get size(): number {
    return this._byKey.size;
  }

  get(key: string): OpNode | undefined {
    return this._byKey.get(key);
  }

  nodes(): Iterable<OpNode> {
    return this._byKey.values();
  }

  /** The op that was chosen, if it is here. */
  chosen(choice: Choice): OpNode | undefined {
    return [...this._byKey.values()].find((node) => node.kind === 'op' && isSame(choiceOf(node), choice));
  }

  /** Take what `op_spread` says of nodes, those that come later too. */
  spread(table: Columns): void {
    for (let row = 0; row < table.rows; row++) {
      const key = stringAt(table, 'key', row) ?? '';
      const measures = SPREAD.map((name) => [name, numberAt(table, name, row)] as const);
      const spread = { measures, slowest: stringAt(table, 'slowest_device', row) };
      this._spread.set(key, spread);
      const node = this._byKey.get(key);
      if (node !== undefined) {
        takeSpread(node, spread);
      }
    }
  }

  /** Whether any row has a value of a measure. */
  knows(measure: Measure): boolean {
    return [...this._byKey.values()].some(({ measures }) => !Number.isNaN(measures[measure]));
  }

  /**
   * Add the rows of another answer that are not here yet, and return how many there were.
   *
   * Node numbers are those of one answer, so rows are joined by key. A row whose parent is not in
   * the answer belongs below `under`.
   */
  merge(table: Columns, under?: OpNode): number {
    const byNumber = new Map<number, OpNode>();
    let added = 0;
    for (let row = 0; row < table.rows; row++) {
      const key = stringAt(table, 'key', row) ?? `#${row}`;
      let node = this._byKey.get(key);
      if (node === undefined) {
        node = this._add(table, row, key, byNumber.get(numberAt(table, 'parent', row)) ?? under ?? null);
        added += 1;
      }
      byNumber.set(numberAt(table, 'node', row), node);
    }
    return added;
  }

  private _add(table: Columns, row: number, key: string, parent: OpNode | null): OpNode {
    const node: OpNode = {
      key,
      kind: stringAt(table, 'kind', row) ?? '',
      measures: measuresAt(table, row),
      labels: Object.fromEntries(
        LABELS.map((name) => [name, stringAt(table, name, row)])
      ) as OpNode['labels'],
      parent,
      children: [],
      childrenTotal: numberAt(table, 'children_total', row)
    };
    const spread = this._spread.get(key);
    if (spread !== undefined) {
      takeSpread(node, spread);
    }
    this._byKey.set(key, node);
    (parent?.children ?? this.top).push(node);
    return node;
  }
}

/** What choosing a row chooses in all views of the run. */
export function choiceOf({ kind, labels: { op, program_id, framework_op } }: OpNode): Choice {
  if (kind !== 'op') {
    return {};
  }
  return {
    ...(op === null ? {} : { op }),
    ...(program_id === null ? {} : { program_id }),
    ...(framework_op === null ? {} : { framework_op })
  };
}

interface Spread {
  readonly measures: readonly (readonly [Measure, number])[];
  readonly slowest: string | null;
}

const SPREAD = MEASURES.slice(
  MEASURES.indexOf('time_per_step_ps'),
  MEASURES.indexOf('device_imbalance_fraction') + 1
);

function takeSpread(node: OpNode, { measures, slowest }: Spread): void {
  for (const [name, value] of measures) {
    node.measures[name] = value;
  }
  node.labels.slowest_device = slowest;
}

function measuresAt(table: Columns, row: number): OpNode['measures'] {
  const measures = Object.fromEntries(MEASURES.map((name) => [name, numberAt(table, name, row)])) as Record<
    Measure,
    number
  >;
  // Where memories are not told apart, all traffic counts as that of main memory.
  if (!table.numbers.has('hbm_bytes_per_s')) {
    measures.hbm_bytes_per_s = measures.bytes_per_s;
  }
  return measures;
}

/** How many children a node has in the profile beyond those loaded. */
export function missingChildren(node: OpNode): number {
  return Math.max(0, (node.childrenTotal || 0) - node.children.length);
}

export function isExpandable(node: OpNode): boolean {
  return node.children.length > 0 || missingChildren(node) > 0;
}
