/** An op profile under test, as a person handles it: drawn, read, keys pressed, typed into. */
import type { Host, Mounted } from '../host';
import { mount } from '../op_profile/view';

let shown: Mounted | null = null;

/** Take away what was drawn: for `afterEach`. */
export function clear(): void {
  shown?.dispose();
  shown = null;
  document.body.replaceChildren();
}

/** Draw an op profile; the one before is taken away. */
export function show(host: Host): HTMLElement {
  const el = document.createElement('div');
  document.body.append(el);
  shown = mount(host, el);
  return el;
}

export const rows = (el: HTMLElement) => [...el.querySelectorAll<HTMLElement>('.jp-XprofTree-row')];
export const named = (el: HTMLElement, name: string) =>
  rows(el).find((row) => row.querySelector('.jp-XprofTree-label')?.textContent === name) as HTMLElement;
export const labels = (el: HTMLElement) =>
  rows(el).map((row) => row.querySelector('.jp-XprofTree-label')?.textContent);

/** Press keys in the table. */
export function press(el: HTMLElement, ...keys: string[]): void {
  const grid = el.querySelector('[role=treegrid]') as HTMLElement;
  for (const key of keys) {
    grid.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  }
}

/** Type into the filter. */
export function type(el: HTMLElement, text: string): void {
  const box = el.querySelector('input[type=search]') as HTMLInputElement;
  box.value = text;
  box.dispatchEvent(new Event('input', { bubbles: true }));
}
