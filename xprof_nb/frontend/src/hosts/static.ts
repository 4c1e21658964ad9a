/** A host that only has its snapshot: a saved page, or a notebook without a kernel and a server. */
import {
  type Answer,
  type Host,
  HostError,
  type Library,
  type Mount,
  type Snapshot,
  type ViewState
} from '../host';
import { readPayload, readState, record } from '../payload';
import { onStateChanged, resume } from '../shell/state';
import { showFailure } from '../shell/status';

/** Where a host without anybody to ask has its libraries from. */
export type Libraries = (name: Library) => Promise<string>;

export class StaticHost implements Host {
  readonly kind = 'static';

  constructor(
    readonly snapshot: Snapshot,
    private readonly _libraries: Libraries = embedded
  ) {}

  async request(): Promise<Answer> {
    throw new HostError(
      'This is a saved snapshot: it cannot be asked for more.',
      liveHint(this.snapshot.run.path)
    );
  }

  async open(view: string): Promise<Host> {
    const saved = record(this.snapshot.extra.views)[view];
    if (saved === undefined) {
      throw new HostError('This view was not saved.', liveHint(this.snapshot.run.path));
    }
    return new StaticHost(readPayload(saved), this._libraries);
  }

  library(name: Library): Promise<string> {
    return this._libraries(name);
  }
}

/** How a person gets the live view of a run. */
export function liveHint(path: string): string {
  return path
    ? `Open the run to ask more: xprof_nb.open(${JSON.stringify(path)})`
    : 'Open the run in a notebook to ask more.';
}

/** Longer than this no address gets: not every program that is handed one takes more. */
const LONGEST_ADDRESS = 30_000;

/** What a static page calls: draw a payload as its address says, or say in its place why it cannot be drawn. */
export function pageOf(mount: Mount) {
  return (payload: unknown, el: HTMLElement): void => {
    try {
      const host = new StaticHost(readPayload(payload));
      const { view } = host.snapshot;
      onStateChanged(el, (state) => writeAddress(view, state));
      resume(mount, host, el, readAddress(view));
    } catch (error) {
      showFailure(el, error);
    }
  };
}

/** The libraries a page holds: elements of text that no browser runs by itself. */
async function embedded(name: Library): Promise<string> {
  const holder = document.getElementById(`xprof-nb-library-${name}`);
  if (holder === null) {
    throw new HostError(
      `This page was written without ${name}, which draws its charts.`,
      'The table has the numbers.'
    );
  }
  return JSON.parse(holder.textContent ?? '""');
}

function readAddress(view: string): ViewState | null {
  try {
    const kept = new URLSearchParams(window.location.hash.slice(1)).get(view);
    return kept === null ? null : readState(JSON.parse(kept));
  } catch {
    return null;
  }
}

function writeAddress(view: string, state: ViewState): string {
  const parts = new URLSearchParams(window.location.hash.slice(1));
  parts.set(view, JSON.stringify(state));
  const address = `#${parts}`;
  if (address.length > LONGEST_ADDRESS) {
    return '';
  }
  try {
    window.history.replaceState(null, '', address);
  } catch {
    // A page in a frame without an origin has no address of its own.
    return '';
  }
  return 'kept in the address of this page';
}
