/** The op profile on screen: puts the parts together and says what each key and click does. */
import { adoptStyle, h } from '../dom';
import { count } from '../format';
import type { Host, Mounted } from '../host';
import { dispatchKey, isTyping, type KeyBinding } from '../keys';
import { number } from '../payload';
import { header } from '../shell/header';
import { KeyHelp } from '../shell/key_help';
import { linkOf } from '../shell/link';
import { onHandled, StateTeller } from '../shell/state';
import { Tasks } from '../shell/tasks';
import { attachTooltip } from '../shell/tooltip';
import shellStyle from '../style/shell.css?inline';
import { followTheme } from '../theme';
import type { Field } from '../tree/fields';
import { moveBindings } from '../tree/keyboard';
import { ancestors, countOps, matchingOf, type Row, type Sort, searchTerms, visibleRows } from '../tree/rows';
import treeStyle from '../tree/style.css?inline';
import { TreeTable } from '../tree/table';
import { LABELS, type Measure, type OpNode } from '../tree/tree';
import detailsStyle from './details.css?inline';
import { DetailsArea } from './details_area';
import { explainAt } from './explain';
import { Facts } from './facts';
import { LAYOUT } from './fields';
import { Follower } from './follow';
import { menuItems } from './menu';
import { Session } from './session';
import { type Looks, ProfileStanding } from './standing';
import style from './style.css?inline';
import { type Grouping, Toolbar } from './toolbar';

/** What is asked for after the rows, and not of every run. */
const SPREAD_FIELDS: readonly Measure[] = ['step_fraction', 'device_imbalance_fraction'];
const SEARCH_AFTER_MS = 250;

/** Draw the op profile of a host into an element. */
export function mount(host: Host, el: HTMLElement): Mounted {
  for (const sheet of [shellStyle, treeStyle, style, detailsStyle]) {
    adoptStyle(el, sheet);
  }
  const view = new OpProfileView(host);
  el.append(view.node);
  return view;
}

class OpProfileView implements Mounted {
  readonly node: HTMLElement;
  private readonly _session: Session;
  private readonly _toolbar: Toolbar;
  private readonly _table: TreeTable;
  private readonly _details: DetailsArea;
  private readonly _help: KeyHelp;
  private readonly _facts = new Facts();
  private readonly _teller: StateTeller;
  private readonly _tasks = new Tasks();
  private readonly _follower: Follower;
  private readonly _stops: (() => void)[] = [];
  private readonly _bindings: readonly KeyBinding[];
  private _sort: Sort = { by: 'time_fraction', descending: true };
  private _filter = '';
  private _rows: Row[] = [];
  private _active: string | null = null;
  private _selected: string | null = null;
  private _searchTimer = 0;

  constructor(host: Host) {
    this._session = new Session(host);
    this._follower = new Follower(this._session, this._tasks, {
      reveal: (node) => this._reveal(node),
      clear: () => this._closeDetails(),
      replaced: (signal) => this._showOther(signal),
      grown: (signal) => this._spread(signal)
    });
    this._toolbar = new Toolbar({
      group: (by) => this._group(by),
      sort: (by) => this._sortBy(by, true),
      filter: (text) => this._setFilter(text),
      leaveFilter: () => this._table.focus()
    });
    this._table = new TreeTable(host.snapshot.title || 'op profile', LAYOUT, {
      sort: (field) => this._sortByField(field),
      select: (row) => this._select(row),
      toggle: (row) => this._toggle(row)
    });
    this._details = new DetailsArea(this._session, {
      close: () => this._deselect(),
      open: (view, node) => this._follower.open(view, node)
    });
    this._help = new KeyHelp(() => this._table.focus());
    const general = (key: string, label: string, what: string, run: () => void): KeyBinding => ({
      keys: [key],
      label,
      what,
      run
    });
    this._bindings = [
      ...moveBindings({
        move: (to) => this._moveTo(to),
        page: () => this._table.pageRows,
        at: () => this._rows.findIndex((row) => row.id === this._active),
        rows: () => this._rows,
        toggle: (row) => this._toggle(row),
        select: (row) => this._select(row)
      }),
      general('/', '/', 'filter', () => this._toolbar.filter.focus()),
      general('Escape', 'Esc', 'step back: cancel, close the details, clear the filter', () => this._back()),
      general('?', '?', 'this list', () => this._help.toggle(this._bindings, this._table.node))
    ];
    this.node = this._compose(host);
    this._stops.push(
      followTheme(this.node),
      attachTooltip(this.node, (target) =>
        explainAt(target, (cell) => this._table.rowOf(cell), this._session.current.summary)
      )
    );
    this._refreshAnswer();
    this._refresh();
    this._stops.push(this._follower.start());
    const standing = new ProfileStanding({
      session: this._session,
      tasks: this._tasks,
      link: linkOf(host.snapshot.run),
      looks: () => this._looks,
      look: (looks) => this._look(looks),
      renew: (signal) => this._renew(signal)
    });
    this._teller = new StateTeller(this.node, standing);
    onHandled(this.node, () => this._teller.changed());
  }

