/** Who held the memory at a moment, as a table: at the peak from the answer itself, elsewhere asked for. */
import { type Columns, columnsOf, numberAt, stringAt } from '../columns';
import { h } from '../dom';
import { bytes, count, time } from '../format';
import { isAbort } from '../host';
import { liveHint } from '../hosts/static';
import { readTable, text } from '../payload';
import type { AnswerFrame } from '../shell/answer';
import { showFailure, showWaiting } from '../shell/status';
import { fieldsOf } from '../table/fields';
import { Grid } from '../table/grid';
import type { Allocator } from './curve';

const COLUMNS = [
  { name: 'holder', width: 180 },
  'bytes',
  { name: 'total_fraction', label: 'of all' },
  { name: 'count', width: 72 },
  { name: 'framework_op', width: 220 },
  { name: 'shape', width: 140 },
  { name: 'dtype', width: 80 },
  { name: 'sharding', width: 180 },
  { name: 'region', width: 100 },
  { name: 'caller', width: 180 }
];

export class Holders {
  readonly node: HTMLElement;
  readonly grid: Grid;
  private readonly _title = h('h3', { class: 'jp-Memory-heading', attrs: { 'aria-live': 'polite' } });
  private readonly _status = h('div', {});
  private _asking: AbortController | null = null;
  private _saved: Columns | null = null;

  constructor(private readonly _frame: AnswerFrame) {
    const copy = (text: string) => _frame.copy(text);
    this.grid = new Grid('Who held the memory', { choose: () => {}, changed: () => {}, copy });
    this.node = h('div', { class: 'jp-Memory-holders' }, this._title, this._status, this.grid.node);
  }

  dispose(): void {
    this._asking?.abort();
    this.grid.dispose();
  }

  /** Show who held it at the peak. */
  atPeak(allocator: Allocator): void {
    this._asking?.abort();
    this._status.replaceChildren();
    this._show(
      columnsOf(
        allocator.held.map((row) => ({
          ...row,
          total_fraction: typeof row.bytes === 'number' ? row.bytes / allocator.peakBytes : null
        }))
      ),
      `At the peak, ${time(allocator.peakPs)} into the capture`,
      allocator.holders
    );
  }

  /** Show who held it at a time; in a saved view at the last of its points until then. */
  async at(allocator: Allocator, timePs: number): Promise<void> {
    this._asking?.abort();
    if (!this._frame.isLive) {
      this._atSaved(allocator, timePs);
      return;
    }
    const asking = new AbortController();
    this._asking = asking;
    this._status.replaceChildren();
    const waiting = showWaiting(this._status, 'Looking who held the memory', () => asking.abort());
    try {
      const params = { ...this._frame.params, at_ps: Math.round(timePs) };
      const answer = await this._frame.host.request('memory_holders', params, asking.signal);
      const mine = only(answer.table, allocator);
      if (mine.rows === 0) {
        this._say(`Nothing was recorded of this memory up to ${time(timePs)} into the capture.`);
      } else {
        this._show(mine, `${time(timePs)} into the capture`, mine.rows);
      }
    } catch (error) {
      if (!isAbort(error)) {
        showFailure(this._status, error, () => void this.at(allocator, timePs));
      }
    } finally {
      waiting.remove();
    }
  }

  private _atSaved(allocator: Allocator, timePs: number): void {
    const { run, extra } = this._frame.host.snapshot;
    this._saved ??= text(extra.holders) === '' ? columnsOf([]) : readTable(text(extra.holders));
    const found = latest(only(this._saved, allocator), timePs);
    if (found === null) {
      this._say(
        `Who held the memory ${time(timePs)} into the capture is not in a saved view, the peak is. ${liveHint(run.path)}`
      );
    } else {
      this._status.replaceChildren();
      this._show(found.held, `At the saved point ${time(found.atPs)} into the capture`, Number.NaN);
    }
  }

  private _say(words: string): void {
    this._status.replaceChildren(h('div', { class: 'jp-XprofStatus', attrs: { role: 'status' } }, words));
  }

  private _show(table: Columns, when: string, holders: number): void {
    const rows = Array.from({ length: table.rows }, (_, row) => row);
    const sum = rows.reduce((total, row) => total + (numberAt(table, 'bytes', row) || 0), 0);
    const many = Number.isNaN(holders) ? '' : ` held by ${count(holders)} holder${holders === 1 ? '' : 's'}`;
    this._title.textContent = `${when}: ${bytes(sum)}${many}`;
    const says = (column: string) =>
      rows.some(
        (row) => stringAt(table, column, row) !== null || !Number.isNaN(numberAt(table, column, row))
      );
    this.grid.update(
      table.rows,
      fieldsOf(
        table,
        COLUMNS.filter((column) => says(typeof column === 'string' ? column : column.name))
      )
    );
  }
}

/** The rows of one allocator, as a table. */
export function only(table: Columns, { host, device, name }: Allocator): Columns {
  const is = (column: string, row: number, wanted: string) => (stringAt(table, column, row) ?? '') === wanted;
  return where(
    table,
    (row) => is('host', row, host) && is('device', row, device) && is('allocator', row, name)
  );
}

/** The rows of the last moment that is not after a time; null when there is none. */
function latest(table: Columns, timePs: number): { readonly atPs: number; readonly held: Columns } | null {
  const times = [...(table.numbers.get('at_ps') ?? [])].filter((at) => at <= timePs);
  const atPs = times.reduce((last, at) => Math.max(last, at), Number.NEGATIVE_INFINITY);
  const isThen = (row: number) => numberAt(table, 'at_ps', row) === atPs;
  return times.length === 0 ? null : { atPs, held: where(table, isThen) };
}

function where(table: Columns, isWanted: (row: number) => boolean): Columns {
  const rows = Array.from({ length: table.rows }, (_, row) => row).filter(isWanted);
  const cell = (column: string, row: number) =>
    table.strings.has(column) ? stringAt(table, column, row) : known(numberAt(table, column, row));
  return columnsOf(
    rows.map((row) => Object.fromEntries(table.names.map((column) => [column, cell(column, row)])))
  );
}

function known(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}
