/** Below the roofline: what colours and shapes mean, what is not drawn, and where the roofs come from. */
import { stringAt } from '../columns';
import { h } from '../dom';
import { count, percent } from '../format';
import { KINDS, kindOf } from '../kinds';
import { text } from '../payload';
import type { AnswerFrame } from '../shell/answer';
import { glyph } from '../shell/legend';
import { type Bound, boundsIn, type Placed, type Undrawn, type What } from './points';
import { merged, type Roof, roofText } from './roofs';

/** The lines below the chart. */
export function captionOf(
  { answer: { table, summary } }: AnswerFrame,
  { points, undrawn }: Placed,
  roofs: readonly Roof[],
  level: string
): HTMLElement[] {
  const used = new Set(
    points.filter(({ what }) => what === 'op').map(({ row }) => kindOf(stringAt(table, 'work_kind', row)).id)
  );
  const has = (wanted: What) => points.some(({ what }) => what === wanted);
  const suspicious = points.filter(({ isSuspicious }) => isSuspicious).length;
  return [
    h(
      'div',
      { class: 'jp-XprofLegend', attrs: { role: 'list', 'aria-label': 'What colours and shapes mean' } },
      ...KINDS.filter(({ id }) => used.has(id)).map((kind) =>
        h('span', { title: kind.what, attrs: { role: 'listitem' } }, swatch(kind.id), kind.label)
      ),
      ...boundsIn(table, points).map(shape),
      has('program') ? item('◆', 'whole profile') : null,
      has('step') ? item('○', 'steps') : null,
      has('op') ? item('', 'area: time of an op') : null,
      suspicious > 0 ? item('⚠', `above 105 % of a roof: ${count(suspicious)}`) : null
    ),
    ...undrawn.map((left) => h('div', { class: 'jp-Roofline-undrawn' }, undrawnText(left))),
    roofs.length > 0 ? sources(roofs) : unknownRoofs(text(summary.device_model), level)
  ];
}

function swatch(kind: string): HTMLElement {
  const mark = glyph(kindOf(kind));
  mark.textContent = '▬';
  return mark;
}

function shape({ glyph: mark, label }: Bound): HTMLElement {
  return item(mark, `bound by ${label}`);
}

function item(mark: string, label: string): HTMLElement {
  return h(
    'span',
    { attrs: { role: 'listitem' } },
    mark === '' ? null : h('span', { class: 'jp-XprofGlyph', attrs: { 'aria-hidden': true } }, mark),
    label
  );
}

/** `13 ops without FLOPs are not drawn (41.2 % of device time).` */
export function undrawnText({ why, ops, steps, timeFraction }: Undrawn): string {
  const what = [counted(ops, 'op'), counted(steps, 'step')].filter(Boolean).join(' and ');
  const share = ops > 0 ? ` (${percent(timeFraction)} of device time)` : '';
  return `${what} ${why} ${ops + steps === 1 ? 'is' : 'are'} not drawn${share}.`;
}

function counted(number: number, noun: string): string {
  return number === 0 ? '' : `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
}

function sources(roofs: readonly Roof[]): HTMLElement {
  return h(
    'details',
    { class: 'jp-Roofline-sources' },
    h('summary', {}, 'Roofs and who vouches for them'),
    h(
      'ul',
      {},
      ...merged(roofs).map((roof) =>
        h(
          'li',
          {},
          `${roofText(roof)}${roof.isOther ? ', not used' : ''}: ${roof.source || 'no source given'}`
        )
      )
    )
  );
}

function unknownRoofs(model: string, level: string): HTMLElement {
  const name = JSON.stringify(model || 'cpu');
  const memory = level === '' ? 'hbm' : level;
  return h(
    'div',
    { class: 'jp-Roofline-unknown' },
    `The roofs of ${model || 'this device'} are not known: points stand alone. State them, from its datasheet or a measurement: `,
    h('code', {}, `xprof_nb.hardware(${name}, bf16_flops=…, f32_flops=…, ${memory}_bytes_per_s=…)`)
  );
}
