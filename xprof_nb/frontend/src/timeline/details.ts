/** All that is known of one event, and the ways from it to where it is explained. */
import type { Json } from '../columns';
import { button, h } from '../dom';
import { bytes, exact, flopRate, flops, percent, time } from '../format';
import type { Summary } from '../host';
import { kindOf } from '../kinds';
import { number, record, text } from '../payload';
import { glyph } from '../shell/legend';
import type { Picked } from './picking';
import { moment } from './ticks';
import { pathOf, type Track } from './tracks';
import { clipped } from './words';

export interface DetailsEvents {
  close(): void;
  zoom(): void;
  /** Go to another event: the one around it, its producer or consumer. */
  go(target: Summary): void;
  /** Show it in another view of the run. */
  show(view: string): void;
}

const VIEWS = [
  { id: 'op_profile', label: 'op profile' },
  { id: 'graph', label: 'graph' },
  { id: 'roofline', label: 'roofline' },
  { id: 'buffers', label: 'buffers' }
];
const MOST_FLOWS = 12;

/** The pane with what the box itself says; `more` is filled when the answer is there. */
export function detailsPane(
  picked: Picked,
  track: Track,
  events: DetailsEvents
): { readonly pane: HTMLElement; readonly more: HTMLElement } {
  const kind = kindOf(picked.kind);
  const more = h('div', { class: 'jp-Timeline-more' });
  const name = clipped(picked.name) || track.name;
  const pane = h(
    'section',
    { class: 'jp-Timeline-pane jp-Timeline-details', attrs: { 'aria-label': `Details of ${name}` } },
    h(
      'div',
      { class: 'jp-Timeline-paneTitle' },
      h('span', { class: 'jp-Timeline-paneName' }, glyph(kind), h('strong', {}, name)),
      button('zoom', { class: 'jp-XprofButton', title: 'Zoom to it (f)', click: events.zoom }),
      closer(events.close)
    ),
    numbers([
      ['duration', time(picked.end - picked.start), exact(picked.end - picked.start, 'ps')],
      ['start', moment(picked.start, 1000), exact(picked.start, 'ps after the begin of the profile')],
      ['kind', kind.label, kind.what],
      ['track', track.name, pathOf(track)],
      ...(picked.count > 1
        ? ([
            ['events', String(picked.count), 'They are too short to be drawn one by one: zoom in.'],
            ['busy', percent(picked.busyShare), 'of the time from the first to the last']
          ] as const)
        : [])
    ]),
    more
  );
  return { pane, more };
}

/** What the profile says about the event. */
export function fillDetails(more: HTMLElement, summary: Summary, events: DetailsEvents): void {
  const parent = record(summary.parent);
  const flows = Array.isArray(summary.flows) ? summary.flows.slice(0, MOST_FLOWS).map(record) : [];
  const hasOp = text(summary.op) !== '';
  more.replaceChildren(
    ...[
      numbers([
        ['self time', time(number(summary.self_time_ps)), exact(number(summary.self_time_ps), 'ps')],
        ['FLOPs', flops(number(summary.flops)), exact(number(summary.flops), 'FLOP')],
        ['bytes', bytes(number(summary.bytes_accessed)), exact(number(summary.bytes_accessed), 'B')],
        ['rate', rate(summary), 'FLOPs over the duration, and its share of the peak']
      ]),
      hasOp
        ? h(
            'div',
            { class: 'jp-Timeline-links' },
            h('span', {}, 'show in'),
            ...VIEWS.map(({ id, label }) =>
              button(label, { class: 'jp-XprofLink', click: () => events.show(id) })
            )
          )
        : null,
      facts([
        ['op', text(summary.op)],
        ['program', programOf(summary)],
        ['framework op', text(summary.framework_op)],
        ['source', text(summary.source)],
        ['category', text(summary.category)],
        ['host', text(summary.host)],
        ['device', text(summary.device)],
        [
          'inside',
          text(parent.name) === ''
            ? ''
            : link(text(parent.name), () => events.go({ track: summary.track, ...parent }))
        ],
        ['children', number(summary.children_count) > 0 ? exact(number(summary.children_count), '') : '']
      ]),
      flows.length === 0
        ? null
        : h(
            'div',
            { class: 'jp-Timeline-flows' },
            h('div', { class: 'jp-Timeline-muted' }, 'caused by and causes'),
            ...flows.map((flow) =>
              h(
                'div',
                {},
                flow.direction === 'in' ? '← ' : '→ ',
                link(text(flow.name) || 'event', () => events.go(flow)),
                ` at ${moment(number(flow.start_ps), 1000)}`
              )
            )
          ),
      statsOf(record(summary.stats))
    ].filter((part) => part !== null)
  );
}

function rate(summary: Summary): string {
  const share = number(summary.flops_utilization);
  const achieved = flopRate(number(summary.flops_per_s));
  return Number.isNaN(share) ? achieved : `${achieved}, ${percent(share)}`;
}

function programOf(summary: Summary): string {
  const [name, id] = [text(summary.program), text(summary.program_id)];
  return name && id && !name.includes(id) ? `${name} (${id})` : name || id;
}

function statsOf(stats: { readonly [name: string]: Json | undefined }): HTMLElement | null {
  const entries = Object.entries(stats);
  return entries.length === 0
    ? null
    : h(
        'details',
        { class: 'jp-Timeline-stats' },
        h('summary', {}, entries.length === 1 ? '1 recorded value' : `${entries.length} recorded values`),
        facts(
          entries.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)])
        )
      );
}

/** Numbers side by side; those that are missing are left out. */
export function numbers(list: readonly (readonly [string, string, string])[]): HTMLElement {
  return h(
    'dl',
    { class: 'jp-Timeline-numbers' },
    ...list
      .filter(([, value]) => value !== '–' && value !== '')
      .map(([label, value, title]) => h('div', { title }, h('dt', {}, label), h('dd', {}, value)))
  );
}

function facts(list: readonly (readonly [string, string | HTMLElement])[]): HTMLElement {
  return h(
    'dl',
    { class: 'jp-Timeline-facts' },
    ...list
      .filter(([, value]) => value !== '')
      .flatMap(([label, value]) => [h('dt', {}, label), h('dd', {}, value)])
  );
}

function link(label: string, click: () => void): HTMLElement {
  return button(clipped(label), { class: 'jp-XprofLink', click });
}

export function closer(click: () => void): HTMLElement {
  return button('✕', {
    class: 'jp-XprofButton',
    title: 'Close (Esc)',
    attrs: { 'aria-label': 'Close' },
    click
  });
}