  dispose(): void {
    this._teller.dispose();
    clearTimeout(this._searchTimer);
    this._tasks.cancel();
    this._details.dispose();
    this._table.dispose();
    for (const stop of this._stops) {
      stop();
    }
    this.node.remove();
  }

  private _compose(host: Host): HTMLElement {
    const root = h(
      'section',
      {
        class: 'jp-XprofView jp-OpProfile',
        attrs: { 'aria-label': host.snapshot.title || 'op profile', 'data-lm-suppress-shortcuts': 'true' }
      },
      header(
        host,
        menuItems(this._session, {
          said: (words) => this._tasks.say(words),
          failed: (error) => this._tasks.fail(error),
          help: () => this._help.toggle(this._bindings, this._table.node)
        })
      ),
      this._facts.answer,
      this._follower.bar.node,
      this._toolbar.node,
      h(
        'div',
        { class: 'jp-OpProfile-main' },
        h('div', { class: 'jp-OpProfile-frame' }, this._table.node, this._facts.empty),
        this._details.node
      ),
      h('div', { class: 'jp-OpProfile-foot' }, this._facts.legend, this._tasks.node),
      this._help.node
    );
    root.addEventListener('keydown', (event) => {
      this._keyPressed(event);
      event.stopPropagation();
    });
    return root;
  }

  private _refreshAnswer(): void {
    const { current } = this._session;
    this._facts.update(current, (node) => this._show(node));
    this._table.node.hidden = current.tree.top.length === 0;
  }

  private get _looks(): Looks {
    const { _sort: sort, _filter: filter, _selected: selected } = this;
    return { sort, filter, selected, hasDetails: this._details.isOpen };
  }

  private _look({ sort, filter, selected, hasDetails }: Looks): void {
    this._sort = sort;
    this._toolbar.filter.value = this._filter = filter;
    this._selected = selected;
    this._active = selected ?? this._active;
    this._refresh();
    const node = selected === null ? undefined : this._session.current.tree.get(selected);
    if (node !== undefined) {
      this._table.reveal(node.key);
      if (hasDetails) {
        this._details.show(node);
      }
    }
  }

  private _refresh(): void {
    const { tree, expanded, by, summary } = this._session.current;
    this._rows = visibleRows(tree, { sort: this._sort, matching: matchingOf(this._filter), expanded });
    if (!this._rows.some((row) => row.id === this._active)) {
      this._active = this._rows[0]?.id ?? null;
    }
    this._table.update({
      rows: this._rows,
      sort: this._sort,
      terms: searchTerms(this._filter),
      active: this._active,
      selected: this._selected,
      unknown: new Set(SPREAD_FIELDS.filter((measure) => !tree.knows(measure))),
      noRows: `No op matches “${this._filter.trim()}”.`,
      moreText: this._session.isLive ? 'click to load' : 'not in this snapshot: open the run to load them'
    });
    const total = Math.max(number(summary.op_count) || 0, countOps(tree, ''));
    this._toolbar.update({
      by,
      sort: this._sort.by,
      counted: `${count(countOps(tree, this._filter))} of ${count(total)} ops shown`,
      fixedBecause: this._session.whyNotLive
    });
  }

  private _group(by: Grouping): void {
    if (by === this._session.current.by) {
      return;
    }
    if (!this._session.isLive) {
      this._tasks.say(this._session.whyNotLive);
      return;
    }
    this._tasks.run(`Grouping by ${by}`, async (signal) => {
      await this._session.group(by, signal);
      await this._showOther(signal);
    });
  }

  private _sortByField(field: Field): void {
    const isText = (LABELS as readonly string[]).includes(field.sortBy);
    const descending = field.sortBy === this._sort.by ? !this._sort.descending : !isText;
    this._sortBy(field.sortBy, descending);
  }

