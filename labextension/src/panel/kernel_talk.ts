/** The way to one running kernel: a comm with a known name, spoken to on a subshell where the kernel has them. */
import { type Kernel, KernelMessage } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';
import type { Talk } from '@xprof-nb/views';
import { VERSION } from '../tokens';

/** Target and id of the comm that `%load_ext xprof_nb` enters. */
const COMM = 'xprof_nb.capture';
const LOAD = '%load_ext xprof_nb';
const INFO_WITHIN_MS = 1_500;
const SUBSHELL_WITHIN_MS = 5_000;
/** A kernel silent for so long is asked whether it is still the one that was spoken to. */
const SILENCE_MS = 3_000;

const RESTARTS: ReadonlySet<Kernel.Status> = new Set(['starting', 'restarting', 'autorestarting']);

export type Standing = 'asking' | 'ready' | 'not loaded' | 'loading' | 'dead';

/**
 * Messages are sent as they are instead of through `Kernel.IComm`: only one connection of a page handles comms, and it
 * closes those it does not know. A comm that is not there is not opened either, since kernels print a complaint then.
 */
export class KernelTalk implements Talk {
  private readonly _listeners = new Set<(message: unknown) => void>();
  private _standing: Standing = 'asking';
  private _subshell: string | null = null;
  private _asked = 0;
  private _silence: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly _kernel: Kernel.IKernelConnection,
    private readonly _changed: () => void
  ) {
    _kernel.iopubMessage.connect(this._hear, this);
    _kernel.statusChanged.connect(this._followStatus, this);
    void this.ask();
  }

  get standing(): Standing {
    return this._standing;
  }

  /** Whether it answers while a cell runs. */
  get hasSubshell(): boolean {
    return this._subshell !== null;
  }

  get isBusy(): boolean {
    return this._kernel.status === 'busy';
  }

  send(message: Parameters<Talk['send']>[0]): void {
    if (this._standing === 'ready') {
      this._sendShell('comm_msg', { comm_id: COMM, data: { ...message, version: VERSION } });
      this._silence ??= setTimeout(() => void this._askAgain(), SILENCE_MS);
    }
  }

  listen(heard: (message: unknown) => void): () => void {
    this._listeners.add(heard);
    return () => this._listeners.delete(heard);
  }

  /** Find out whether the kernel has our extension loaded. */
  async ask(): Promise<void> {
    const asked = ++this._asked;
    try {
      this._subshell ??= await createSubshell(this._kernel);
      const future = this._sendShell('comm_info_request', { target_name: COMM });
      const reply = (await future.done) as KernelMessage.ICommInfoReplyMsg;
      if (asked === this._asked && !this._kernel.isDisposed) {
        const { content } = reply;
        this._set(content.status === 'ok' && COMM in content.comms ? 'ready' : 'not loaded');
      }
    } catch {
      // The kernel restarts or is gone; its status says which.
    }
  }

  /** Load our extension; the kernel does that when it is free. */
  async load(): Promise<void> {
    this._set('loading');
    try {
      await this._kernel.requestExecute({ code: LOAD, silent: true, store_history: false }).done;
      await this.ask();
    } catch {
      // As above.
    }
  }

  /** No connection but the one that restarts a kernel is told of it for sure: the old subshell is gone then. */
  private async _askAgain(): Promise<void> {
    this._silence = undefined;
    if (this._subshell !== null && !this._kernel.isDisposed) {
      const known = await subshells(this._kernel).catch(() => null);
      if (known !== null && !known.includes(this._subshell ?? '')) {
        this._subshell = null;
        this._set('asking');
      }
    }
    await this.ask();
  }

  dispose(): void {
    clearTimeout(this._silence);
    this._listeners.clear();
    this._kernel.iopubMessage.disconnect(this._hear, this);
    this._kernel.statusChanged.disconnect(this._followStatus, this);
    if (this._subshell !== null && !this._kernel.isDisposed) {
      control(this._kernel, 'delete_subshell_request', { subshell_id: this._subshell }).catch(
        () => undefined
      );
    }
    this._kernel.dispose();
  }

  private _sendShell(msgType: 'comm_msg' | 'comm_info_request', content: JSONObject) {
    const message = KernelMessage.createMessage({
      msgType,
      channel: 'shell',
      username: this._kernel.username,
      session: this._kernel.clientId,
      subshellId: this._subshell ?? undefined,
      content
    } as unknown as KernelMessage.IOptions<KernelMessage.ICommInfoRequestMsg>);
    return this._kernel.sendShellMessage(message, msgType === 'comm_info_request', true);
  }

  private _hear(_: Kernel.IKernelConnection, message: KernelMessage.IIOPubMessage): void {
    if (KernelMessage.isCommMsgMsg(message) && message.content.comm_id === COMM) {
      clearTimeout(this._silence);
      this._silence = undefined;
      for (const listener of [...this._listeners]) {
        listener(message.content.data);
      }
    }
  }

  private _followStatus(_: Kernel.IKernelConnection, status: Kernel.Status): void {
    if (status === 'dead') {
      this._set('dead');
    } else if (RESTARTS.has(status)) {
      this._subshell = null;
      this._set('asking');
    } else if (status === 'idle' && (this._standing === 'not loaded' || this._standing === 'asking')) {
      // It is up again, or a cell may just have loaded the extension.
      void this.ask();
    }
  }

  private _set(standing: Standing): void {
    if (standing !== this._standing) {
      this._standing = standing;
      this._changed();
    }
  }
}

/**
 * A subshell of a kernel, or null where it has none. A kernel that runs a cell does not say what it supports, but it
 * makes a subshell all the same.
 */
async function createSubshell(kernel: Kernel.IKernelConnection): Promise<string | null> {
  const supports = await Promise.race([
    kernel.info.then(() => kernel.supportsSubshells),
    after(INFO_WITHIN_MS)
  ]);
  if (supports === false) {
    return null;
  }
  const content = await control(kernel, 'create_subshell_request', {});
  return typeof content?.subshell_id === 'string' ? content.subshell_id : null;
}

/** The subshells a kernel has, or null if it does not say. */
async function subshells(kernel: Kernel.IKernelConnection): Promise<readonly unknown[] | null> {
  const content = await control(kernel, 'list_subshell_request', {});
  return Array.isArray(content?.subshell_id) ? content.subshell_id : null;
}

/**
 * What a kernel answers about its subshells, undefined if nothing. The methods of the connection throw where the kernel
 * has not said yet that it has any.
 */
async function control(
  kernel: Kernel.IKernelConnection,
  msgType: 'create_subshell_request' | 'list_subshell_request' | 'delete_subshell_request',
  content: JSONObject
): Promise<Record<string, unknown> | undefined> {
  const message = KernelMessage.createMessage({
    msgType,
    channel: 'control',
    username: kernel.username,
    session: kernel.clientId,
    content
  } as KernelMessage.IOptions<KernelMessage.IListSubshellRequestMsg>);
  const reply = kernel.sendControlMessage(message, true, true).done.catch(() => undefined);
  const answered = (await Promise.race([reply, after(SUBSHELL_WITHIN_MS)])) as
    | KernelMessage.IMessage
    | undefined;
  return answered?.content as Record<string, unknown> | undefined;
}

function after(milliseconds: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), milliseconds);
  });
}
