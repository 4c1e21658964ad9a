/** The names of the tracks beside the canvas: a tree that the keyboard walks and the pointer reorders. */
import { h } from '../dom';
import type { Row } from './arrangement';
import type { Layout, Place } from './layout';
import type { Span } from './span';
import { isHeading, type Track } from './tracks';
import { trackFact, trackTitle } from './words';

export interface HeaderEvents {
  activate(track: Track): void;
  fold(track: Track, folded: boolean): void;
  pin(track: Track, isPinned: boolean): void;
  drop(track: Track, beside: Track, isAfter: boolean): void;
  menu(track: Track, x: number, y: number): void;
}

const MARGIN_PX = 300;
let trees = 0;

export class Headers {
  readonly node: HTMLElement;
  private readonly _pinned = h('div', { class: 'jp-Timeline-pinned', attrs: { role: 'none' } });
  private readonly _scrolled = h('div', { class: 'jp-Timeline-scrolled', attrs: { role: 'none' } });
  private readonly _prefix = `xprof-nb-track-${trees++}-`;
  private readonly _rows = new Map<Element, Row>();
  private _dragged: Row | null = null;

  constructor(
    label: string,
    private readonly _bounds: Span,
    private readonly _events: HeaderEvents
  ) {
    this.node = h(
      'div',
      { class: 'jp-Timeline-headers', attrs: { role: 'tree', tabindex: 0, 'aria-label': label } },
      this._pinned,
      this._scrolled
    );
    this.node.addEventListener('click', (event) => this._clicked(event));
    this.node.addEventListener('contextmenu', (event) => {
      const row = this._rowOf(event);
      if (row !== undefined) {
        event.preventDefault();
        this._events.menu(row.track, event.clientX, event.clientY);
      }
    });
    this._letDrag();
  }

  /** Take the room of all rows, before they are drawn: else nothing could be scrolled to. */
  reserve(layout: Layout): void {
    this._scrolled.style.height = `${layout.scrolledHeight}px`;
    this._pinned.style.height = `${layout.pinnedHeight}px`;
  }

  /** Draw the rows that can be seen. */
  update(layout: Layout, active: Track | null, scrollTop: number, height: number): void {
    this._rows.clear();
    this._pinned.replaceChildren(...layout.pinned.map((place) => this._row(place, active)));
    const near = layout.scrolled.filter(
      ({ top, height: tall }) => top + tall > scrollTop - MARGIN_PX && top < scrollTop + height + MARGIN_PX
    );
    this._scrolled.replaceChildren(...near.map((place) => this._row(place, active)));
    if (active !== null && this.element(active) !== null) {
      this.node.setAttribute('aria-activedescendant', this._prefix + active.id);
    } else {
      this.node.removeAttribute('aria-activedescendant');
    }
  }

  element(track: Track): HTMLElement | null {
    return this.node.querySelector(`#${this._prefix}${track.id}`);
  }

  private _row({ row, top, height }: Place, active: Track | null): HTMLElement {
    const { track, level, isFolded, isPinned } = row;
    const isActive = track === active;
    const attrs = {
      role: 'treeitem',
      id: this._prefix + track.id,
      draggable: true,
      'aria-level': level,
      'aria-setsize': row.setSize,
      'aria-posinset': row.position,
      'aria-selected': isActive,
      ...(isFolded === null ? {} : { 'aria-expanded': !isFolded })
    };
    const twisty = isFolded === null ? '' : isFolded ? '▸' : '▾';
    const states = [isActive ? 'active' : '', isPinned ? 'pinned' : '', isHeading(track) ? 'heading' : ''];
    const element = h(
      'div',
      {
        class: ['jp-Timeline-header', ...states.filter(Boolean).map((state) => `jp-mod-${state}`)].join(' '),
        title: trackTitle(track, this._bounds),
        attrs,
        data: { trackKind: track.kind }
      },
      h('span', { class: 'jp-Timeline-twisty', attrs: { 'aria-hidden': true } }, twisty),
      h('span', { class: 'jp-Timeline-trackName' }, track.name),
      h('span', { class: 'jp-Timeline-trackFact' }, trackFact(track, this._bounds)),
      track.children.length > 0
        ? null
        : h(
            'span',
            {
              class: 'jp-Timeline-pin',
              title: isPinned ? 'Unpin (p)' : 'Pin to the top (p)',
              attrs: { 'aria-hidden': true }
            },
            isPinned ? '◆' : '◇'
          )
    );
    element.style.top = `${top}px`;
    element.style.height = `${height}px`;
    element.style.setProperty('--xprof-level', String(level - 1));
    this._rows.set(element, row);
    return element;
  }

  private _rowOf(event: Event): Row | undefined {
    const element = event.target instanceof Element ? event.target.closest('[role=treeitem]') : null;
    return element === null ? undefined : this._rows.get(element);
  }

  private _clicked(event: Event): void {
    const row = this._rowOf(event);
    if (row === undefined) {
      return;
    }
    const on = (part: string) => event.target instanceof Element && event.target.closest(part) !== null;
    this._events.activate(row.track);
    if (on('.jp-Timeline-pin')) {
      this._events.pin(row.track, !row.isPinned);
    } else if (row.isFolded !== null) {
      this._events.fold(row.track, !row.isFolded);
    }
  }

  /** Drag a track to another place among its siblings. */
  private _letDrag(): void {
    this.node.addEventListener('dragstart', (event) => {
      this._dragged = this._rowOf(event) ?? null;
      event.dataTransfer?.setData('text/plain', this._dragged?.track.name ?? '');
    });
    this.node.addEventListener('dragover', (event) => {
      const row = this._rowOf(event);
      if (this._dragged !== null && row?.track.parent === this._dragged.track.parent) {
        event.preventDefault();
      }
    });
    this.node.addEventListener('drop', (event) => {
      const row = this._rowOf(event);
      if (this._dragged !== null && row !== undefined && event.target instanceof Element) {
        event.preventDefault();
        const box = event.target.closest('[role=treeitem]')?.getBoundingClientRect();
        const isAfter = box !== undefined && event.clientY > box.top + box.height / 2;
        this._events.drop(this._dragged.track, row.track, isAfter);
      }
      this._dragged = null;
    });
  }
}
