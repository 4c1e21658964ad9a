import { afterEach, describe, expect, it } from 'vitest';
import type { Mounted, Snapshot } from '../host';
import { StaticHost } from '../hosts/static';
import { linkOf } from '../shell/link';
import { rowsTable, snapshot } from '../testing/fixtures';
import { mount } from './view';

let shown: Mounted | null = null;

afterEach(() => {
  shown?.dispose();
  shown = null;
  document.body.replaceChildren();
});

const ROWS = [
  { level: 'program', name: 'whole', time_ps: 9e9, flops_per_s: 5e11, hbm_arithmetic_intensity: 20 },
  ...['dot', 'conv', 'add'].map((op, index) => ({
    level: 'op',
    name: op,
    op,
    program_id: '7',
    category: index < 2 ? 'convolution' : 'loop fusion',
    bound_by: index === 1 ? 'hbm' : 'compute',
    time_ps: (3 - index) * 1e9,
    flops_per_s: 1e11,
    hbm_arithmetic_intensity: 10,
    arithmetic_intensity: 10,
    link_arithmetic_intensity: 99
  }))
];

function show(summary: Snapshot['summary']): HTMLElement {
  const el = document.createElement('div');
  document.body.append(el);
  const answer = { view: 'roofline', table: rowsTable(ROWS), summary, rowsTotal: ROWS.length, notes: [] };
  shown = mount(new StaticHost({ ...snapshot(), ...answer }, () => new Promise(() => {})), el);
  return el;
}

const names = (el: HTMLElement) =>
  [...el.querySelectorAll('.jp-XprofGrid-row [role=rowheader]')].map((cell) => cell.textContent);

function choose(el: HTMLElement, column: string, value: string): void {
  const select = el.querySelector(`select[data-column=${column}]`) as HTMLSelectElement;
  select.value = value;
  select.dispatchEvent(new Event('change'));
}

describe('a roofline', () => {
  it('is filtered by category and by what bounds an op', () => {
    const el = show({});
    expect(names(el)).toEqual(['whole', 'dot', 'conv', 'add']);
    choose(el, 'category', 'convolution');
    expect(names(el)).toEqual(['dot', 'conv']);
    choose(el, 'bound_by', 'hbm');
    expect(names(el)).toEqual(['conv']);
    choose(el, 'category', '');
    choose(el, 'bound_by', '');
    expect(names(el)).toHaveLength(4);
  });

  it('says how to state roofs that are not known', () => {
    const el = show({ device_model: 'TPU v99', roofs: [] });
    const said = el.querySelector('.jp-Roofline-unknown')?.textContent;
    expect(said).toContain('The roofs of TPU v99 are not known');
    expect(said).toContain('xprof_nb.hardware("TPU v99", bf16_flops=…');
  });

  it('lists the roofs with their sources', () => {
    const roofs = [{ kind: 'memory', name: 'hbm', value: 1e12, label: 'measured', source: 'STREAM <b>' }];
    const items = [...show({ roofs }).querySelectorAll('.jp-Roofline-sources li')];
    expect(items.map((item) => item.textContent)).toEqual(['HBM 1.00 TB/s (measured): STREAM <b>']);
  });

  it('offers the memories whose intensity is known', () => {
    const el = show({});
    const levels = [...el.querySelectorAll<HTMLElement>('[data-level]')];
    expect(levels.map((level) => [level.textContent, level.getAttribute('aria-pressed')])).toEqual([
      ['HBM', 'true'],
      ['links', 'false']
    ]);
    (levels[1] as HTMLElement).click();
    expect(el.querySelector('[data-level=link]')?.getAttribute('aria-pressed')).toBe('true');
  });

  it('outlines the op that another view chose', () => {
    const el = show({});
    linkOf(snapshot().run).choose({ op: 'conv', program_id: '7' }, {});
    const marked = [...el.querySelectorAll('.jp-XprofGrid-row.jp-mod-selected [role=rowheader]')];
    expect(marked.map((cell) => cell.textContent)).toEqual(['conv']);
  });
});
