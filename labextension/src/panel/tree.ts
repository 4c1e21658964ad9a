/** The tree of runs on screen: an ARIA tree of which only the rows in sight are drawn. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { element, setChildren } from '../dom';
import type { RunEntry, RunsApi } from '../runs_api';
import { type Layout, layOut, PADDING_PX } from './layout';
import { drawRow, drawThumbnail, looksLike, updateAge } from './row';
import type { Row } from './rows';
import { extended, kept, moved, NOTHING, only, type Selection, toggled } from './selection';
import type { RunGroup } from './sort';
import { Thumbnails } from './thumbnails';
import { goalOf, TypeAhead } from './tree_keys';
import { inSight, rowAt } from './visible';

const REFRESH_AGES_MS = 30_000;
const MORE_ROWS = 8;
const LEAST_LINE_PX = 18;
const LINE_PER_FONT = 1.4;
const DRAG_AFTER_PX = 5;

/** What a person asks for in the tree. */
export interface TreeDeeds {
  open(run: RunEntry): void;
  searchTag(tag: string): void;
  drag(runs: readonly RunEntry[], row: HTMLElement, event: PointerEvent): void;
  /** Rows were opened or closed. */
  toggled(): void;
}

interface Drawn {
  readonly row: Row;
  readonly node: HTMLElement;
}

export class RunTree {
  readonly node = element('div', 'jp-XprofRuns');
  private readonly _sheet = element('div', 'jp-XprofRuns-sheet');
  private readonly _thumbnails: Thumbnails;
  private readonly _typeAhead = new TypeAhead();
  private readonly _ages: ReturnType<typeof setInterval>;
  private readonly _size = new ResizeObserver(() => this._measure());
  private _groups: readonly RunGroup[] = [];
  private _layout: Layout = layOut([], new Set(), LEAST_LINE_PX);
  private _linePx = LEAST_LINE_PX;
  private _toggled: ReadonlySet<string> = new Set();
  private _selection: Selection = NOTHING;
  private _drawn = new Map<string, Drawn>();
  private _pressed: PointerEvent | null = null;

  constructor(
    private readonly _trans: TranslationBundle,
    api: Pick<RunsApi, 'thumbnail' | 'can'>,
    private readonly _deeds: TreeDeeds
  ) {
    this._thumbnails = new Thumbnails(api, (path) => this._showThumbnail(path));
    this.node.tabIndex = 0;
    this.node.setAttribute('role', 'tree');
    this.node.setAttribute('aria-label', _trans.__('Profiled runs'));
    this.node.setAttribute('aria-multiselectable', 'true');
    this._sheet.setAttribute('role', 'none');
    this.node.append(this._sheet);
    this.node.addEventListener('scroll', () => this._draw());
    this.node.addEventListener('keydown', (event) => this._key(event));
    this.node.addEventListener('click', (event) => this._click(event));
    this.node.addEventListener('dblclick', (event) => this._doubleClick(event));
    this.node.addEventListener('contextmenu', (event) => this._menu(event));
    this.node.addEventListener('pointerdown', (event) => {
      this._pressed = event.button === 0 ? event : null;
    });
    this.node.addEventListener('pointermove', (event) => this._drag(event));
    this._size.observe(this.node);
    this._ages = setInterval(() => this._updateAges(), REFRESH_AGES_MS);
  }

  dispose(): void {
    clearInterval(this._ages);
    this._size.disconnect();
    this._thumbnails.dispose();
  }

  /** The runs that are chosen, in the order of the rows; a host stands for its run. */
  get chosen(): RunEntry[] {
    const rows = this._layout.rows.filter(({ key }) => this._selection.chosen.has(key));
    return [...new Set(rows.flatMap((row) => (row.kind === 'logdir' ? [] : [row.run])))];
  }

  /** The log dir of the row that has the keyboard; null before there is any row. */
  get logdir(): string | null {
    const row = this._layout.rows[this._activeIndex];
    return row === undefined ? null : row.kind === 'logdir' ? row.logdir : row.run.logdir;
  }

  /** Log dirs that are closed and runs that are open. */
  get toggled(): readonly string[] {
    return [...this._toggled];
  }

  set toggled(keys: readonly string[]) {
    this._toggled = new Set(keys);
    this._layOut();
    this._draw();
  }

