/** Links to a run as it stands: a run, a view, what is chosen and narrowed, in one parameter of an address. */
import { type Json, readState, record, text, type ViewState } from '@xprof-nb/views';

/** The parameter of an address. */
export const PARAMETER = 'xprof';
/** Servers and chats cut longer addresses. */
export const LONGEST = 6_000;
const LONGEST_PATH = 4_096;
const VERSION = '1';
const CODE = /^([0-9]{1,4})\.([\w-]*)$/;
/** Keys that would reach what all objects share. */
const UNWANTED: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** What a link leads to. */
export interface Target {
  /** Path of the run; empty where the address itself has it. */
  readonly run: string;
  readonly state: ViewState;
}

/** Write a target as text that may stand in an address; what would make it too long is left out, the least telling first. */
export function encodeTarget({ run, state }: Target): string {
  const { shown } = state;
  const view = text(shown.view);
  const ofView = record(record(shown.views)[view]);
  const candidates = [
    state,
    { shown, made: {} },
    { shown: { ...shown, views: { [view]: ofView } }, made: {} },
    { shown: { view, linked: shown.linked ?? null }, made: {} },
    { shown: { view }, made: {} }
  ].map((candidate) => encode({ ...(run === '' ? {} : { run }), ...candidate }));
  return candidates.find((code) => code.length <= LONGEST) ?? candidates.at(-1) ?? '';
}

/** Read what an address says; null where it is damaged, too long or of another version. */
export function decodeTarget(code: string): Target | null {
  const [, version, body] = (code.length <= LONGEST && CODE.exec(code)) || [];
  if (version !== VERSION || body === undefined) {
    return null;
  }
  try {
    const read = record(
      JSON.parse(fromBase64Url(body), (key, value) => (UNWANTED.has(key) ? undefined : value))
    );
    const run = text(read.run);
    return run.length > LONGEST_PATH ? null : { run, state: readState(read) };
  } catch {
    return null;
  }
}

function encode(target: Json): string {
  return `${VERSION}.${toBase64Url(JSON.stringify(target))}`;
}

function toBase64Url(plain: string): string {
  const bytes = new TextEncoder().encode(plain);
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function fromBase64Url(code: string): string {
  const binary = atob(code.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}
