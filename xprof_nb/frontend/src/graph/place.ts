/** The line above the drawing: how much of it there is, where one is, and the way back to the entry of the program. */
import { button, h } from '../dom';
import { count } from '../format';
import type { Where } from './model';

export interface Drawn {
  readonly drawn: number;
  /** Ops of the neighbourhood that had no room. */
  readonly leftOut: number;
  /** Ops of the whole computation; NaN when nobody said. */
  readonly whole: number;
}

/** Its parts; `go` shows an op in the computation that it is in. */
export function placeOf(where: Where, { drawn, leftOut, whole }: Drawn, go: (op: string) => void): Node[] {
  const { computation, callers, way, program } = where;
  const size = Number.isNaN(whole) ? '' : ` (${count(whole)} ops)`;
  const rest =
    leftOut > 0
      ? `; ${count(leftOut)} farther ones are left out: a smaller radius or another op in the middle shows them`
      : '';
  const link = (op: string) =>
    button(op, {
      class: 'jp-XprofLink',
      title: 'Show the op that calls this computation',
      click: () => go(op)
    });
  const others = callers.filter((caller) => caller !== way.at(-1)?.op);
  return [
    h('span', {}, `${count(drawn)} ops drawn${rest}. `),
    h(
      'nav',
      { class: 'jp-XprofGraph-way', attrs: { 'aria-label': 'Where in the program' } },
      h('span', {}, program),
      ...way.flatMap((step) => [` › ${step.computation} › `, link(step.op)]),
      h('span', { attrs: { 'aria-current': 'location' } }, ` › ${computation}${size}`),
      ...others.flatMap((caller, index) => [index === 0 ? ', also called by ' : ', ', link(caller)])
    )
  ];
}
