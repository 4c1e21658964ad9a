/** What hosts outside this package use: the views by name, and what it takes to feed one. */
import type { Mount } from './host';

export { type Columns, decode, type Json } from './columns';
export * as format from './format';
export {
  type Answer,
  asHostError,
  type Host,
  HostError,
  type HostKind,
  isAbort,
  type Mount,
  type Mounted,
  type Params,
  type Run,
  type Snapshot,
  type Summary
} from './host';
export { liveHint, StaticHost } from './hosts/static';
export { answerOf, errorOf, MIME, number, readPayload, record, text, texts } from './payload';
export { showFailure, showWaiting } from './shell/status';

/** The views there are; each is loaded when it is first shown. */
export const views: ReadonlyMap<string, () => Promise<{ mount: Mount }>> = new Map([
  ['op_profile', () => import('./op_profile/view')],
  ['trace', () => import('./timeline/view')]
]);
