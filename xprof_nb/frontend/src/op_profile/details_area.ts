/** The place of the details pane: shows one row, fetches what the row itself does not say. */
import { h } from '../dom';
import { isAbort } from '../host';
import { showFailure, showWaiting } from '../shell/status';
import type { OpNode } from '../tree/tree';
import { type DetailsEvents, detailsPane, fillOp, hasOpDetails } from './details';
import type { Session } from './session';

export class DetailsArea {
  readonly node = h('div', { class: 'jp-OpProfile-details', attrs: { hidden: '' } });
  private _request: AbortController | null = null;

  constructor(
    private readonly _session: Session,
    private readonly _events: DetailsEvents
  ) {}

  get isOpen(): boolean {
    return !this.node.hidden;
  }

  show(node: OpNode): void {
    this._request?.abort();
    const { pane, op } = detailsPane(node, this._events);
    this.node.replaceChildren(pane);
    this.node.hidden = false;
    if (hasOpDetails(node)) {
      void this._fetch(node, op);
    }
  }

  close(): void {
    this._request?.abort();
    this.node.hidden = true;
    this.node.replaceChildren();
  }

  dispose(): void {
    this._request?.abort();
  }

  private async _fetch(node: OpNode, op: HTMLElement): Promise<void> {
    const request = new AbortController();
    this._request = request;
    const waiting = showWaiting(op, 'Fetching the HLO');
    try {
      fillOp(op, await this._session.details(node, request.signal));
    } catch (error) {
      if (!isAbort(error)) {
        op.replaceChildren();
        showFailure(op, error, this._session.isLive ? () => this.show(node) : undefined);
      }
    } finally {
      waiting.remove();
    }
  }
}
