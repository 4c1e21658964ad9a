/** Below the roofline: what colours and shapes mean, what is not drawn, and where the roofs come from. */
import { h } from '../dom';
import { count, percent } from '../format';
import { text } from '../payload';
import type { AnswerFrame } from '../shell/answer';
import { boundsIn, kindsIn, PROGRAM, STEP, shapeOf } from './looks';
import type { Placed, Undrawn, What } from './points';
import { merged, type Roof, roofText } from './roofs';

/** The lines below the chart. */
export function captionOf(
  { answer: { table, summary } }: AnswerFrame,
  { points, undrawn }: Placed,
  roofs: readonly Roof[],
  level: string
): HTMLElement[] {
  const has = (wanted: What) => points.some(({ what }) => what === wanted);
  const suspicious = points.filter(({ isSuspicious }) => isSuspicious).length;
  return [
    h(
      'div',
      { class: 'jp-XprofLegend', attrs: { role: 'list', 'aria-label': 'What colours and shapes mean' } },
      ...boundsIn(table, points).map(({ label, colour }) =>
        item('●', colour === null ? 'bound not known' : `bound by ${label}`, colour)
      ),
      ...kindsIn(table, points).map((kind) => item(shapeOf(kind).glyph, kind.label, null, kind.what)),
      has('program') ? item(PROGRAM.glyph, 'whole profile') : null,
      has('step') ? item(STEP.glyph, 'steps') : null,
      has('op') ? item('', 'area: time of an op') : null,
      suspicious > 0 ? item('⚠', `above 105 % of a roof: ${count(suspicious)}`) : null
    ),
    ...undrawn.map((left) => h('div', { class: 'jp-Roofline-undrawn' }, undrawnText(left))),
    roofs.length > 0 ? sources(roofs) : unknownRoofs(text(summary.device_model), level)
  ];
}

/** A mark and what it means; in the colour of a kind of work where it is about a colour. */
function item(mark: string, label: string, colour: string | null = null, title = ''): HTMLElement {
  const data: Record<string, string> = colour === null ? {} : { kind: colour };
  return h(
    'span',
    { title, attrs: { role: 'listitem' } },
    mark === '' ? null : h('span', { class: 'jp-XprofGlyph', attrs: { 'aria-hidden': true }, data }, mark),
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
