/** The saved payload `application/vnd.xprof-nb.view.v1+json` -> snapshot. Everything in it is untrusted. */
import { type Columns, decodeBase64, type Json } from './columns';
import {
  type Answer,
  HostError,
  type Params,
  type Run,
  type Snapshot,
  type Summary,
  type ViewState
} from './host';

export const MIME = 'application/vnd.xprof-nb.view.v1+json';

const VERSION = 1;
const LARGEST_TABLE_CHARACTERS = 8_000_000;

/** Read a payload; throws a `HostError` that says why it cannot be shown. */
export function readPayload(payload: unknown): Snapshot {
  const data = record(payload);
  if (typeof data.version !== 'number') {
    throw new HostError('This output is not a saved XProf view.');
  }
  if (data.version > VERSION) {
    throw new HostError(
      `This view was saved by a newer xprof_nb (format ${data.version}; this one reads ${VERSION}).`,
      'Upgrade xprof_nb and reload the page.'
    );
  }
  const table = text(data.table);
  if (table.length > LARGEST_TABLE_CHARACTERS) {
    throw new HostError('The saved table is larger than this view accepts.', 'Run the cell again.');
  }
  return {
    view: text(data.view),
    title: text(data.title),
    run: readRun(data.run),
    params: record(data.params) as Params,
    summary: record(data.summary) as Summary,
    notes: texts(data.notes),
    table: readTable(table),
    details: readDetails(data.details),
    extra: record(data.extra) as Summary,
    state: readState(data.state),
    rowsTotal: typeof data.rows_total === 'number' ? data.rows_total : null
  };
}

/** A state from a notebook, an address or another program. */
export function readState(value: unknown): ViewState {
  const { shown, made } = record(value);
  return { shown: record(shown), made: record(made) };
}

/** Read a table that was saved as text. */
export function readTable(table: string): Snapshot['table'] {
  try {
    return decodeBase64(table);
  } catch (error) {
    throw new HostError(
      `The saved table is damaged: ${error instanceof Error ? error.message : error}.`,
      'Run the cell again.'
    );
  }
}

function readRun(value: Json | undefined): Run {
  const run = record(value);
  return {
    name: text(run.name),
    path: text(run.path),
    origin: text(run.origin),
    hosts: texts(run.hosts),
    devices: texts(run.devices),
    identity: text(run.identity)
  };
}

function readDetails(value: Json | undefined): Snapshot['details'] {
  return Object.fromEntries(
    Object.entries(record(value)).map(([key, details]) => [key, record(details) as Summary])
  );
}

/** The answer in an encoded table: its summary and notes travel in the header. */
export function answerOf(table: Columns): Answer {
  return { table, summary: record(table.meta.summary) as Summary, notes: texts(table.meta.notes) };
}

/** An answer that was saved with a view, for what it draws besides its own. */
export function savedAnswer(value: Json | undefined): Answer {
  const saved = record(value);
  return {
    table: readTable(text(saved.table)),
    summary: record(saved.summary) as Summary,
    notes: texts(saved.notes)
  };
}

/** The error a host reports as `{kind, message, hint}`. */
export function errorOf(value: Json | undefined): HostError {
  const error = record(value);
  return new HostError(
    text(error.message) || 'The question failed without a reason.',
    text(error.hint),
    text(error.kind)
  );
}

/** The value as an object of JSON values; empty when it is something else. */
export function record(value: unknown): { [key: string]: Json | undefined } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as { [key: string]: Json | undefined })
    : {};
}

/** The value as a string; empty when it is something else. */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The strings of an array; empty when it is something else. */
export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** The value as a number; NaN when it is something else. */
export function number(value: unknown): number {
  return typeof value === 'number' ? value : Number.NaN;
}
