/** What is in a stretch of time: by name, how often, how long, which share; and how well the devices were used. */
import { type Columns, numberAt, stringAt } from '../columns';
import { button, h } from '../dom';
import { bytes, count, flops, MISSING, percent, time } from '../format';
import type { Answer, Summary } from '../host';
import { kindOf } from '../kinds';
import { number, text } from '../payload';
import type { Cells } from '../shell/delimited';
import { glyph } from '../shell/legend';
import { emptyBox, notesBox } from '../shell/notes';
import { closer, numbers } from './details';
import { clipped } from './words';

export interface SelectionEvents {
  close(): void;
  copy(): void;
  csv(): void;
  python(): void;
  /** Look for the events of one name. */
  search(name: string): void;
}

const COLUMNS: readonly { readonly id: string; readonly label: string; write(value: number): string }[] = [
  { id: 'count', label: 'count', write: count },
  { id: 'total_ps', label: 'total', write: time },
  { id: 'self_ps', label: 'self', write: time },
  { id: 'mean_ps', label: 'mean', write: time },
  { id: 'min_ps', label: 'min', write: time },
  { id: 'max_ps', label: 'max', write: time },
  { id: 'share_fraction', label: 'share', write: percent }
];
const MOST_ROWS = 200;

export function selectionPane(
  title: string,
  events: SelectionEvents
): { readonly pane: HTMLElement; readonly body: HTMLElement } {
  const body = h('div', { class: 'jp-Timeline-selectionBody' });
  const pane = h(
    'section',
    { class: 'jp-Timeline-pane jp-Timeline-selection', attrs: { 'aria-label': title } },
    h(
      'div',
      { class: 'jp-Timeline-paneTitle' },
      h('strong', { class: 'jp-Timeline-paneName' }, title),
      button('copy', { class: 'jp-XprofButton', title: 'Copy as TSV (c)', click: events.copy }),
      button('CSV', { class: 'jp-XprofButton', title: 'Download as CSV', click: events.csv }),
      button('Python', {
        class: 'jp-XprofButton',
        title: 'Copy the Python for this table',
        click: events.python
      }),
      closer(events.close)
    ),
    body
  );
  return { pane, body };
}

export function fillSelection(
  body: HTMLElement,
  { table, summary, notes }: Answer,
  events: SelectionEvents
): void {
  const shown = Math.min(table.rows, MOST_ROWS);
  const rest = table.rows - shown;
  const parts = [
    headline(summary),
    table.rows === 0
      ? emptyBox(notes.length > 0 ? notes : ['Nothing ran on these tracks in this time.'])
      : null,
    table.rows > 0 ? tableOf(table, shown, events) : null,
    rest > 0
      ? h('p', { class: 'jp-Timeline-muted' }, `and ${count(rest)} more names: copy or download all`)
      : null,
    table.rows > 0 ? notesBox(notes) : null
  ];
  body.replaceChildren(...parts.filter((part) => part !== null));
}

/** Every row at full precision, for files. */
export function selectionCells(table: Columns): Cells[] {
  const texts = ['name', 'work_kind', 'kind'];
  const head = [...texts, ...COLUMNS.map(({ id }) => id)];
  const rows = Array.from({ length: table.rows }, (_, row) => [
    ...texts.map((name) => stringAt(table, name, row)),
    ...COLUMNS.map(({ id }) => numberAt(table, id, row))
  ]);
  return [head, ...rows];
}

function headline(summary: Summary): HTMLElement {
  const share = number(summary.utilization_fraction);
  const busy = number(summary.busy_ps);
  const sentence = text(summary.sentence);
  const values = numbers([
    [
      'busy',
      Number.isNaN(share) ? time(busy) : `${time(busy)}, ${percent(share)}`,
      'time in which anything ran, and its share of the window'
    ],
    ['FLOPs', flops(number(summary.flops)), 'of the ops inside'],
    ['bytes', bytes(number(summary.bytes_accessed)), 'accessed by the ops inside'],
    ['HFU', percent(number(summary.flops_utilization)), 'FLOPs over the window, of the peak'],
    ['MFU', percent(number(summary.mfu)), 'the same without ops that compute something again'],
    [
      'exposed collectives',
      time(number(summary.exposed_collective_ps)),
      'time in which only a collective ran'
    ],
    ['ops', count(number(summary.op_count)), 'that begin inside']
  ]);
  return h('div', {}, sentence === '' ? null : h('p', { class: 'jp-Timeline-sentence' }, sentence), values);
}

function tableOf(table: Columns, rows: number, events: SelectionEvents): HTMLElement {
  const present = COLUMNS.filter(({ id }) => table.numbers.has(id));
  const row = (index: number) => {
    const name = stringAt(table, 'name', index) ?? '';
    return h(
      'tr',
      {},
      h(
        'th',
        { attrs: { scope: 'row' }, title: name.slice(0, 1000) },
        glyph(kindOf(stringAt(table, 'work_kind', index))),
        button(clipped(name) || MISSING, {
          class: 'jp-Timeline-nameButton',
          title: 'Look for it in the whole run',
          click: () => events.search(name)
        })
      ),
      h('td', { class: 'jp-Timeline-muted' }, stringAt(table, 'kind', index) ?? ''),
      ...present.map(({ id, write }) => h('td', {}, write(numberAt(table, id, index))))
    );
  };
  return h(
    'div',
    { class: 'jp-Timeline-tableBox', attrs: { tabindex: 0, role: 'region', 'aria-label': 'Events by name' } },
    h(
      'table',
      { class: 'jp-Timeline-table' },
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          h('th', { attrs: { scope: 'col' } }, 'name'),
          h('th', { attrs: { scope: 'col' } }, 'on'),
          ...present.map(({ label }) => h('th', { attrs: { scope: 'col' } }, label))
        )
      ),
      h('tbody', {}, ...Array.from({ length: rows }, (_, index) => row(index)))
    )
  );
}