  /** Show other runs: what is chosen, open and in sight stays so. */
  show(groups: readonly RunGroup[]): void {
    this._groups = groups;
    const top = this.node.scrollTop;
    const first = rowAt(this._layout.offsets, top);
    const below = top - (this._layout.offsets[first] ?? 0);
    const firstKey = this._layout.keys[first];
    this._layOut();
    const now = top > 0 && firstKey !== undefined ? this._layout.keys.indexOf(firstKey) : -1;
    this._draw();
    if (now >= 0) {
      this.node.scrollTop = (this._layout.offsets[now] ?? 0) + below;
      this._draw();
    }
  }

  private get _activeIndex(): number {
    return this._selection.active === null ? -1 : this._layout.keys.indexOf(this._selection.active);
  }

  private _layOut(): void {
    const before = this._layout.keys;
    this._layout = layOut(this._groups, this._toggled, this._linePx);
    this._selection = kept(this._selection, before, this._layout.keys);
    this._sheet.style.height = `${this._layout.offsets.at(-1)}px`;
  }

  private _measure(): void {
    const fontPx = Number.parseFloat(getComputedStyle(this.node).fontSize) || 0;
    const linePx = Math.max(LEAST_LINE_PX, Math.round(fontPx * LINE_PER_FONT));
    this.node.style.setProperty('--jp-xprof-line', `${linePx}px`);
    if (linePx !== this._linePx) {
      this._linePx = linePx;
      this._layOut();
    }
    this._draw();
  }

  private _draw(): void {
    const { scrollTop, clientHeight } = this.node;
    const [start, end] = inSight(this._layout.offsets, scrollTop, clientHeight, MORE_ROWS);
    const active = this._activeIndex;
    const indexes = Array.from({ length: end - start }, (_, index) => start + index);
    if (active >= 0 && active < start) {
      indexes.unshift(active);
    } else if (active >= end) {
      indexes.push(active);
    }
    const before = this._drawn;
    this._drawn = new Map();
    for (const index of indexes) {
      this._place(index, before);
    }
    setChildren(
      this._sheet,
      [...this._drawn.values()].map(({ node }) => node)
    );
    const activeNode =
      this._selection.active === null ? undefined : this._drawn.get(this._selection.active)?.node;
    if (activeNode === undefined) {
      this.node.removeAttribute('aria-activedescendant');
    } else {
      this.node.setAttribute('aria-activedescendant', activeNode.id);
    }
    this._thumbnails.want(
      this._layout.rows.slice(start, end).flatMap((row) => (row.kind === 'run' ? [row.run] : []))
    );
  }

  private _place(index: number, before: ReadonlyMap<string, Drawn>): void {
    const row = this._layout.rows[index];
    if (row === undefined) {
      return;
    }
    const old = before.get(row.key);
    const thumbnail = row.kind === 'run' ? this._thumbnails.of(row.run) : { busy: [], stepTimesPs: [] };
    const node =
      old !== undefined && looksLike(old.row, row) ? old.node : drawRow(row, thumbnail, this._trans);
    node.style.top = `${this._layout.offsets[index]}px`;
    node.setAttribute('aria-posinset', String(row.position));
    node.setAttribute('aria-setsize', String(row.siblings));
    node.setAttribute('aria-selected', String(this._selection.chosen.has(row.key)));
    node.classList.toggle('jp-mod-active', row.key === this._selection.active);
    this._drawn.set(row.key, { row, node });
  }

  private _showThumbnail(path: string): void {
    const drawn = this._drawn.get(`run:${path}`);
    if (drawn?.row.kind === 'run') {
      drawThumbnail(drawn.node, this._thumbnails.of(drawn.row.run), this._trans);
    }
  }

  private _updateAges(): void {
    for (const { row, node } of this._drawn.values()) {
      if (row.kind === 'run') {
        updateAge(node, row.run, this._trans);
      }
    }
  }

  private _select(selection: Selection): void {
    this._selection = selection;
    this._reveal(this._activeIndex);
    this._draw();
  }

  private _reveal(index: number): void {
    const [top, bottom] = [this._layout.offsets[index], this._layout.offsets[index + 1]];
    if (top === undefined || bottom === undefined) {
      return;
    }
    const { scrollTop, clientHeight } = this.node;
    if (top < scrollTop) {
      this.node.scrollTop = top;
    } else if (bottom > scrollTop + clientHeight) {
      this.node.scrollTop = bottom - clientHeight;
    }
  }

  private _toggle(rows: readonly Row[]): void {
    const next = new Set(this._toggled);
    for (const { key } of rows) {
      if (!next.delete(key)) {
        next.add(key);
      }
    }
    this.toggled = [...next];
    this._deeds.toggled();
  }

  private _act(row: Row): void {
    if (row.kind === 'logdir') {
      this._toggle([row]);
    } else {
      this._deeds.open(row.run);
    }
  }

