/** What the timeline says besides what it shows: to who listens, to who looks, while it works and when it fails. */
import { h } from '../dom';
import { copyText } from '../shell/save';
import { showFailure, showWaiting, type Waiting } from '../shell/status';

export class Messages {
  /** For who listens rather than looks. */
  readonly live = h('div', { class: 'jp-Timeline-live', attrs: { role: 'status' } });
  readonly status = h('div', { class: 'jp-Timeline-status' });

  announce(words: string): void {
    this.live.textContent = words;
  }

  say(words: string): void {
    this.status.replaceChildren(h('div', { class: 'jp-XprofStatus', attrs: { role: 'status' } }, words));
  }

  wait(what: string, cancel: () => void): Waiting {
    this.status.replaceChildren();
    return showWaiting(this.status, what, cancel);
  }

  fail(error: unknown, retry?: () => void): void {
    this.status.replaceChildren();
    showFailure(this.status, error, retry);
  }

  copy(text: string): void {
    copyText(text).then(
      () => this.say('Copied.'),
      (error: unknown) => this.fail(error)
    );
  }
}
