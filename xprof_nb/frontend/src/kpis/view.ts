/** Key figures: values of different units, each with what it means and where it comes from. */
import { answerView } from '../shell/answer';
import { unitOf } from '../table/units';

export const mount = answerView({
  label: 'KPIs',
  columns: [
    { name: 'name', width: 220 },
    { name: 'value', width: 120, writer: unitOf },
    { name: 'definition', width: 480 },
    { name: 'source', width: 260 }
  ],
  choiceOf: () => ({})
});
