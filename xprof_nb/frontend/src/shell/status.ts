/** What a view says while it waits and when it fails, in the place where the answer would be. */
import { adoptStyle, button, h } from '../dom';
import { asHostError } from '../host';
import style from '../style/shell.css?inline';

const SHOW_SECONDS_AFTER = 2;

export interface Waiting {
  /** Say how far it is. */
  say(what: string): void;
  remove(): void;
}

/** Say what is being waited for and, when it takes long, for how long; with a way out if there is one. */
export function showWaiting(el: HTMLElement, what: string, cancel?: () => void): Waiting {
  adoptStyle(el, style);
  const elapsed = h('span', { class: 'jp-XprofStatus-elapsed' });
  const words = h('span', {}, `${what}…`);
  const box = h(
    'div',
    { class: 'jp-XprofStatus jp-mod-waiting', attrs: { role: 'status' } },
    h('span', { class: 'jp-XprofStatus-spinner', attrs: { 'aria-hidden': true } }),
    words,
    elapsed,
    cancel ? button('Cancel', { class: 'jp-XprofButton', click: cancel }) : null
  );
  const started = Date.now();
  const timer = setInterval(() => {
    const seconds = Math.round((Date.now() - started) / 1000);
    elapsed.textContent = seconds >= SHOW_SECONDS_AFTER ? `${seconds}\u00a0s` : '';
  }, 500);
  el.append(box);
  return {
    say: (more) => {
      words.textContent = `${more}…`;
    },
    remove: () => {
      clearInterval(timer);
      box.remove();
    }
  };
}

/** Say what went wrong and what to do next. */
export function showFailure(el: HTMLElement, error: unknown, retry?: () => void): HTMLElement {
  adoptStyle(el, style);
  const { message, hint } = asHostError(error);
  const box = h(
    'div',
    { class: 'jp-XprofStatus jp-mod-error', attrs: { role: 'alert' } },
    h('span', { class: 'jp-XprofStatus-mark', attrs: { 'aria-hidden': true } }, '⚠'),
    h('span', {}, message, hint ? ` ${hint}` : null),
    retry ? button('Try again', { class: 'jp-XprofButton', click: retry }) : null
  );
  el.append(box);
  return box;
}
