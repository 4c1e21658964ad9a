/** The row of tools above the timeline: search with its hits, filter of the tracks, moves. */
import { button, h } from '../dom';
import { count } from '../format';

export interface ToolbarEvents {
  search(text: string): void;
  hit(by: 1 | -1): void;
  filter(text: string): void;
  zoom(factor: number): void;
  all(): void;
  undo(): void;
  redo(): void;
  mark(): void;
  /** The person is done typing and goes on in the timeline. */
  leave(): void;
}

export class Toolbar {
  readonly node: HTMLElement;
  readonly search = box('search names  ( / )', 'Search names in the whole run');
  readonly tracks = box('filter tracks', 'Filter tracks by a regular expression');
  private readonly _hits = h('span', { class: 'jp-Timeline-hits', attrs: { 'aria-live': 'polite' } });
  private readonly _steps: HTMLElement;
  private readonly _undo: HTMLButtonElement;
  private readonly _redo: HTMLButtonElement;

  constructor(events: ToolbarEvents) {
    this._undo = tool('↶', 'Undo the last move (u)', events.undo);
    this._redo = tool('↷', 'Redo it (U)', events.redo);
    this._steps = h(
      'span',
      { class: 'jp-XprofChoices-box' },
      tool('‹', 'Previous hit (N)', () => events.hit(-1)),
      tool('›', 'Next hit (n)', () => events.hit(1))
    );
    this._steps.hidden = true;
    this._listen(this.search, events.search, (event) => events.hit(event.shiftKey ? -1 : 1), events.leave);
    this._listen(this.tracks, events.filter, events.leave, events.leave);
    this.node = h(
      'div',
      { class: 'jp-Timeline-toolbar' },
      h('span', { class: 'jp-Timeline-search' }, this.search, this._steps, this._hits),
      this.tracks,
      h(
        'span',
        { class: 'jp-Timeline-tools' },
        h(
          'span',
          { class: 'jp-XprofChoices-box' },
          tool('−', 'Zoom out (s)', () => events.zoom(2)),
          tool('+', 'Zoom in (w)', () => events.zoom(0.5)),
          tool('all', 'Show all of the run (0)', events.all)
        ),
        h('span', { class: 'jp-XprofChoices-box' }, this._undo, this._redo),
        tool('marker', 'Put a marker (m)', events.mark)
      )
    );
  }

  /** Say where the search stands; null when nothing is searched for. */
  set hits(state: { readonly index: number; readonly count: number; readonly nameCount: number } | null) {
    this._steps.hidden = state === null || state.count === 0;
    if (state === null) {
      this._hits.textContent = '';
      return;
    }
    const at = Number.isNaN(state.index) ? '' : `${count(state.index)} of `;
    const names = state.nameCount === 1 ? '1 name' : `${count(state.nameCount)} names`;
    this._hits.textContent = state.count === 0 ? 'no hit' : `${at}${count(state.count)} · ${names}`;
  }

  set moves({ canUndo, canRedo }: { readonly canUndo: boolean; readonly canRedo: boolean }) {
    for (const [tool, isUseful] of [
      [this._undo, canUndo],
      [this._redo, canRedo]
    ] as const) {
      if (tool.disabled === isUseful) {
        tool.disabled = !isUseful;
      }
    }
  }

  private _listen(
    input: HTMLInputElement,
    typed: (text: string) => void,
    enter: (event: KeyboardEvent) => void,
    leave: () => void
  ): void {
    input.addEventListener('input', () => typed(input.value));
    input.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && input.value !== '') {
        event.stopPropagation();
        input.value = '';
        typed('');
      } else if (event.key === 'Escape' || event.key === 'ArrowDown') {
        event.preventDefault();
        event.stopPropagation();
        leave();
      } else if (event.key === 'Enter') {
        event.preventDefault();
        event.stopPropagation();
        enter(event);
      }
    });
  }
}

function box(placeholder: string, label: string): HTMLInputElement {
  return h('input', {
    class: 'jp-XprofView-input jp-Timeline-input',
    attrs: { type: 'search', placeholder, 'aria-label': label, spellcheck: false }
  });
}

function tool(label: string, title: string, click: () => void): HTMLButtonElement {
  return button(label, { class: 'jp-XprofChoice', title, attrs: { 'aria-label': title }, click });
}
