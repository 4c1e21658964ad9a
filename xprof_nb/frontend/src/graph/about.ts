/** What is known of the op that is chosen in the graph, and where one can go from it. */
import { button, h } from '../dom';
import { bytes, count, exact, flops, MISSING, time } from '../format';
import { kindOf } from '../kinds';
import { glyph } from '../shell/legend';
import { isFolded } from './draw';
import type { Op } from './model';

export interface AboutActions {
  /** Go to an op, or to a whole computation. */
  center(name: string): void;
  fold(name: string): void;
  elsewhere(op: Op, view: string): void;
}

const VIEWS = [
  ['op_profile', 'op profile'],
  ['trace', 'timeline'],
  ['roofline', 'roofline']
] as const;

/** The lines below the graph for one op. */
export function aboutOp(op: Op, isOpen: boolean, actions: AboutActions): HTMLElement {
  const kind = kindOf(op.kind);
  return h(
    'div',
    { class: 'jp-XprofGraph-aboutOp' },
    h(
      'div',
      { class: 'jp-XprofGraph-aboutHead' },
      glyph(kind),
      h('strong', {}, op.name),
      h('span', {}, `${op.opcode} ${op.shape}`),
      button('Center', {
        class: 'jp-XprofButton',
        title: 'Show what is around it (Enter)',
        click: () => actions.center(op.name)
      }),
      ...(isFolded(op)
        ? [
            button(isOpen ? 'Collapse' : 'Expand', {
              class: 'jp-XprofButton',
              title: 'What is fused into it (e)',
              click: () => actions.fold(op.name)
            })
          ]
        : op.called.map((name) =>
            button(`Open ${name}`, {
              class: 'jp-XprofButton',
              title: 'The computation it calls (e opens the first); the line above the drawing leads back',
              click: () => actions.center(name)
            })
          )),
      ...VIEWS.map(([view, label]) =>
        button(label, {
          class: 'jp-XprofLink',
          title: `Show it in the ${label}`,
          click: () => actions.elsewhere(op, view)
        })
      )
    ),
    h(
      'dl',
      { class: 'jp-XprofGraph-facts' },
      ...facts(op).map(([name, value, title]) => h('div', {}, h('dt', {}, name), h('dd', { title }, value)))
    ),
    op.hlo === '' ? null : h('pre', { class: 'jp-XprofGraph-hlo', attrs: { tabindex: 0 } }, op.hlo)
  );
}

function facts(op: Op): readonly (readonly [string, string, string])[] {
  const why = 'The profile has no measurement of it: it did not run by itself in the part shown.';
  const number = (value: number, write: (value: number) => string, unit: string) =>
    Number.isNaN(value) ? ([MISSING, why] as const) : ([write(value), exact(value, unit)] as const);
  const known = [
    ['kind', kindOf(op.kind).label, kindOf(op.kind).what],
    ['category', op.category, ''],
    ['self time', ...number(op.self_time_ps, time, 'ps')],
    ['time', ...number(op.time_ps, time, 'ps')],
    ['count', ...number(op.occurrences, count, '')],
    ['bytes', ...number(op.bytes_accessed, bytes, 'B')],
    ['FLOPs', ...number(op.flops, flops, 'FLOP')],
    ['framework op', op.framework, ''],
    ['source', op.source, ''],
    ['computation', op.computation, '']
  ] as const;
  return known.filter(([, value]) => value !== '');
}
