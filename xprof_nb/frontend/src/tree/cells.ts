/** Drawing the cells of one row. */
import { h } from '../dom';
import { MISSING } from '../format';
import { kindOf, shade } from '../kinds';
import { glyph } from '../shell/legend';
import type { Field } from './fields';
import type { NodeRow } from './rows';
import type { OpNode } from './tree';

/** The element of one cell; `terms` are highlighted wherever a name shows them. */
export function drawCell(field: Field, row: NodeRow, terms: readonly string[]): HTMLElement {
  if (field.id === 'name') {
    return nameCell(row, terms);
  }
  if (field.id === 'share') {
    return shareCell(row, field);
  }
  if (field.id === 'devices') {
    return devicesCell(row, field);
  }
  const { text, extra, suspicious } = field.cell(row.node);
  const cell = h(
    'div',
    {
      class: `jp-XprofTree-cell jp-mod-${field.align}`,
      attrs: { role: 'gridcell' },
      data: { field: field.id }
    },
    ...(field.align === 'left'
      ? highlighted(text, terms)
      : [h('span', { class: 'jp-XprofTree-value' }, text)])
  );
  if (text === MISSING) {
    cell.classList.add('jp-mod-missing');
  }
  if (extra !== undefined) {
    cell.append(
      h(
        'span',
        { class: suspicious ? 'jp-XprofTree-extra jp-mod-suspicious' : 'jp-XprofTree-extra' },
        suspicious ? `⚠ ${extra}` : extra
      )
    );
  }
  return cell;
}

/** A text with the parts that match the filter marked. */
export function highlighted(text: string, terms: readonly string[]): (Node | string)[] {
  if (terms.length === 0) {
    return [text];
  }
  const pattern = new RegExp(`(${terms.map(escaped).join('|')})`, 'gi');
  return text
    .split(pattern)
    .map((part, index) => (index % 2 === 1 ? h('mark', {}, part) : part))
    .filter((part) => part !== '');
}

function nameCell(row: NodeRow, terms: readonly string[]): HTMLElement {
  const { labels, kind } = row.node;
  const twisty = row.expanded === null ? '' : row.expanded ? '▾' : '▸';
  const name = labels.name ?? MISSING;
  const source = kind === 'op' && labels.source ? fileAndLine(labels.source) : duplicates(row.node);
  const cell = h(
    'div',
    { class: 'jp-XprofTree-cell jp-XprofTree-name', attrs: { role: 'rowheader' }, data: { field: 'name' } },
    h('span', { class: 'jp-XprofTree-twisty', attrs: { 'aria-hidden': true } }, twisty),
    glyph(kindOf(labels.work_kind)),
    h(
      'span',
      { class: 'jp-XprofTree-words' },
      h('span', { class: 'jp-XprofTree-label' }, ...highlighted(name, terms)),
      source === null ? null : h('span', { class: 'jp-XprofTree-source' }, ...highlighted(source, terms))
    )
  );
  cell.style.setProperty('--xprof-level', String(row.level - 1));
  return cell;
}

/** How many ops a row of duplicates stands for. */
function duplicates({ kind, childrenTotal }: OpNode): string | null {
  return kind === 'group' && childrenTotal > 1 ? `${childrenTotal} ops of the same HLO` : null;
}

/** A source without its folders, which the tooltip and the details have. */
function fileAndLine(source: string): string {
  return source.split('/').pop() || source;
}

function shareCell(row: NodeRow, field: Field): HTMLElement {
  const { measures, labels, kind } = row.node;
  const fraction = measures.time_fraction;
  const bar = h('span', { class: 'jp-XprofTree-bar', data: { kind: kindOf(labels.work_kind).id } });
  if (fraction > 0) {
    bar.style.width = `${Math.min(1, fraction) * 100}%`;
    bar.style.minWidth = '1px';
  }
  if (kind === 'op' || kind === 'fused') {
    bar.style.setProperty('--xprof-shade', `${shade(labels.name ?? '')}%`);
  }
  return h(
    'div',
    { class: 'jp-XprofTree-cell jp-XprofTree-share', attrs: { role: 'gridcell' }, data: { field: 'share' } },
    h('span', { class: 'jp-XprofTree-track', attrs: { 'aria-hidden': true } }, bar),
    h('span', { class: 'jp-XprofTree-percent' }, field.cell(row.node).text)
  );
}

/** From the fastest device to the slowest, on a scale from 0, with the mean marked; and how far above it the slowest is. */
function devicesCell(row: NodeRow, field: Field): HTMLElement {
  const {
    device_min_time_ps: least,
    device_mean_time_ps: mean,
    device_max_time_ps: most
  } = row.node.measures;
  const cell = h(
    'div',
    {
      class: 'jp-XprofTree-cell jp-XprofTree-devices',
      attrs: { role: 'gridcell' },
      data: { field: 'devices' }
    },
    h('span', { class: 'jp-XprofTree-range', attrs: { 'aria-hidden': true } }, h('span', {}), h('b', {})),
    h('span', { class: 'jp-XprofTree-value' }, field.cell(row.node).text)
  );
  cell.classList.toggle('jp-mod-missing', !(most > 0));
  cell.style.setProperty('--xprof-least', `${most > 0 ? (least / most) * 100 : 100}%`);
  cell.style.setProperty('--xprof-mean', `${most > 0 ? (mean / most) * 100 : 100}%`);
  return cell;
}

function escaped(term: string): string {
  return term.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
