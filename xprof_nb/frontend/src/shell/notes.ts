/** What is missing or estimated in an answer, and why. */
import { h } from '../dom';

/** A disclosure with the notes; null when there are none. */
export function notesBox(notes: readonly string[]): HTMLElement | null {
  if (notes.length === 0) {
    return null;
  }
  const label = notes.length === 1 ? '1 note' : `${notes.length} notes`;
  return h(
    'details',
    { class: 'jp-XprofNotes' },
    h('summary', {}, label),
    h('ul', {}, ...notes.map((note) => h('li', {}, note)))
  );
}

/** What stands where a table would be when it has no rows: why, and what would fill it. */
export function emptyBox(notes: readonly string[]): HTMLElement {
  const reasons = notes.length > 0 ? notes : ['The profile holds no operation that ran on a device.'];
  return h(
    'div',
    { class: 'jp-XprofEmpty', attrs: { role: 'status' } },
    h('strong', {}, 'Nothing to show here'),
    ...reasons.map((reason) => h('p', {}, reason))
  );
}
