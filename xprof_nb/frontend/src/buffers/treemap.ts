/** The treemap of the peak: every live buffer as an area, by the scope of the model that makes it. */
import { button, h } from '../dom';
import { bytes, percent } from '../format';
import { KINDS, kindOf } from '../kinds';
import type { AnswerFrame } from '../shell/answer';
import { legend } from '../shell/legend';
import type { Choice } from '../shell/link';
import { attachTooltip } from '../shell/tooltip';
import { linesOfBuffer } from './explain';
import { liveAtPeak, type Need } from './rows';
import { at, branching, type Node, scopeTree, type Tile, tiles } from './scopes';

const UNSEEN = { width: 900, height: 280 };
const NAMED_FROM_PX = 40;

export class ScopeMap {
  readonly node: HTMLElement;
  private readonly _crumbs = h('nav', {
    class: 'jp-XprofBuffers-crumbs',
    attrs: { 'aria-label': 'Scope shown' }
  });
  private readonly _area = h('div', {
    class: 'jp-XprofBuffers-map',
    attrs: {
      role: 'group',
      'aria-label': 'Buffers live at the peak, by scope; arrow keys move, Enter chooses'
    }
  });
  private readonly _legend = h('div', {});
  private readonly _observer: ResizeObserver;
  private readonly _hideTip: () => void;
  private _need: Need | null = null;
  private _path: readonly string[] = [];
  private _leaves: readonly Tile[] = [];
  private _chosen = '';
  private _aspect = 0;

  constructor(private readonly _frame: AnswerFrame) {
    this.node = h(
      'figure',
      { class: 'jp-XprofBuffers-scopes' },
      h('figcaption', { class: 'jp-XprofBuffers-title' }, 'What is live at the peak, by scope'),
      this._crumbs,
      this._area,
      this._legend
    );
    this._area.addEventListener('click', (event) => this._clicked(event.target as Element));
    this._area.addEventListener('keydown', (event) => this._keyPressed(event));
    this._hideTip = attachTooltip(this.node, (target) => this._explain(target));
    this._observer = new ResizeObserver(() => this._resized());
    this._observer.observe(this._area);
  }

  update(need: Need): void {
    if (need.program_id !== this._need?.program_id || need.memory_space !== this._need.memory_space) {
      this._path = [];
    }
    this._need = need;
    this._draw();
  }

  follow({ op }: Choice): void {
    this._chosen = op ?? '';
    for (const leaf of this._buttons()) {
      const buffer = this._leaves[Number(leaf.dataset.leaf)]?.node.buffer;
      leaf.classList.toggle('jp-mod-chosen', this._chosen !== '' && buffer?.op === this._chosen);
    }
  }

  dispose(): void {
    this._observer.disconnect();
    this._hideTip();
  }

  private _draw(): void {
    this._hideTip();
    const { answer, grid } = this._frame;
    const live = liveAtPeak(answer.table, grid.shown);
    const whole = scopeTree(live, this._rest(live.reduce((sum, buffer) => sum + buffer.bytes, 0)));
    const shown = branching(at(whole, this._path));
    const { clientWidth, clientHeight } = this._area;
    const { width, height } =
      clientWidth > 0 && clientHeight > 0 ? { width: clientWidth, height: clientHeight } : UNSEEN;
    this._aspect = width / height;
    const { leaves, groups } = tiles(shown, this._aspect);
    this._leaves = leaves;
    this._area.replaceChildren(
      ...leaves.map((tile, number) => this._leaf(tile, number, tile.width * width)),
      ...groups.map((tile) => this._group(tile, tile.width * width))
    );
    this._showPath(shown);
    const kinds = new Set(leaves.map(({ node }) => kindOf(node.buffer?.workKind ?? null).id));
    this._legend.replaceChildren(legend(KINDS.filter(({ id }) => kinds.has(id))));
    this.follow({ op: this._chosen });
  }

  /** Bytes of the peak whose buffers a snapshot left out; none are missing when the filter leaves rows out. */
  private _rest(known: number): number {
    const { answer, grid } = this._frame;
    const isAll = grid.shown.length === answer.table.rows;
    return isAll && this._need !== null ? Math.max(0, this._need.peak_bytes - known) : 0;
  }

