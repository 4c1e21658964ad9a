/** A few buttons of which one is pressed: a switch with its label. */
import { button, h } from '../dom';

/** One of the buttons. */
export function choice(label: string, value: string, click: () => void): HTMLButtonElement {
  return button(label, {
    class: 'jp-XprofChoice',
    attrs: { 'aria-pressed': false },
    data: { choice: value },
    click
  });
}

/** The buttons side by side, with a label before them. */
export function choiceGroup(label: string, choices: readonly HTMLElement[]): HTMLElement {
  return h(
    'span',
    { class: 'jp-XprofChoices', attrs: { role: 'group', 'aria-label': label } },
    h('span', { class: 'jp-XprofChoices-label' }, label),
    h('span', { class: 'jp-XprofChoices-box' }, ...choices)
  );
}

/** Press the button of a value. */
export function press(choices: readonly HTMLElement[], value: string): void {
  for (const element of choices) {
    element.setAttribute('aria-pressed', String(element.dataset.choice === value));
  }
}
