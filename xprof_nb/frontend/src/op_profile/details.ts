/** The pane beside the table: everything known of the selected row. */
import { button, h } from '../dom';
import { byteRate, bytes, count, flopRate, flops, MISSING, percent, time } from '../format';
import type { Summary } from '../host';
import { kindOf } from '../kinds';
import { number, record, text } from '../payload';
import { glyph } from '../shell/legend';
import { copyText } from '../shell/save';
import { choiceOf, type OpNode } from '../tree/tree';

export interface DetailsEvents {
  close(): void;
  /** Choose the row's op in all views, and show it in this one. */
  open(view: string, node: OpNode): void;
}

/** Where else an op can be seen. */
const ELSEWHERE: readonly (readonly [view: string, label: string])[] = [
  ['trace', 'timeline'],
  ['graph', 'graph'],
  ['roofline', 'roofline'],
  ['buffers', 'buffers']
];

/** The pane for a row; `close` takes it away. The op's own details are put in by `fillOp`. */
export function detailsPane(
  node: OpNode,
  { close, open }: DetailsEvents
): { pane: HTMLElement; op: HTMLElement } {
  const op = h('div', { class: 'jp-OpDetails-op' });
  const pane = h(
    'section',
    { class: 'jp-OpDetails', attrs: { 'aria-label': `Details of ${node.labels.name ?? 'the row'}` } },
    h(
      'div',
      { class: 'jp-OpDetails-title' },
      glyph(kindOf(node.labels.work_kind)),
      h(
        'div',
        { class: 'jp-OpDetails-name' },
        h('strong', {}, node.labels.name ?? MISSING),
        h('span', { class: 'jp-OpDetails-kind' }, kindsOf(node))
      ),
      button('×', {
        class: 'jp-XprofButton jp-OpDetails-close',
        title: 'Close (Esc)',
        attrs: { 'aria-label': 'Close the details' },
        click: close
      })
    ),
    elsewhere(node, open),
    numbers(node),
    op
  );
  return { pane, op };
}

function elsewhere(node: OpNode, open: DetailsEvents['open']): HTMLElement | null {
  if (Object.keys(choiceOf(node)).length === 0) {
    return null;
  }
  const links = ELSEWHERE.map(([view, label]) =>
    button(label, {
      class: 'jp-XprofLink',
      title: `Show it in the ${label}`,
      data: { view },
      click: () => open(view, node)
    })
  );
  return h('div', { class: 'jp-OpDetails-elsewhere' }, h('span', {}, 'see it in'), ...links);
}

/** Whether a row stands for one instruction, which has details of its own. */
export function hasOpDetails(node: OpNode): boolean {
  return (
    (node.kind === 'op' || node.kind === 'fused') &&
    node.labels.op !== null &&
    node.labels.program_id !== null
  );
}

/** Draw what the query `op_details` says of an op. */
export function fillOp(el: HTMLElement, details: Summary): void {
  el.replaceChildren(
    definitions([
      ['source', source(details)],
      ['framework op', code(text(details.framework_op))],
      ['program', programOf(details)],
      ['opcode', code(text(details.opcode))],
      ['result', code(text(details.shape))],
      ['operands', operands(details)]
    ]),
    ...hloText(text(details.hlo_text)),
    ...fusedTable(details)
  );
}

function kindsOf(node: OpNode): string {
  const kind = kindOf(node.labels.work_kind).label;
  const category = node.labels.category;
  return category && category !== kind && category !== node.labels.name ? `${kind} · ${category}` : kind;
}

/** Every measure of the row, those without a column at this width too. */
function numbers({ measures, labels }: OpNode): HTMLElement {
  const each = measures.time_ps / measures.occurrences;
  const share = measures.time_fraction;
  return h(
    'dl',
    { class: 'jp-OpDetails-numbers' },
    ...[
      fact('time', time(measures.time_ps)),
      fact(
        'self time',
        time(measures.self_time_ps),
        Number.isFinite(share) ? `${percent(share)} of all time` : ''
      ),
      fact(
        'occurrences',
        count(measures.occurrences),
        measures.occurrences > 1 && Number.isFinite(each) ? `${time(each)} each` : ''
      ),
      fact('FLOPs', flops(measures.flops)),
      fact('FLOP/s', flopRate(measures.flops_per_s), ofPeak(measures.flops_utilization)),
      fact('bytes accessed', bytes(measures.bytes_accessed)),
      fact('bandwidth', byteRate(measures.hbm_bytes_per_s), ofPeak(measures.hbm_utilization)),
      fact('bound by', labels.bound_by ?? MISSING),
      fact(
        'wasted',
        percent(measures.wasted_fraction),
        Number.isFinite(measures.wasted_fraction) ? 'of all time' : ''
      ),
      ...(Number.isFinite(measures.step_fraction)
        ? [fact('per step', time(measures.time_per_step_ps), `${percent(measures.step_fraction)} of a step`)]
        : []),
      ...(measures.device_max_time_ps > 0
        ? [
            fact(
              'slowest device',
              labels.slowest_device ?? MISSING,
              `${time(measures.device_max_time_ps)}, mean ${time(measures.device_mean_time_ps)}`
            )
          ]
        : [])
    ]
  );
}

