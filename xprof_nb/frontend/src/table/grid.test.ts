import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Columns } from '../columns';
import { rowsTable } from '../testing/fixtures';
import { fieldsOf } from './fields';
import { matching } from './filter';
import { Grid } from './grid';
import { sorted } from './order';

const HOSTILE = '=cmd()|"x",<img src=x onerror=1>\n\tend';
const ROWS: Record<string, number | string>[] = [
  { op: 'fusion.12', device: 'TPU:0', self_time_ps: 3e9, time_fraction: 0.3, output_bytes: 2048 },
  { op: 'fusion.9', device: 'TPU:1', self_time_ps: 1.5e9, time_fraction: 0.15, output_bytes: 2 ** 21 },
  { op: 'dot.1', device: 'TPU:0', self_time_ps: 5e9, time_fraction: 0.5 },
  { op: HOSTILE, device: 'TPU:1', self_time_ps: 2_500_000, time_fraction: 0.05, output_bytes: 1 }
];

afterEach(() => document.body.replaceChildren());

function gridOf(table: Columns, wanted: readonly string[] = []) {
  const events = { choose: vi.fn(), changed: vi.fn(), copy: vi.fn() };
  const grid = new Grid('ops', events);
  document.body.append(grid.node);
  grid.update(table.rows, fieldsOf(table, wanted));
  return { grid, events };
}

const cells = (grid: Grid, field: string) =>
  [...grid.table.querySelectorAll(`.jp-XprofGrid-body [data-field=${field}]`)].map(
    (cell) => cell.textContent
  );
const heads = (grid: Grid) =>
  [...grid.table.querySelectorAll('.jp-XprofGrid-label')].map((head) => head.textContent);
const headOf = (grid: Grid, field: string) =>
  grid.table.querySelector(`button[data-field=${field}]`) as HTMLButtonElement;

function press(el: Element, key: string, held: KeyboardEventInit = {}): KeyboardEvent {
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...held });
  el.dispatchEvent(event);
  return event;
}

describe('filter', () => {
  const fields = fieldsOf(rowsTable(ROWS));
  const left = (filter: string) => matching(ROWS.length, fields, filter);

  it.each([
    ['', [0, 1, 2, 3]],
    ['FUSION', [0, 1]],
    ['fusion tpu:1', [1]],
    ['op:dot', [2]],
    ['device:TPU:0', [0, 2]],
    ['self_time>2ms', [0, 2]],
    ['self_time_ps<=1.5ms', [1, 3]],
    ['self_time<3µs', [3]],
    ['self_time=1.5e9', [1]],
    ['share>=30%', [0, 2]],
    ['output_bytes>2KiB', [1]],
    ['output_bytes>=2kib', [0, 1]],
    ['output_bytes>=1', [0, 1, 3]],
    ['nothing', []],
    ['self_time>2KiB', []],
    ['op:[', []],
    ['onerror', [3]]
  ])('%s', (filter, rows) => {
    expect(left(filter)).toEqual(rows);
  });

  it('does not look into columns out of sight, unless they are named', () => {
    const few = fieldsOf(rowsTable(ROWS), ['op', 'self_time_ps']);
    expect(matching(ROWS.length, few, 'tpu:0')).toEqual([]);
    expect(matching(ROWS.length, few, 'device:tpu:0')).toEqual([0, 2]);
  });
});

describe('order', () => {
  const table = rowsTable(ROWS);
  const fields = fieldsOf(table);
  const by = (field: string, descending: boolean) => sorted([0, 1, 2, 3], fields, { field, descending });

  it('puts numbers in names in order of size', () => {
    expect(by('op', false)).toEqual([3, 2, 1, 0]);
  });

  it('keeps what is missing last both ways', () => {
    expect(by('output_bytes', false)).toEqual([3, 0, 1, 2]);
    expect(by('output_bytes', true)).toEqual([1, 0, 3, 2]);
  });

  it('leaves equal rows as they are', () => {
    expect(by('device', true)).toEqual([1, 3, 0, 2]);
  });
});

describe('cells', () => {
  it('say numbers in human units, and all digits on hover', () => {
    const { grid } = gridOf(rowsTable(ROWS));
    expect(cells(grid, 'self_time_ps')).toEqual(['3.00 ms', '1.50 ms', '5.00 ms', '2.50 µs']);
    expect(cells(grid, 'output_bytes')).toEqual(['2.00 KiB', '2.00 MiB', '–', '1 B']);
    const cell = grid.table.querySelector('.jp-XprofGrid-body [data-field=self_time_ps]') as HTMLElement;
    expect(cell.title.replaceAll('\u2009', ' ')).toBe('3 000 000 000 ps');
    expect(cell.classList.contains('jp-mod-number')).toBe(true);
    expect(grid.table.querySelector('img')).toBeNull();
  });

  it('are wide enough for the longest number, however narrow somebody drags them', () => {
    const { grid } = gridOf(
      rowsTable([
        { op: 'a', occurrences: 1 },
        { op: 'b', occurrences: 123_456_789_012 }
      ])
    );
    const field = grid.fields[1];
    grid.resize(field as (typeof grid.fields)[0], 10);
    const columns = grid.table.style.getPropertyValue('--xprof-columns');
    expect(Number(/ (\d+)px$/.exec(columns)?.[1])).toBeGreaterThan('123 456 789 012'.length * 7);
  });
});

