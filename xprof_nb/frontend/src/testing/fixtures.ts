/** What the tests draw: the fixtures that `make_fixtures.py` writes with the Python codec. */
import { type Columns, decodeBase64 } from '../columns';
import type { Answer, Host, HostKind, Params, Snapshot } from '../host';
import { readPayload } from '../payload';
import columnsFixture from './columns.json';
import payloadFixture from './op_profile.json';
import spreadFixture from './op_spread.json';

/** What a snapshot holds of `op_spread`. */
export const spread: string = spreadFixture;
export const everyType = columnsFixture;
export const payload: Record<string, unknown> = payloadFixture;

export function snapshot(changes: Record<string, unknown> = {}): Snapshot {
  return readPayload({ ...payload, ...changes });
}

export function table(): Columns {
  return decodeBase64(payloadFixture.table);
}

/** A host that answers as told and remembers what it was asked. */
export class FakeHost implements Host {
  readonly asked: { query: string; params: Params }[] = [];

  constructor(
    readonly kind: HostKind,
    readonly snapshot: Snapshot,
    private readonly _answer: (query: string, params: Params, signal?: AbortSignal) => Promise<Answer>
  ) {}

  request(query: string, params: Params, signal?: AbortSignal): Promise<Answer> {
    this.asked.push({ query, params });
    return this._answer(query, params, signal);
  }

  async open(_view: string, _params: Params): Promise<Host> {
    return this;
  }

  async library(): Promise<string> {
    return '';
  }
}

/** A table with the rows of the op profile given as objects; what is left out is missing. */
export function rowsTable(rows: readonly Record<string, number | string>[]): Columns {
  const names = new Set(rows.flatMap((row) => Object.keys(row)));
  const numbers = new Map<string, Float64Array>();
  const strings = new Map<string, { codes: Int32Array; values: string[] }>();
  for (const name of names) {
    const cells = rows.map((row) => row[name]);
    if (cells.some((cell) => typeof cell === 'string')) {
      strings.set(name, {
        codes: Int32Array.from(cells, (cell, index) => (cell === undefined ? -1 : index)),
        values: cells.map((cell) => String(cell ?? ''))
      });
    } else {
      numbers.set(
        name,
        Float64Array.from(cells, (cell) => Number(cell ?? Number.NaN))
      );
    }
  }
  return { rows: rows.length, names: [...names], meta: {}, numbers, strings };
}