  private _sortBy(by: Measure | Field['sortBy'], descending: boolean): void {
    this._sort = { by, descending };
    this._refresh();
    this._table.table.scrollTop = 0;
  }

  private _setFilter(text: string): void {
    this._filter = text;
    this._refresh();
    this._table.table.scrollTop = 0;
    clearTimeout(this._searchTimer);
    if (text.trim() !== '' && this._session.isLive && this._session.isPruned) {
      this._searchTimer = window.setTimeout(() => {
        this._tasks.run('Searching the whole profile', async (signal) => {
          if ((await this._session.search(text.trim(), signal)) > 0) {
            this._refresh();
            await this._spread(signal);
          }
        });
      }, SEARCH_AFTER_MS);
    }
  }

  private _toggle(row: Row): void {
    this._active = row.id;
    if (row.type === 'more') {
      this._loadMore(row.parent);
      return;
    }
    const { expanded } = this._session.current;
    if (row.expanded === null) {
      return;
    }
    if (row.expanded) {
      expanded.delete(row.node.key);
    } else {
      expanded.add(row.node.key);
    }
    this._refresh();
    if (!row.expanded && row.node.children.length === 0) {
      this._loadMore(row.node);
    }
  }

  private _loadMore(parent: OpNode): void {
    if (!this._session.isLive) {
      this._tasks.say(this._session.whyNotLive);
      return;
    }
    this._tasks.run('Loading more rows', async (signal) => {
      const added = await this._session.loadChildren(parent, signal);
      this._refresh();
      if (added === 0) {
        this._tasks.say('The profile gave no more rows here.');
      } else {
        await this._spread(signal);
      }
    });
  }

  private _select(row: Row): void {
    this._active = row.id;
    if (row.type === 'more') {
      this._loadMore(row.parent);
      return;
    }
    this._selected = row.id;
    this._details.show(row.node);
    this._refresh();
    this._table.reveal(row.id);
    this._follower.choose(row.node);
  }

  private _deselect(): void {
    this._closeDetails();
    this._follower.choose(null);
  }

  private _closeDetails(): void {
    this._details.close();
    this._selected = null;
    this._refresh();
  }

  /** Open the way to a row and select it. */
  private _show(node: OpNode): void {
    this._reveal(node);
    const row = this._rows.find((candidate) => candidate.id === node.key);
    if (row !== undefined) {
      this._select(row);
    }
  }

  /** Open the way to a row and outline it. */
  private _reveal(node: OpNode): void {
    for (const key of ancestors(node)) {
      this._session.current.expanded.add(key);
    }
    this._selected = this._active = node.key;
    this._refresh();
    if (!this._rows.some((row) => row.id === node.key)) {
      this._toolbar.filter.value = '';
      this._filter = '';
      this._active = node.key;
      this._refresh();
    }
    this._table.reveal(node.key);
    if (this._details.isOpen) {
      this._details.show(node);
    }
  }

  /** Show what the session has now: another grouping, or another part of the run. */
  private async _showOther(signal: AbortSignal): Promise<void> {
    await this._renew(signal);
    this._follower.catchUp();
  }

  private async _renew(signal: AbortSignal): Promise<void> {
    this._closeDetails();
    this._refreshAnswer();
    this._refresh();
    await this._spread(signal);
  }

  private async _spread(signal: AbortSignal): Promise<void> {
    await this._session.spread(signal);
    this._refresh();
  }

  private _moveTo(index: number): void {
    const row = this._rows[Math.max(0, Math.min(index, this._rows.length - 1))];
    if (row !== undefined) {
      this._active = row.id;
      this._refresh();
      this._table.reveal(row.id);
    }
  }

  private _back(): void {
    if (this._help.isOpen) {
      this._help.close();
    } else if (this._tasks.isBusy) {
      this._tasks.cancel();
    } else if (this._details.isOpen || this._selected !== null) {
      this._deselect();
      this._table.focus();
    } else if (this._filter !== '') {
      this._toolbar.filter.value = '';
      this._setFilter('');
    }
  }

  private _keyPressed(event: KeyboardEvent): void {
    const inTable = event.target === this._table.table;
    const anywhere = ['/', '?', 'Escape'].includes(event.key);
    if (!isTyping(event) && (inTable || anywhere)) {
      dispatchKey(event, this._bindings);
    }
  }
}
