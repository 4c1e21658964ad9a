import type { Kernel, KernelMessage } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { VERSION } from '../tokens';
import { KernelTalk } from './kernel_talk';

const COMM = 'xprof_nb.capture';

/** A kernel process: it knows its subshells, and whether our extension is loaded. */
class Process {
  readonly subshells: string[] = [];
  constructor(readonly isLoaded: boolean) {}

  answer({ msg_type, subshell_id }: KernelMessage.IHeader & { subshell_id?: string | null }): unknown {
    if (msg_type === 'create_subshell_request') {
      this.subshells.push(`${Math.random()}`);
      return { status: 'ok', subshell_id: this.subshells.at(-1) };
    }
    if (msg_type === 'list_subshell_request') {
      return { status: 'ok', subshell_id: this.subshells };
    }
    const isHeard = subshell_id === null || subshell_id === undefined || this.subshells.includes(subshell_id);
    return isHeard ? { status: 'ok', comms: this.isLoaded ? { [COMM]: {} } : {} } : undefined;
  }
}

function connection() {
  const kernel = {
    process: new Process(true),
    status: 'idle',
    isDisposed: false,
    supportsSubshells: true,
    info: Promise.resolve({}),
    send(message: KernelMessage.IMessage) {
      const content = kernel.process.answer(message.header as KernelMessage.IHeader);
      return { done: content === undefined ? new Promise(() => undefined) : Promise.resolve({ content }) };
    },
    sendControlMessage: (message: KernelMessage.IMessage) => kernel.send(message),
    sendShellMessage: (message: KernelMessage.IMessage) => kernel.send(message),
    dispose: () => undefined
  };
  const { iopubMessage, statusChanged } = {
    iopubMessage: new Signal<unknown, unknown>(kernel),
    statusChanged: new Signal<unknown, unknown>(kernel)
  };
  return Object.assign(kernel, { iopubMessage, statusChanged });
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('finds out by itself that a silent kernel was restarted', async () => {
  const kernel = connection();
  const talk = new KernelTalk(kernel as unknown as Kernel.IKernelConnection, () => undefined);
  await vi.advanceTimersByTimeAsync(0);
  expect(talk.standing).toBe('ready');

  kernel.process = new Process(false);
  talk.send({ do: 'state' });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(talk.standing).toBe('not loaded');
  talk.dispose();
});

it('keeps its subshell while the kernel is only slow', async () => {
  const kernel = connection();
  const talk = new KernelTalk(kernel as unknown as Kernel.IKernelConnection, () => undefined);
  await vi.advanceTimersByTimeAsync(0);
  talk.send({ do: 'state' });
  await vi.advanceTimersByTimeAsync(20_000);
  expect(talk.standing).toBe('ready');
  expect(kernel.process.subshells).toHaveLength(1);
  talk.dispose();
});

it('tells the kernel which front end speaks', async () => {
  const kernel = connection();
  const talk = new KernelTalk(kernel as unknown as Kernel.IKernelConnection, () => undefined);
  await vi.advanceTimersByTimeAsync(0);
  const sent = vi.spyOn(kernel, 'sendShellMessage');
  talk.send({ do: 'watch' });
  expect(sent.mock.calls[0]?.[0].content).toEqual({ comm_id: COMM, data: { do: 'watch', version: VERSION } });
  talk.dispose();
});
