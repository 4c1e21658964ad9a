/** The table of kinds: time hidden and exposed, payload, and bandwidth against the peak of the link. */
import { h } from '../dom';
import { byteRate, bytes, count, exact, percent, time, utilization } from '../format';
import { kindOf } from '../kinds';
import { glyph } from '../shell/legend';
import type { LinkPeak, MovingKind } from './kinds';

const HEADS: readonly (readonly [string, string])[] = [
  ['kind', 'What moved data'],
  ['count', 'Occurrences, on all devices together'],
  ['time', 'From start to done, of all occurrences on all devices'],
  ['exposed', 'Time in which it moved data and no op of the device computed; overlapping ones count once'],
  ['exposed a step', 'Mean over whole steps and devices'],
  ['payload', 'As nccl-tests counts it, of all occurrences'],
  ['algorithm', 'Payload over time'],
  ['bus', 'Algorithm bandwidth times the traffic that each link carries for it']
];

/** A table of the kinds, drawn anew. */
export function kindTable(kinds: readonly MovingKind[], peak: LinkPeak): HTMLElement {
  const most = Math.max(...kinds.map(({ bus_bytes_per_s }) => bus_bytes_per_s || 0), peak.bytes_per_s || 0);
  return h(
    'table',
    { class: 'jp-XprofBarTable jp-Collectives-kinds', attrs: { 'aria-label': 'Communication by kind' } },
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        ...HEADS.map(([head, title], at) =>
          h('th', { class: at > 0 ? 'jp-mod-number' : '', title, attrs: { scope: 'col' } }, head)
        )
      )
    ),
    h('tbody', {}, ...kinds.map((kind) => row(kind, peak, most)))
  );
}

function row(kind: MovingKind, peak: LinkPeak, most: number): HTMLElement {
  const isExposed = kind.exposedFraction > 0;
  return h(
    'tr',
    { data: { kind: kind.work, moving: kind.kind } },
    h('th', { attrs: { scope: 'row' } }, glyph(kindOf(kind.work)), kind.kind),
    number(count(kind.occurrences)),
    number(time(kind.time_ps), exact(kind.time_ps, 'ps')),
    withBar(
      `${time(kind.exposed_ps)}${isExposed ? `, ${percent(kind.exposedFraction)}` : ''}`,
      exact(kind.exposed_ps, 'ps'),
      kind.exposedFraction
    ),
    number(time(kind.exposedPerStep_ps), exact(kind.exposedPerStep_ps, 'ps')),
    number(bytes(kind.payload_bytes), exact(kind.payload_bytes, 'B')),
    number(byteRate(kind.algorithm_bytes_per_s), exact(kind.algorithm_bytes_per_s, 'B/s')),
    bus(kind, peak, most)
  );
}

function bus(kind: MovingKind, peak: LinkPeak, most: number): HTMLElement {
  const isKnown = kind.linkUtilization >= 0;
  const cell = withBar(
    `${byteRate(kind.bus_bytes_per_s)}${isKnown ? `, ${utilization(kind.linkUtilization)}` : ''}`,
    [
      exact(kind.bus_bytes_per_s, 'B/s'),
      isKnown ? `of ${byteRate(peak.bytes_per_s)} (${peak.label}): ${peak.source}` : ''
    ]
      .filter(Boolean)
      .join(' '),
    kind.bus_bytes_per_s / most
  );
  if (isKnown) {
    const mark = h('span', { class: 'jp-Collectives-peak', attrs: { 'aria-hidden': true } });
    mark.style.left = `${(100 * peak.bytes_per_s) / most}%`;
    cell.append(mark);
  }
  return cell;
}

function withBar(words: string, title: string, fraction: number): HTMLElement {
  const bar = h('span', { class: 'jp-XprofBarTable-bar', attrs: { 'aria-hidden': true } });
  bar.style.width = `${100 * Math.min(fraction || 0, 1)}%`;
  return h('td', { class: 'jp-mod-number', title }, bar, h('span', {}, words));
}

function number(words: string, title = ''): HTMLElement {
  return h('td', { class: 'jp-mod-number', title }, words);
}
