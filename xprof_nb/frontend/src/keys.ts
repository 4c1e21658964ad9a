/** Keys: one table per view says what each does, and is what `?` lists. */
import { button, h } from './dom';

export interface KeyBinding {
  /** `event.key` values that trigger it. */
  readonly keys: readonly string[];
  /** How the keys are written in the list. */
  readonly label: string;
  readonly what: string;
  run(event: KeyboardEvent): void;
}

/** Run the binding of a key press, if there is one; returns whether there was. */
export function dispatchKey(event: KeyboardEvent, bindings: readonly KeyBinding[]): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) {
    return false;
  }
  const binding = bindings.find((candidate) => candidate.keys.includes(event.key));
  if (binding === undefined) {
    return false;
  }
  event.preventDefault();
  binding.run(event);
  return true;
}

/** Whether a key press belongs to a text box. */
export function isTyping(event: KeyboardEvent): boolean {
  return event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
}

/** The list that `?` shows. */
export function keyList(bindings: readonly KeyBinding[], close: () => void): HTMLElement {
  return h(
    'div',
    { class: 'jp-XprofKeys', attrs: { role: 'dialog', 'aria-label': 'Keys' } },
    h('strong', {}, 'Keys'),
    h(
      'dl',
      {},
      ...bindings.flatMap(({ label, what }) => [h('dt', {}, h('kbd', {}, label)), h('dd', {}, what)])
    ),
    button('Close', { class: 'jp-XprofButton', click: close })
  );
}
