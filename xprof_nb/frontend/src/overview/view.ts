/** The overview: how well a run uses its hardware, what bounds it, and where to look next. */
import { answerView } from '../shell/answer';
import { unitOf } from '../table/units';
import { Screen } from './screen';

export const mount = answerView({
  label: 'overview',
  folded: 'All values and what they mean',
  columns: [
    { name: 'name', width: 220 },
    { name: 'value', width: 120, writer: unitOf },
    { name: 'unit', width: 72 },
    { name: 'definition', width: 560 }
  ],
  parts: (frame) => [new Screen(frame)],
  choiceOf: () => ({})
});