describe('the grid', () => {
  const many = rowsTable(
    Array.from({ length: 5000 }, (_, row) => ({
      op: `op.${row}`,
      device: `TPU:${row % 4}`,
      self_time_ps: row
    }))
  );

  it('is an ARIA grid of which only some rows are drawn', () => {
    const { grid } = gridOf(many);
    const { table } = grid;
    expect([table.role, table.getAttribute('aria-rowcount'), table.getAttribute('aria-colcount')]).toEqual([
      'grid',
      '5001',
      '3'
    ]);
    const rows = [...table.querySelectorAll('[role=row][aria-rowindex]')];
    expect(rows.length).toBeLessThan(100);
    expect(rows.slice(0, 2).map((row) => row.getAttribute('aria-rowindex'))).toEqual(['1', '2']);
    expect(rows[1]?.querySelectorAll('[role=rowheader]')).toHaveLength(1);
    expect(rows[1]?.querySelectorAll('[role=gridcell]')).toHaveLength(2);
    expect(document.getElementById(table.getAttribute('aria-activedescendant') ?? '')?.textContent).toBe(
      'op.0'
    );
  });

  it('is sorted by its heads, by keyboard too', () => {
    const { grid } = gridOf(many);
    press(grid.table, 'ArrowRight');
    press(grid.table, 'ArrowRight');
    press(grid.table, 'ArrowUp');
    expect(document.activeElement).toBe(headOf(grid, 'self_time_ps'));
    (document.activeElement as HTMLElement).click();
    expect(cells(grid, 'op').slice(0, 2)).toEqual(['op.4999', 'op.4998']);
    expect(headOf(grid, 'self_time_ps').parentElement?.getAttribute('aria-sort')).toBe('descending');
    expect(document.activeElement).toBe(headOf(grid, 'self_time_ps'));
    press(headOf(grid, 'self_time_ps'), 'ArrowDown');
    expect(document.activeElement).toBe(grid.table);
    expect(grid.at).toEqual({ row: 0, field: 2 });
  });

  it('keeps the rows it has drawn while it scrolls, and a marked text with them', () => {
    const { grid, events } = gridOf(many);
    const kept = grid.table.querySelector('.jp-XprofGrid-row[data-index="20"]');
    grid.table.scrollTop = 24 * 10;
    grid.table.dispatchEvent(new Event('scroll'));
    expect(grid.table.querySelector('.jp-XprofGrid-row[data-index="20"]')).toBe(kept);
    grid.table.scrollTop = 24 * 4000;
    grid.table.dispatchEvent(new Event('scroll'));
    expect(grid.table.querySelector('.jp-XprofGrid-row[data-index="4000"]')?.textContent).toContain(
      'op.4000'
    );
    const cell = grid.table.querySelector(
      '.jp-XprofGrid-row[data-index="4000"] [data-field=op]'
    ) as HTMLElement;
    document.getSelection()?.selectAllChildren(cell);
    cell.click();
    expect(events.choose).not.toHaveBeenCalled();
    expect(press(grid.table, 'c', { ctrlKey: true }).defaultPrevented).toBe(false);
    document.getSelection()?.removeAllRanges();
    cell.click();
    expect(events.choose).toHaveBeenCalledWith(4000);
  });

  it('outlines what is chosen and goes there', () => {
    const { grid } = gridOf(many);
    grid.mark([3000], true);
    expect(grid.at.row).toBe(3000);
    grid.table.dispatchEvent(new Event('scroll'));
    const marked = [...grid.table.querySelectorAll('[aria-selected=true]')];
    expect(marked.map((row) => row.getAttribute('aria-rowindex'))).toEqual(['3002']);
  });

  it('says when nothing matches', () => {
    const { grid } = gridOf(many);
    grid.filter = '<b>none</b>';
    expect(grid.table.querySelector('.jp-XprofGrid-none')?.textContent).toBe('No row matches “<b>none</b>”.');
    expect(grid.table.hasAttribute('aria-activedescendant')).toBe(false);
    grid.filter = 'op.4321';
    expect(cells(grid, 'op')).toEqual(['op.4321']);
  });
});

