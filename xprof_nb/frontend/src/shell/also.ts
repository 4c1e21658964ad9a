/** The answers to other questions that a view draws too: saved with it, or asked for while it is on screen. */
import { type Answer, asHostError, isAbort } from '../host';
import { record, savedAnswer } from '../payload';
import type { AnswerFrame } from './answer';

export class Also {
  private readonly _answers = new Map<string, Answer>();
  private readonly _failures = new Map<string, string>();
  private _of: Answer | null = null;
  private _task: AbortController | null = null;

  /** `changed` is told when an answer has come, or that none will. */
  constructor(
    private readonly _frame: AnswerFrame,
    private readonly _questions: readonly string[],
    private readonly _changed: () => void
  ) {}

  /** The answer to a question; null as long as it is not there. */
  answer(question: string): Answer | null {
    return this._answers.get(question) ?? null;
  }

  /** Why there is no answer and what can be done; empty as long as one may come. */
  failure(question: string): string {
    return this._failures.get(question) ?? '';
  }

  /** Ask for the same part of the run as the answer shown, if that is another one than before. */
  update(): void {
    const { answer, host } = this._frame;
    if (answer === this._of) {
      return;
    }
    this._of = answer;
    this._task?.abort();
    this._task = new AbortController();
    this._answers.clear();
    this._failures.clear();
    const saved = answer === host.snapshot ? record(host.snapshot.extra.answers) : {};
    for (const question of this._questions) {
      if (saved[question] === undefined) {
        void this._ask(question, this._task.signal);
      } else {
        this._answers.set(question, savedAnswer(saved[question]));
      }
    }
  }

  dispose(): void {
    this._task?.abort();
  }

  private async _ask(question: string, signal: AbortSignal): Promise<void> {
    try {
      const { compat: _, ...params } = this._frame.params;
      this._answers.set(question, await this._frame.host.request(question, params, signal));
    } catch (error) {
      if (isAbort(error)) {
        return;
      }
      const { message, hint } = asHostError(error);
      this._failures.set(question, [message, hint].filter(Boolean).join(' '));
    }
    if (!signal.aborted) {
      this._changed();
    }
  }
}
