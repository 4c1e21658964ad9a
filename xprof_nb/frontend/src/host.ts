/** What a view needs from the place it is shown in: a snapshot to draw at once, and answers to its questions. */
import type { Columns, Json } from './columns';

export type Summary = { readonly [name: string]: Json | undefined };
export type Params = { readonly [name: string]: Json | undefined };

/** The run a snapshot was taken from. */
export interface Run {
  readonly name: string;
  readonly path: string;
  readonly origin: string;
  readonly hosts: readonly string[];
  readonly devices: readonly string[];
  readonly identity: string;
}

/** What a saved view holds: enough to be drawn without a kernel or a server. */
export interface Snapshot {
  readonly view: string;
  readonly title: string;
  readonly run: Run;
  readonly params: Params;
  readonly summary: Summary;
  readonly notes: readonly string[];
  readonly table: Columns;
  readonly details: { readonly [key: string]: Summary };
  /** What a view keeps besides its table. */
  readonly extra: Summary;
  /** How the view stood when it was last shown; empty parts for one that is new. */
  readonly state: ViewState;
  readonly rowsTotal: number | null;
}

/** How a view stands, as JSON: it outlives the view, and the next one of the same run goes on from there. */
export interface ViewState {
  /** Where it looks and what is chosen. */
  readonly shown: Summary;
  /** What a person has made and nothing else keeps: the markers of a run that cannot be written to. */
  readonly made: Summary;
}

/** One answered question. */
export interface Answer {
  readonly table: Columns;
  readonly summary: Summary;
  readonly notes: readonly string[];
}

/** Where the answers come from: the notebook's kernel, the Jupyter server, or only the snapshot. */
export type HostKind = 'kernel' | 'server' | 'static';

/** A library that is too large for every view to carry its own copy. */
export type Library = 'bokeh';

export interface Host {
  readonly kind: HostKind;
  readonly snapshot: Snapshot;
  /** Ask the live profile; a static host always rejects with a `HostError`. */
  request(query: string, params: Params, signal?: AbortSignal): Promise<Answer>;
  /** The host of another view of the same run; a static host has those that were saved with it. */
  open(view: string, params: Params, signal?: AbortSignal): Promise<Host>;
  /** The source text of a library, from the installed package: never from the network. */
  library(name: Library): Promise<string>;
}

/** A view on screen. */
export interface Mounted {
  dispose(): void;
}

/** Draws a view of a host into an element. */
export type Mount = (host: Host, el: HTMLElement) => Mounted;

/** What a host could not do, and what the person can do next. */
export class HostError extends Error {
  constructor(
    message: string,
    readonly hint = '',
    readonly kind = 'HostError'
  ) {
    super(message);
    this.name = 'HostError';
  }
}

/** Whether an error only says that the person asked for something else meanwhile. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** The error to show for anything that was thrown. */
export function asHostError(error: unknown): HostError {
  if (error instanceof HostError) {
    return error;
  }
  return new HostError(error instanceof Error ? error.message : String(error));
}
