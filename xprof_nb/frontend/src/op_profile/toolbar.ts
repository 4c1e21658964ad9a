/** The row of choices above the table: grouping, order, filter. */
import { h } from '../dom';
import { choice, choiceGroup, press } from '../shell/choices';
import type { Measure } from '../tree/tree';

export const GROUPINGS = ['program', 'category', 'framework', 'source'] as const;
export type Grouping = (typeof GROUPINGS)[number];

const SORTS: readonly { readonly label: string; readonly by: Measure }[] = [
  { label: 'time', by: 'time_fraction' },
  { label: 'wasted', by: 'wasted_fraction' },
  { label: 'flops', by: 'flops_per_s' }
];

export interface ToolbarEvents {
  group(by: Grouping): void;
  sort(by: Measure): void;
  filter(text: string): void;
  /** The person is done typing and goes on in the table. */
  leaveFilter(): void;
}

export interface ToolbarState {
  readonly by: string;
  readonly sort: string;
  readonly counted: string;
  /** Why the grouping cannot change; empty when it can. */
  readonly fixedBecause: string;
}

export class Toolbar {
  readonly node: HTMLElement;
  readonly filter = h('input', {
    class: 'jp-XprofView-input jp-OpProfile-filter',
    attrs: { type: 'search', placeholder: 'filter  ( / )', 'aria-label': 'Filter ops', spellcheck: false }
  });
  private readonly _groupings: HTMLButtonElement[];
  private readonly _sorts: HTMLButtonElement[];
  private readonly _count = h('span', { class: 'jp-OpProfile-count', attrs: { 'aria-live': 'polite' } });

  constructor(events: ToolbarEvents) {
    this._groupings = GROUPINGS.map((by) => choice(by, by, () => events.group(by)));
    this._sorts = SORTS.map(({ label, by }) => choice(label, by, () => events.sort(by)));
    this.filter.addEventListener('input', () => events.filter(this.filter.value));
    this.filter.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && this.filter.value !== '') {
        event.stopPropagation();
        this.filter.value = '';
        events.filter('');
      } else if (event.key === 'Escape' || event.key === 'ArrowDown' || event.key === 'Enter') {
        event.preventDefault();
        event.stopPropagation();
        events.leaveFilter();
      }
    });
    this.node = h(
      'div',
      { class: 'jp-OpProfile-toolbar' },
      choiceGroup('by', this._groupings),
      choiceGroup('sort', this._sorts),
      this.filter,
      this._count
    );
  }

  update({ by, sort, counted, fixedBecause }: ToolbarState): void {
    this._count.textContent = counted;
    press(this._sorts, sort);
    for (const element of this._groupings) {
      const chosen = element.dataset.choice === by;
      const unavailable = !chosen && fixedBecause !== '';
      element.setAttribute('aria-pressed', String(chosen));
      element.setAttribute('aria-disabled', String(unavailable));
      element.title = unavailable ? fixedBecause : '';
    }
  }
}