describe('taking it along', () => {
  it('copies the row in full, safe for a spreadsheet', () => {
    const { grid, events } = gridOf(rowsTable(ROWS));
    press(grid.table, 'End', { ctrlKey: true });
    press(grid.table, 'c', { ctrlKey: true });
    expect(events.copy).toHaveBeenCalledWith(
      `'=cmd()|"x",<img src=x onerror=1> end\tTPU:1\t2500000\t0.05\t1\r\n`
    );
  });

  it('exports the rows shown, in their order, with the columns shown', () => {
    const { grid } = gridOf(rowsTable(ROWS), ['op', 'self_time_ps', 'output_bytes']);
    grid.filter = 'op:o';
    grid.sortBy(grid.fields[1] as (typeof grid.fields)[0]);
    expect(grid.tsv).toBe(
      'op\tself_time_ps\toutput_bytes\r\n' +
        'dot.1\t5000000000\t\r\nfusion.12\t3000000000\t2048\r\nfusion.9\t1500000000\t2097152\r\n' +
        `'=cmd()|"x",<img src=x onerror=1> end\t2500000\t1\r\n`
    );
    expect(grid.csv).toContain('"\'=cmd()|""x"",<img src=x onerror=1>\n\tend",2500000,1\r\n');
  });
});

describe('columns', () => {
  it('come into sight, go, and change places', () => {
    const { grid } = gridOf(rowsTable(ROWS), ['op', 'self_time_ps']);
    expect(heads(grid)).toEqual(['op', 'self time']);
    const device = grid.columns.all.find(({ name }) => name === 'device');
    grid.toggle(device as (typeof grid.fields)[0]);
    expect(heads(grid)).toEqual(['op', 'self time', 'device']);
    headOf(grid, 'device').focus();
    press(headOf(grid, 'device'), 'ArrowLeft', { altKey: true });
    expect(heads(grid)).toEqual(['op', 'device', 'self time']);
    expect(document.activeElement).toBe(headOf(grid, 'device'));
    expect(grid.csv.split('\r\n')[0]).toBe('op,device,self_time_ps');
    for (const field of grid.fields) {
      grid.toggle(field);
    }
    expect(heads(grid)).toHaveLength(1);
  });

  it('give way from the last where the room ends, but stay in what is taken along', () => {
    let room = 1000;
    let resized = () => {};
    vi.stubGlobal(
      'ResizeObserver',
      class {
        constructor(changed: () => void) {
          resized = changed;
        }
        observe(): void {}
        disconnect(): void {}
      }
    );
    vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockImplementation(() => room);
    const { grid, events } = gridOf(rowsTable(ROWS));
    const all = ['op', 'device', 'self time', 'share', 'output bytes'];
    expect(heads(grid)).toEqual(all);
    events.changed.mockClear();
    const [, device, self] = grid.fields.map(({ width }) => width) as [number, number, number];
    // Names are cut first, to 120 px.
    room = 120 + device + self;
    resized();
    expect(heads(grid)).toEqual(all.slice(0, 3));
    expect(grid.table.getAttribute('aria-colcount')).toBe('3');
    expect(grid.csv.split('\r\n')[0]?.split(',')).toHaveLength(5);
    expect(events.changed).not.toHaveBeenCalled();
    // What somebody asks for is there, whatever the room; names are always.
    grid.toggle(grid.columns.all[4] as (typeof grid.fields)[0]);
    expect(heads(grid)).toEqual([...all.slice(0, 3), 'output bytes']);
    room = 10;
    resized();
    expect(heads(grid)).toEqual(['op', 'output bytes']);
    room = 1000;
    resized();
    expect(heads(grid)).toEqual(all);
    vi.unstubAllGlobals();
  });

  it('become wider and narrower by keyboard, and fit again', () => {
    const { grid } = gridOf(rowsTable(ROWS));
    const width = () => /(\d+)px$/.exec(grid.table.style.getPropertyValue('--xprof-columns'))?.[1];
    const before = width();
    grid.resize(grid.fields.at(-1) as (typeof grid.fields)[0], 333);
    expect(width()).toBe('333');
    headOf(grid, 'output_bytes')
      .parentElement?.querySelector('.jp-XprofGrid-edge')
      ?.dispatchEvent(new MouseEvent('dblclick'));
    expect(width()).toBe(before);
  });

  it('keep their choice when another answer comes', () => {
    const { grid } = gridOf(rowsTable(ROWS), ['op', 'self_time_ps']);
    grid.toggle(grid.columns.all[2] as (typeof grid.fields)[0]);
    grid.resize(grid.fields[0] as (typeof grid.fields)[0], 400);
    grid.update(2, fieldsOf(rowsTable(ROWS.slice(0, 2)), ['op', 'self_time_ps']));
    expect(heads(grid)).toEqual(['op', 'self time', 'device']);
    expect(grid.table.style.getPropertyValue('--xprof-columns')).toContain('minmax(400px');
  });
});
