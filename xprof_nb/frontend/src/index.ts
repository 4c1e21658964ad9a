/** What hosts outside this package use: the views by name, and what it takes to feed one. */

export { type CapturedRun, mountCapture, type Talk } from './capture/control';
export { type Columns, decode, type Json } from './columns';
export * as format from './format';
export {
  type Answer,
  asHostError,
  type Host,
  HostError,
  type HostKind,
  isAbort,
  type Library,
  type Mount,
  type Mounted,
  type Params,
  type Run,
  type Snapshot,
  type Summary,
  type ViewState
} from './host';
export { liveHint, StaticHost } from './hosts/static';
export { answerOf, errorOf, MIME, number, readPayload, readState, record, text, texts } from './payload';
export { onStateChanged, resume, type Stateful, stateOf } from './shell/state';
export { showFailure, showWaiting } from './shell/status';
export { VIEWS, views } from './views';
