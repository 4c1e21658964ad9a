/** The tree of scopes: the part of the view that stands where other views have a plain table. */

import { stringAt } from '../columns';
import { h } from '../dom';
import type { Answer, Summary } from '../host';
import { dispatchKey } from '../keys';
import { KINDS, kindOf } from '../kinds';
import { texts } from '../payload';
import type { AnswerFrame, TablePart } from '../shell/answer';
import { legend } from '../shell/legend';
import type { Choice } from '../shell/link';
import { attachTooltip } from '../shell/tooltip';
import { moveBindings } from '../tree/keyboard';
import { ancestors, firstExpanded, type Row, type Sort, visibleRows } from '../tree/rows';
import { keptTree, sortFrom } from '../tree/standing';
import { TreeTable } from '../tree/table';
import { choiceOf, LABELS, type OpNode, OpTree } from '../tree/tree';
import { explainHead, explainNode } from './explain';
import { LAYOUT, SOMETIMES } from './fields';

export class ScopeTree implements TablePart {
  readonly node: HTMLElement;
  readonly keys: () => ReturnType<typeof moveBindings>;
  private readonly _table: TreeTable;
  private readonly _legend = h('div', {});
  private readonly _bindings: ReturnType<typeof moveBindings>;
  private readonly _stop: () => void;
  private _answer: Answer | null = null;
  private _tree: OpTree | null = null;
  private _expanded = new Set<string>();
  private _sort: Sort = { by: 'self_time_ps', descending: true };
  private _rows: Row[] = [];
  private _active: string | null = null;
  private _selected: string | null = null;

  constructor(private readonly _frame: AnswerFrame) {
    this._table = new TreeTable('framework ops', LAYOUT, {
      sort: ({ sortBy }) => {
        const isText = (LABELS as readonly string[]).includes(sortBy);
        const descending = sortBy === this._sort.by ? !this._sort.descending : !isText;
        this._sort = { by: sortBy, descending };
        this._refresh();
      },
      select: (row) => this._select(row),
      toggle: (row) => this._toggle(row)
    });
    this._bindings = moveBindings({
      move: (to) => this._moveTo(to),
      page: () => this._table.pageRows,
      at: () => this._rows.findIndex(({ id }) => id === this._active),
      rows: () => this._rows,
      toggle: (row) => this._toggle(row),
      select: (row) => this._select(row)
    });
    this.keys = () => this._bindings;
    this.node = h('div', {}, this._table.node, this._legend);
    this._stop = attachTooltip(this.node, (target) => this._explain(target));
    this._table.table.addEventListener('keydown', (event) => {
      if (event.target === this._table.table && dispatchKey(event, this._bindings)) {
        event.stopPropagation();
      }
    });
  }

  dispose(): void {
    this._stop();
    this._table.dispose();
  }

  focus(): void {
    this._table.focus();
  }

  get kept(): Summary {
    return keptTree(this._sort, this._expanded);
  }

  adopt({ sort, expanded }: Summary): void {
    this._sort = sortFrom(sort) ?? this._sort;
    this._expanded = new Set(texts(expanded));
    this._refresh();
  }

  get tree(): OpTree | null {
    return this._tree;
  }

  update(): void {
    const { answer } = this._frame;
    if (answer !== this._answer) {
      this._answer = answer;
      this._tree = new OpTree(answer.table);
      const { _tree: tree } = this;
      const open = [...this._expanded].filter((key) => tree.get(key) !== undefined);
      this._expanded = open.length > 0 ? new Set(open) : firstExpanded(tree);
      const kinds = new Set([...this._tree.nodes()].map(({ labels }) => kindOf(labels.work_kind).id));
      this._legend.replaceChildren(legend(KINDS.filter(({ id }) => kinds.has(id))));
    }
    this._refresh();
  }

  follow(choice: Choice): void {
    const node = this._tree?.chosen(choice);
    if (node !== undefined) {
      for (const key of ancestors(node)) {
        this._expanded.add(key);
      }
      this._active = node.key;
    }
    this._selected = node?.key ?? null;
    this._refresh();
    if (node !== undefined) {
      this._table.reveal(node.key);
    }
  }

  private _refresh(): void {
    const tree = this._tree;
    if (tree === null) {
      return;
    }
    this._rows = visibleRows(tree, {
      sort: this._sort,
      matching: this._matching(),
      expanded: this._expanded
    });
    if (!this._rows.some(({ id }) => id === this._active)) {
      this._active = this._rows[0]?.id ?? null;
    }
    const hasSome = new Set(
      [...tree.nodes()].flatMap(({ measures }) =>
        SOMETIMES.filter((name) => measures[name as keyof typeof measures] > 0)
      )
    );
    this._table.update({
      rows: this._rows,
      sort: this._sort,
      terms: [],
      active: this._active,
      selected: this._selected,
      noRows: 'No framework op matches.',
      moreText: this._frame.isLive ? '' : 'not in this snapshot: open the run to load them',
      unknown: new Set(SOMETIMES.filter((name) => !hasSome.has(name)))
    });
  }

  /** What the filter of the frame leaves; null when it leaves all. */
  private _matching(): ((node: OpNode) => boolean) | null {
    const { answer, grid } = this._frame;
    if (grid.shown.length === answer.table.rows) {
      return null;
    }
    const kept = new Set(grid.shown.map((row) => stringAt(answer.table, 'key', row)));
    return ({ key, kind }) => kind === 'op' && kept.has(key);
  }

  private _toggle(row: Row): void {
    this._active = row.id;
    if (row.type === 'node' && row.expanded !== null) {
      if (row.expanded) {
        this._expanded.delete(row.node.key);
      } else {
        this._expanded.add(row.node.key);
      }
    }
    this._refresh();
  }

  private _select(row: Row): void {
    this._active = row.id;
    if (row.type === 'node') {
      this._frame.choose(choiceOf(row.node));
      this._selected = row.id;
      this._refresh();
    }
  }

  private _moveTo(index: number): void {
    const row = this._rows[Math.max(0, Math.min(index, this._rows.length - 1))];
    if (row !== undefined) {
      this._active = row.id;
      this._refresh();
      this._table.reveal(row.id);
    }
  }

  private _explain(target: Element) {
    const cell = target.closest<HTMLElement>('[data-field]');
    if (cell === null) {
      return null;
    }
    const row = this._table.rowOf(cell);
    if (row === undefined) {
      return { anchor: cell, lines: explainHead(cell.dataset.field ?? '') };
    }
    return row.type === 'node' ? { anchor: cell, lines: explainNode(row.node) } : null;
  }
}
