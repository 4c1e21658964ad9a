/** What stands around the rows of an op profile: the answer in words, the kinds of work there are, why there is nothing. */
import { h } from '../dom';
import { KINDS, kindOf } from '../kinds';
import { legend } from '../shell/legend';
import { emptyBox, notesBox } from '../shell/notes';
import type { OpNode } from '../tree/tree';
import { peaks, sentence } from './sentence';
import type { Grouped } from './session';

export class Facts {
  readonly answer = h('div', { class: 'jp-OpProfile-answer' });
  readonly legend = h('div', { class: 'jp-OpProfile-legend' });
  readonly empty = h('div', { class: 'jp-OpProfile-empty' });

  /** `show` opens the way to a row that the answer names. */
  update({ summary, tree, notes }: Grouped, show: (node: OpNode) => void): void {
    const facts = [peaks(summary), notesBox(notes)].filter((part) => part !== null);
    this.answer.replaceChildren(
      sentence(summary, tree, show),
      h('div', { class: 'jp-OpProfile-facts' }, ...facts)
    );
    const present = new Set(
      [...tree.nodes()].filter((node) => node.kind !== 'root').map((node) => kindOf(node.labels.work_kind).id)
    );
    this.legend.replaceChildren(legend(KINDS.filter((kind) => present.has(kind.id))));
    this.empty.replaceChildren(...(tree.top.length === 0 ? [emptyBox(notes)] : []));
  }
}
