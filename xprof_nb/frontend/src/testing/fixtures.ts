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

export { fromRows as rowsTable } from '../columns';
