/** What a page and a kernel say to each other about captures; see `xprof_nb/jupyter/remote_control.py`. */
import type { Json } from '../columns';
import { number, record, text, texts } from '../payload';

/** The way to one kernel. */
export interface Talk {
  /** Throws when the kernel is gone. */
  send(message: Message): void;
  /** Hear what the kernel says; returns how to stop. */
  listen(heard: (message: unknown) => void): () => void;
}

export type Message = { readonly do: string } & { readonly [name: string]: string | number | boolean };

export interface DeviceMemory {
  readonly name: string;
  readonly heldBytes: number;
  /** NaN where nobody knows. */
  readonly limitBytes: number;
}

export type Holder = 'nobody' | 'us' | 'another';

export interface Job {
  readonly state: string;
  readonly doing: string;
  /** NaN where nobody knows how far it is. */
  readonly doneFraction: number;
  readonly progress: string;
  readonly error: string;
  readonly hint: string;
  readonly notes: readonly string[];
  readonly ended: boolean;
}

export interface CapturedRun {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  /** What bounds it; empty where nobody has looked. */
  readonly sentence: string;
}

export interface KernelState {
  readonly jax: string;
  readonly devices: readonly DeviceMemory[];
  readonly profiler: { readonly heldBy: Holder; readonly said: string };
  readonly job: Job | null;
  /** What the last capture brought; null while that is not known. */
  readonly runs: readonly CapturedRun[] | null;
}

export interface Refusal {
  readonly message: string;
  readonly hint: string;
}

const ENDED = new Set(['done', 'failed', 'cancelled']);

/** The state in a message, or null if it is of another kind. */
export function readState(message: unknown): KernelState | null {
  const told = record(message);
  if (told.kind !== 'state') {
    return null;
  }
  const profiler = record(told.profiler);
  return {
    jax: text(told.jax),
    devices: records(told.devices).map((device) => ({
      name: text(device.name),
      heldBytes: number(device.held_bytes),
      limitBytes: number(device.limit_bytes)
    })),
    profiler: { heldBy: holder(text(profiler.held_by)), said: text(profiler.said) },
    job: text(record(told.job).state) ? readJob(record(told.job)) : null,
    runs: Array.isArray(told.runs) ? records(told.runs).map(readRun) : null
  };
}

/** The refusal in a message, or null if it is of another kind. */
export function readRefusal(message: unknown): Refusal | null {
  const told = record(message);
  return told.kind === 'refused' ? { message: text(told.message), hint: text(told.hint) } : null;
}

function readJob(job: Record<string, Json | undefined>): Job {
  return {
    state: text(job.state),
    doing: text(job.doing),
    doneFraction: number(job.done_fraction),
    progress: text(job.progress),
    error: text(job.error),
    hint: text(job.hint),
    notes: texts(job.notes),
    ended: ENDED.has(text(job.state))
  };
}

function readRun(run: Record<string, Json | undefined>): CapturedRun {
  return {
    name: text(run.name),
    path: text(run.path),
    bytes: number(run.size_bytes),
    sentence: text(run.sentence)
  };
}

function records(value: Json | undefined): Record<string, Json | undefined>[] {
  return Array.isArray(value) ? value.map(record) : [];
}

function holder(name: string): Holder {
  return name === 'us' || name === 'another' ? name : 'nobody';
}