function fact(name: string, value: string, extra = ''): HTMLElement {
  const more = extra ? h('span', { class: 'jp-XprofTree-extra' }, extra) : null;
  return h('div', {}, h('dt', {}, name), h('dd', {}, value, more));
}

function ofPeak(utilization: number): string {
  return Number.isFinite(utilization) ? `${percent(utilization)} of peak` : '';
}

/** A list of facts without those that are not known. */
function definitions(entries: readonly (readonly [string, HTMLElement | null])[]): HTMLElement {
  return h(
    'dl',
    { class: 'jp-OpDetails-facts' },
    ...entries.flatMap(([name, value]) => (value === null ? [] : [h('dt', {}, name), h('dd', {}, value)]))
  );
}

function code(value: string): HTMLElement | null {
  return value ? h('code', {}, value) : null;
}

/** Where the op was written: the notebook's cell with the text of its line, else file and line. */
function source(details: Summary): HTMLElement | null {
  const cell = text(details.cell);
  const file = text(details.source);
  const line = text(details.cell_source);
  if (!cell && !file) {
    return null;
  }
  return h(
    'span',
    { title: file },
    h('span', { class: 'jp-OpDetails-where' }, cell || file),
    line ? h('code', { class: 'jp-OpDetails-line' }, line.trim()) : null
  );
}

function programOf(details: Summary): HTMLElement | null {
  const name = text(details.program);
  return name ? h('span', { title: `program id ${text(details.program_id)}` }, name) : null;
}

function operands(details: Summary): HTMLElement | null {
  const list = objects(details.operands);
  if (list.length === 0) {
    return null;
  }
  return h(
    'ul',
    {},
    ...list.map((operand) =>
      h(
        'li',
        {},
        h('code', {}, text(operand.shape) || MISSING),
        ' ',
        h('code', { class: 'jp-OpDetails-muted' }, text(operand.name))
      )
    )
  );
}

function hloText(hlo: string): HTMLElement[] {
  if (!hlo) {
    return [];
  }
  const block = h(
    'pre',
    { class: 'jp-OpDetails-hlo', attrs: { tabindex: 0, 'aria-label': 'HLO text' } },
    hlo
  );
  const copy = button('Copy', {
    class: 'jp-XprofButton',
    title: 'Copy the HLO text',
    click: () => {
      copyText(hlo).then(
        () => said(copy, 'Copied'),
        () => said(copy, 'Not allowed')
      );
    }
  });
  const wrap = h('input', { attrs: { type: 'checkbox' } });
  wrap.checked = true;
  wrap.addEventListener('change', () => block.classList.toggle('jp-mod-scroll', !wrap.checked));
  const bar = h(
    'div',
    { class: 'jp-OpDetails-bar' },
    h('span', {}, 'HLO'),
    h('label', {}, wrap, 'wrap'),
    copy
  );
  return [bar, block];
}

function fusedTable(details: Summary): HTMLElement[] {
  const list = objects(details.fused);
  if (list.length === 0) {
    return [];
  }
  const head = ['instruction', 'opcode', 'shape', 'FLOPs'].map((name) =>
    h('th', { attrs: { scope: 'col' } }, name)
  );
  const rows = list.map((item) =>
    h(
      'tr',
      {},
      h('th', { attrs: { scope: 'row' } }, h('code', {}, text(item.name))),
      h('td', {}, text(item.opcode)),
      h('td', {}, h('code', {}, text(item.shape))),
      h('td', { class: 'jp-mod-right' }, flops(number(item.flops)))
    )
  );
  const bar = h(
    'div',
    { class: 'jp-OpDetails-bar' },
    h('span', {}, `Fused instructions (${count(list.length)})`)
  );
  const table = h(
    'table',
    { class: 'jp-OpDetails-fused' },
    h('thead', {}, h('tr', {}, ...head)),
    h('tbody', {}, ...rows)
  );
  return [bar, h('div', { class: 'jp-OpDetails-scroll', attrs: { tabindex: 0 } }, table)];
}

function objects(value: unknown): ReturnType<typeof record>[] {
  return Array.isArray(value) ? value.map(record) : [];
}

function said(element: HTMLElement, word: string): void {
  const before = element.textContent;
  element.textContent = word;
  setTimeout(() => {
    element.textContent = before;
  }, 1500);
}
