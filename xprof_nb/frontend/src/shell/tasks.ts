/** The line where a view says what it is doing and what went wrong; one thing at a time. */
import { h } from '../dom';
import { isAbort } from '../host';
import { showFailure, showWaiting } from './status';

export class Tasks {
  readonly node = h('div', { class: 'jp-XprofTasks' });
  private _task: AbortController | null = null;

  get isBusy(): boolean {
    return this._task !== null;
  }

  /** Do one thing that takes time; a newer one replaces it. */
  run(what: string, work: (signal: AbortSignal) => Promise<void>): void {
    this.cancel();
    const task = new AbortController();
    this._task = task;
    this.node.replaceChildren();
    const waiting = showWaiting(this.node, what, () => task.abort());
    work(task.signal)
      .catch((error: unknown) => {
        if (!isAbort(error)) {
          this.fail(error, () => this.run(what, work));
        }
      })
      .finally(() => {
        waiting.remove();
        if (this._task === task) {
          this._task = null;
        }
      });
  }

  cancel(): void {
    this._task?.abort();
  }

  say(words: string): void {
    this.node.replaceChildren(h('div', { class: 'jp-XprofStatus', attrs: { role: 'status' } }, words));
  }

  fail(error: unknown, retry?: () => void): void {
    this.node.replaceChildren();
    showFailure(this.node, error, retry);
  }
}
