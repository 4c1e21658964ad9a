/** What another question said, or why it has said nothing. */
import { MISSING } from '../format';
import type { Answer } from '../host';
import { text } from '../payload';

export interface Heard {
  readonly answer: Answer | null;
  readonly failure: string;
}

export function isAwaited({ answer, failure }: Heard): boolean {
  return answer === null && failure === '';
}

/** Why a number of an answer is missing, in its own words. */
export function reasonOf(answer: Answer | null): string {
  return answer === null ? 'asking' : text(answer.summary.sentence) || answer.notes[0] || MISSING;
}