  private _leaf(
    { node, left, top, width, height, bytes: size }: Tile,
    number: number,
    width_px: number
  ): HTMLElement {
    const { buffer, name } = node;
    const share = percent(size / (this._need?.peak_bytes ?? Number.NaN));
    const isNamed = width_px >= NAMED_FROM_PX;
    const element = h(
      'button',
      {
        class: 'jp-XprofBuffers-leaf',
        attrs: {
          type: 'button',
          tabindex: number === 0 ? 0 : -1,
          'aria-label': `${name}, ${bytes(size)}, ${share} of the peak${buffer === null ? '' : `, ${buffer.kind}`}`
        },
        data: { leaf: String(number), kind: kindOf(buffer?.workKind ?? null).id }
      },
      isNamed ? h('span', {}, name) : null,
      isNamed ? ' ' : null,
      isNamed ? h('span', {}, bytes(size)) : null
    );
    placed(element, { left, top, width, height });
    return element;
  }

  private _group(tile: Tile, width_px: number): HTMLElement {
    const { node, bytes: size } = tile;
    const element = h(
      'div',
      { class: 'jp-XprofBuffers-group' },
      width_px >= NAMED_FROM_PX
        ? button(node.name, {
            class: 'jp-XprofBuffers-scope',
            title: `${node.path.join('/')}: ${bytes(size)}. Click shows it alone.`,
            click: () => this._go(node.path)
          })
        : null
    );
    placed(element, tile);
    return element;
  }

  private _showPath(shown: Node): void {
    const steps = ['', ...shown.path].map((_, depth) => shown.path.slice(0, depth));
    this._crumbs.replaceChildren(
      ...steps.flatMap((path, number) => [
        number === 0 ? '' : ' › ',
        number === steps.length - 1
          ? h('strong', {}, path.at(-1) ?? 'all')
          : button(path.at(-1) ?? 'all', { class: 'jp-XprofLink', click: () => this._go(path) })
      ])
    );
    // A scope that is the only part of the one above is shown with it: going there would change nothing.
    this._crumbs.hidden = shown.path.length === 0;
  }

  private _go(path: readonly string[]): void {
    this._path = path;
    this._draw();
    this._buttons()[0]?.focus();
  }

  private _clicked(target: Element): void {
    const leaf = target.closest<HTMLElement>('[data-leaf]');
    const op = this._leaves[Number(leaf?.dataset.leaf ?? Number.NaN)]?.node.buffer?.op ?? null;
    if (leaf !== null) {
      this._rove(leaf);
    }
    if (op !== null) {
      this._frame.choose({ op, program_id: this._need?.program_id ?? '' });
    }
  }

  private _keyPressed(event: KeyboardEvent): void {
    const all = this._buttons();
    const from = all.indexOf(event.target as HTMLElement);
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const to = by === undefined ? { Home: 0, End: all.length - 1 }[event.key] : from + by;
    const next = from < 0 || to === undefined ? undefined : all[to];
    if (next !== undefined) {
      event.preventDefault();
      event.stopPropagation();
      this._rove(next);
    }
  }

  private _rove(leaf: HTMLElement): void {
    for (const other of this._buttons()) {
      other.tabIndex = other === leaf ? 0 : -1;
    }
    leaf.focus();
  }

  private _buttons(): HTMLElement[] {
    return [...this._area.querySelectorAll<HTMLElement>('[data-leaf]')];
  }

  private _explain(target: Element): { anchor: Element; lines: readonly string[] } | null {
    const leaf = target.closest<HTMLElement>('[data-leaf]');
    const tile = this._leaves[Number(leaf?.dataset.leaf ?? Number.NaN)];
    if (leaf === null || tile === undefined || this._need === null) {
      return null;
    }
    const { buffer, name } = tile.node;
    const { peak_bytes } = this._need;
    const lines =
      buffer === null
        ? [name, `${bytes(tile.bytes)}, ${percent(tile.bytes / peak_bytes)} of the peak`]
        : linesOfBuffer(buffer, peak_bytes);
    return { anchor: leaf, lines };
  }

  private _resized(): void {
    const { clientWidth, clientHeight } = this._area;
    if (clientWidth > 0 && Math.abs(clientWidth / clientHeight - this._aspect) > 0.05 * this._aspect) {
      this._draw();
    }
  }
}

function placed(element: HTMLElement, { left, top, width, height }: Omit<Tile, 'node' | 'bytes'>): void {
  const share = (value: number) => `${(100 * value).toFixed(4)}%`;
  Object.assign(element.style, {
    left: share(left),
    top: share(top),
    width: share(width),
    height: share(height)
  });
}
