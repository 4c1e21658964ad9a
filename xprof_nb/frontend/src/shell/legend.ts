/** The kinds of work a view shows: colour, shape, word. */
import { h } from '../dom';
import type { Kind } from '../kinds';

export function legend(kinds: readonly Kind[]): HTMLElement {
  return h(
    'div',
    { class: 'jp-XprofLegend', attrs: { role: 'list', 'aria-label': 'Kinds of work' } },
    ...kinds.map((kind) =>
      h('span', { title: kind.what, attrs: { role: 'listitem' } }, glyph(kind), kind.label)
    )
  );
}

/** The coloured shape of a kind. */
export function glyph(kind: Kind): HTMLElement {
  return h(
    'span',
    { class: 'jp-XprofGlyph', attrs: { 'aria-hidden': true }, data: { kind: kind.id } },
    kind.shape
  );
}