  private _rowOf(event: Event): Row | undefined {
    const node = (event.target as Element).closest<HTMLElement>('[role=treeitem]');
    return node === null ? undefined : this._drawn.get(node.dataset.key ?? '')?.row;
  }

  private _click(event: MouseEvent): void {
    const row = this._rowOf(event);
    const target = event.target as HTMLElement;
    if (row === undefined) {
      return;
    }
    if (target.dataset.tag !== undefined) {
      this._deeds.searchTag(target.dataset.tag);
    } else if (target.classList.contains('jp-XprofRuns-twisty') && row.expanded !== null) {
      this._toggle([row]);
    } else if (event.shiftKey) {
      this._select(extended(this._selection, this._layout.keys, row.key));
    } else if (event.ctrlKey || event.metaKey) {
      this._select(toggled(this._selection, row.key));
    } else {
      this._select(only(row.key));
    }
  }

  private _doubleClick(event: MouseEvent): void {
    const row = this._rowOf(event);
    const isTwisty = (event.target as Element).classList.contains('jp-XprofRuns-twisty');
    if (row !== undefined && !isTwisty && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      this._act(row);
    }
  }

  /** A menu is of what is chosen; one asked for by key opens at the row, not at the corner of the tree. */
  private _menu(event: MouseEvent): void {
    const row = this._rowOf(event);
    if (row !== undefined && !this._selection.chosen.has(row.key)) {
      this._select(only(row.key));
    } else if (row === undefined && event.button !== 2 && !event.ctrlKey) {
      event.preventDefault();
      event.stopPropagation();
    }
  }

  private _openMenu(): void {
    const active = this._selection.active;
    const node = active === null ? undefined : this._drawn.get(active)?.node;
    if (node !== undefined) {
      const { left, bottom } = node.getBoundingClientRect();
      const place = { clientX: left + 24, clientY: bottom, button: 2 };
      node.dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, cancelable: true, ...place }));
    }
  }

  private _drag(event: PointerEvent): void {
    const pressed = event.buttons === 0 ? null : this._pressed;
    this._pressed = pressed;
    if (
      pressed === null ||
      Math.hypot(event.clientX - pressed.clientX, event.clientY - pressed.clientY) < DRAG_AFTER_PX
    ) {
      return;
    }
    this._pressed = null;
    const row = this._rowOf(pressed);
    if (row === undefined || row.kind === 'logdir') {
      return;
    }
    if (!this._selection.chosen.has(row.key)) {
      this._select(only(row.key));
    }
    const node = this._drawn.get(row.key)?.node;
    if (node !== undefined) {
      this._deeds.drag(this.chosen, node, event);
    }
  }

  private _key(event: KeyboardEvent): void {
    if (event.altKey || !this._does(event)) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** Do what a key is for; returns whether it is for something. */
  private _does(event: KeyboardEvent): boolean {
    const { key, shiftKey } = event;
    const isControl = event.ctrlKey || event.metaKey;
    const row = this._layout.rows[this._activeIndex];
    if (row === undefined) {
      return false;
    }
    if (key === 'ContextMenu' || (key === 'F10' && shiftKey)) {
      this._openMenu();
    } else if (key === 'Enter') {
      this._act(row);
    } else if (key === ' ') {
      this._select(toggled(this._selection, row.key));
    } else if (isControl && key.toLowerCase() === 'a') {
      const runs = this._layout.rows.filter(({ kind }) => kind === 'run').map((each) => each.key);
      this._select({ ...this._selection, chosen: new Set(runs) });
    } else {
      return this._goes(event, isControl);
    }
    return true;
  }

  private _goes({ key, shiftKey }: KeyboardEvent, isControl: boolean): boolean {
    const index = this._activeIndex;
    const pageRows = Math.max(1, Math.floor(this.node.clientHeight / (2 * this._linePx + PADDING_PX)));
    const goal = goalOf(key, this._layout.rows, index, pageRows);
    if (goal !== null && typeof goal === 'object') {
      this._toggle(goal.toggle);
      return true;
    }
    const isLetter = key.length === 1 && !isControl;
    const target =
      goal ?? (isLetter ? this._typeAhead.type(key, this._layout.rows, index, performance.now()) : null);
    const next = target === null ? undefined : this._layout.keys[target];
    if (next === undefined) {
      return isLetter;
    }
    const [go, hold] = [() => only(next), () => moved(this._selection, next)];
    this._select(
      shiftKey && goal !== null
        ? extended(this._selection, this._layout.keys, next)
        : isControl
          ? hold()
          : go()
    );
    return true;
  }
}
