/** A host that only has its snapshot: a saved page, or a notebook without a kernel and a server. */
import { type Answer, type Host, HostError, type Mount, type Snapshot } from '../host';
import { readPayload } from '../payload';
import { showFailure } from '../shell/status';

export class StaticHost implements Host {
  readonly kind = 'static';

  constructor(readonly snapshot: Snapshot) {}

  async request(): Promise<Answer> {
    throw new HostError(
      'This is a saved snapshot: it cannot be asked for more.',
      liveHint(this.snapshot.run.path)
    );
  }
}

/** How a person gets the live view of a run. */
export function liveHint(path: string): string {
  return path
    ? `Open the run to ask more: xprof_nb.open(${JSON.stringify(path)})`
    : 'Open the run in a notebook to ask more.';
}

/** What a static page calls: draw a payload, or say in its place why it cannot be drawn. */
export function pageOf(mount: Mount) {
  return (payload: unknown, el: HTMLElement): void => {
    try {
      mount(new StaticHost(readPayload(payload)), el);
    } catch (error) {
      showFailure(el, error);
    }
  };
}
