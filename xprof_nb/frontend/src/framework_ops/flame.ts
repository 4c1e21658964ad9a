/** The scopes as an icicle: width is time, a click goes in, the keyboard walks it. */
import { h } from '../dom';
import { percent, time } from '../format';
import { kindOf, shade } from '../kinds';
import { isSame } from '../shell/choice';
import type { Choice } from '../shell/link';
import { lowerEdge } from '../shell/lower_edge';
import { choiceOf, type OpNode } from '../tree/tree';
import { type Box, boxes } from './layout';

const ROW_PX = 22;
const MOST_ROWS_AT_FIRST = 14;
const LEAST_PX = 4 * ROW_PX;
const MOST_PX = 2000;
const LEAST_BOX_PX = 1.5;
/** A box too narrow for letters has none. */
const LEAST_LETTERED_PX = 24;
const WIDTH_WITHOUT_LAYOUT = 1200;

export interface FlameEvents {
  /** An op was chosen. */
  choose(node: OpNode): void;
}

let flames = 0;

export class Flame {
  readonly node: HTMLElement;
  isSplit = false;
  /** What is on screen now. */
  boxes: readonly Box[] = [];
  private readonly _prefix = `xprof-flame-${flames++}-`;
  private readonly _area = h('div', {
    class: 'jp-XprofFlame-area',
    attrs: { role: 'tree', tabindex: 0, 'aria-label': 'Scopes by time, as an icicle' }
  });
  private readonly _observer: ResizeObserver;
  private _top: OpNode | null = null;
  private _zoomed = '';
  private _at = '';
  private _choice: Choice = {};

  constructor(private readonly _events: FlameEvents) {
    const edge = lowerEdge({
      label: 'Height of the icicle',
      least: LEAST_PX,
      most: MOST_PX,
      height: () => this._area.offsetHeight,
      resize: (height) => {
        this._area.style.height = `${height}px`;
      }
    });
    this.node = h('div', { class: 'jp-XprofFlame' }, this._area, edge);
    this._area.addEventListener('click', (event) => {
      const id = (event.target as Element).closest<HTMLElement>('[data-box]')?.dataset.box;
      const box = this.boxes.find((each) => each.id === id);
      if (box !== undefined) {
        this._at = box.id;
        this._enter(box);
      }
    });
    this._area.addEventListener('keydown', (event) => this._pressed(event));
    this._observer = new ResizeObserver(() => this._draw());
    this._observer.observe(this._area);
  }

  dispose(): void {
    this._observer.disconnect();
  }

  /** Show what is below a node. */
  update(top: OpNode | null): void {
    this._top = top;
    this._draw();
  }

  follow(choice: Choice): void {
    this._choice = choice;
    this._draw();
  }

  /** The node of an element of the picture. */
  nodeOf(target: Element): { readonly anchor: HTMLElement; readonly node: OpNode } | null {
    const anchor = target.closest<HTMLElement>('[data-box]');
    const box = this.boxes.find(({ id }) => id === anchor?.dataset.box);
    return anchor === null || box === undefined ? null : { anchor, node: box.node };
  }

  /** Show all again; returns whether it did not already. */
  zoomOut(): boolean {
    const wasIn = this._zoomed !== '';
    this._zoomed = '';
    this._draw();
    return wasIn;
  }

  private _enter(box: Box): void {
    if (box.node.kind === 'op') {
      this._events.choose(box.node);
    }
    if (box.node.children.length > 0) {
      this._zoomed = box.id === this._zoomed || box.depth === 0 ? '' : box.id;
    }
    this._draw();
  }

  private _draw(): void {
    const width = this._area.clientWidth || WIDTH_WITHOUT_LAYOUT;
    const shown = { isSplit: this.isSplit, zoomed: this._zoomed, leastWidth: LEAST_BOX_PX / width };
    this.boxes = this._top === null ? [] : boxes(this._top, shown);
    const rows = Math.max(1, ...this.boxes.map(({ depth }) => depth + 1));
    this._area.style.setProperty('--xprof-rows', String(Math.min(rows, MOST_ROWS_AT_FIRST)));
    const whole = this._top?.measures.self_time_ps ?? Number.NaN;
    this._area.replaceChildren(...this.boxes.map((box, index) => this._box(box, index, width, whole)));
    const at = this.boxes.findIndex(({ id }) => id === this._at);
    if (at < 0) {
      this._area.removeAttribute('aria-activedescendant');
    } else {
      this._area.setAttribute('aria-activedescendant', this._prefix + at);
      this._area.children[at]?.scrollIntoView?.({ block: 'nearest' });
    }
  }

  private _box(box: Box, index: number, width: number, whole: number): HTMLElement {
    const { node, name } = box;
    const isChosen = isSame(choiceOf(node), this._choice);
    const again = node.measures.rematted_time_ps / node.measures.self_time_ps;
    const element = h(
      'div',
      {
        class: `jp-XprofFlame-box${isChosen ? ' jp-mod-selected' : ''}${box.id === this._at ? ' jp-mod-at' : ''}`,
        attrs: {
          id: this._prefix + index,
          role: 'treeitem',
          'aria-level': box.depth + 1,
          'aria-selected': isChosen,
          'aria-label': `${name}, ${time(box.time_ps)}, ${percent(box.time_ps / whole)}, ${kindOf(node.labels.work_kind).label}`
        },
        data: { box: box.id, kind: kindOf(node.labels.work_kind).id }
      },
      box.width * width >= LEAST_LETTERED_PX ? `${name}  ${time(box.time_ps)}` : ''
    );
    element.style.top = `${box.depth * ROW_PX}px`;
    element.style.left = `${box.start * 100}%`;
    element.style.width = `${box.width * 100}%`;
    element.style.setProperty('--xprof-shade', `${shade(name)}%`);
    element.style.setProperty('--xprof-again', `${again > 0 ? again * 100 : 0}%`);
    return element;
  }

  private _pressed(event: KeyboardEvent): void {
    const at = this.boxes.find(({ id }) => id === this._at) ?? this.boxes[0];
    if (at === undefined) {
      return;
    }
    const middle = at.start + at.width / 2;
    const level = this.boxes.filter(({ depth }) => depth === at.depth).sort((a, b) => a.start - b.start);
    const inside = this.boxes
      .filter(
        ({ depth, start }) =>
          depth === at.depth + 1 && start >= at.start - 1e-9 && start < at.start + at.width
      )
      .sort((a, b) => b.width - a.width);
    const around = this.boxes.find(
      ({ depth, start, width }) => depth === at.depth - 1 && start <= middle && middle <= start + width
    );
    const to: Record<string, Box | undefined> = {
      ArrowRight: level[level.indexOf(at) + 1],
      ArrowLeft: level[level.indexOf(at) - 1],
      ArrowDown: inside[0],
      ArrowUp: around,
      Home: this.boxes[0]
    };
    if (event.key in to) {
      this._at = (to[event.key] ?? at).id;
      this._draw();
    } else if (event.key === 'Enter' || event.key === ' ') {
      this._at = at.id;
      this._enter(at);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
