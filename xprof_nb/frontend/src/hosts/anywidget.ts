/** A host over an anywidget model: questions travel to the notebook's kernel as custom messages. */
import { decode, type Json } from '../columns';
import {
  type Answer,
  type Host,
  HostError,
  isAbort,
  type Library,
  type Mount,
  type Params,
  type Run,
  type Snapshot
} from '../host';
import { answerOf, errorOf, readPayload, record, text } from '../payload';
import { linkOf, paramsOf } from '../shell/link';
import { onStateChanged, resume } from '../shell/state';
import { showFailure, showWaiting } from '../shell/status';

/** The part of anywidget's model a host uses. */
export interface WidgetModel {
  send(content: unknown): void;
  on(event: WidgetEvent, listener: MessageListener): void;
  off(event: WidgetEvent, listener: MessageListener): void;
}

/** A message came; the way to the kernel has ended, as in a restart, or begun. */
type WidgetEvent = 'msg:custom' | 'comm_live_update';

type MessageListener = (message: unknown, buffers: readonly ArrayBufferView[]) => void;

interface Reply {
  readonly message: { readonly [key: string]: Json | undefined };
  readonly buffers: readonly ArrayBufferView[];
}

interface Pending {
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

/** Request and response over one model. Replies to other views of the same model are left alone. */
export class KernelChannel {
  private readonly _pending = new Map<string, Pending>();
  private readonly _prefix = Math.random().toString(36).slice(2);
  private _sent = 0;

  constructor(private readonly _model: WidgetModel) {
    _model.on('msg:custom', this._receive);
    _model.on('comm_live_update', this._ended);
  }

  ask(query: string, params: Params, signal?: AbortSignal): Promise<Reply> {
    const id = `${this._prefix}-${this._sent++}`;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(aborted());
        return;
      }
      const abandon = () => {
        this._pending.delete(id);
        reject(aborted());
      };
      signal?.addEventListener('abort', abandon, { once: true });
      this._pending.set(id, {
        resolve: (reply) => {
          signal?.removeEventListener('abort', abandon);
          resolve(reply);
        },
        reject
      });
      try {
        this._model.send({ id, query, params });
      } catch {
        this._pending.delete(id);
        reject(gone());
      }
    });
  }

  dispose(): void {
    this._model.off('msg:custom', this._receive);
    this._model.off('comm_live_update', this._ended);
    this._refuse(aborted());
  }

  /** Who asked the kernel before will not hear from the one after. */
  private readonly _ended = () => this._refuse(gone());

  private _refuse(error: Error): void {
    for (const pending of this._pending.values()) {
      pending.reject(error);
    }
    this._pending.clear();
  }

  private readonly _receive: MessageListener = (content, buffers) => {
    const message = record(content);
    const pending = this._pending.get(text(message.id));
    if (pending === undefined) {
      return;
    }
    this._pending.delete(text(message.id));
    if (message.ok === true) {
      pending.resolve({ message, buffers });
    } else {
      pending.reject(errorOf(message.error));
    }
  };
}

/** The live host of a view that a kernel shows. */
export class KernelHost implements Host {
  readonly kind = 'kernel';

  constructor(
    private readonly _channel: KernelChannel,
    readonly snapshot: Snapshot
  ) {}

  async request(query: string, params: Params, signal?: AbortSignal): Promise<Answer> {
    const { buffers } = await this._channel.ask(query, params, signal);
    const [data] = buffers;
    if (data === undefined) {
      throw new HostError(
        'The kernel answered without a table.',
        'Restart the kernel and run the cell again.'
      );
    }
    return answerOf(decode(data));
  }

  async open(view: string, params: Params, signal?: AbortSignal): Promise<Host> {
    const { message } = await this._channel.ask('snapshot', { view, params }, signal);
    return new KernelHost(this._channel, readPayload(message.payload));
  }

  async library(name: Library): Promise<string> {
    const { message } = await this._channel.ask('library', { name });
    return text(message.text);
  }
}

/** What anywidget calls: fetch the snapshot from the kernel, then draw the view. */
export function widgetOf(mount: Mount) {
  return {
    render({ model, el }: { model: WidgetModel; el: HTMLElement }): () => void {
      const channel = new KernelChannel(model);
      const waiting = showWaiting(el, 'Asking the kernel for this view');
      let dispose = () => {};
      channel
        .ask('snapshot', {})
        .then(({ message }) => {
          waiting.remove();
          const host = new KernelHost(channel, readPayload(message.payload));
          const stops = [tellChoices(channel, host.snapshot.run), tellState(channel, el)];
          const mounted = resume(mount, host, el);
          dispose = () => {
            // The view may have something to tell the kernel yet.
            mounted.dispose();
            for (const stop of stops) {
              stop();
            }
          };
        })
        .catch((error: unknown) => {
          waiting.remove();
          if (!isAbort(error)) {
            showFailure(el, error);
          }
        });
      return () => {
        waiting.remove();
        dispose();
        channel.dispose();
      };
    }
  };
}

/** Let the kernel keep how the view stands: for the next time it is drawn, and for code that goes on with it. */
function tellState(channel: KernelChannel, el: HTMLElement): () => void {
  return onStateChanged(el, ({ shown, made }) => {
    channel.ask('state', { shown, made }).catch(() => {
      // The kernel is gone or restarted: nobody there to keep it.
    });
    return 'kept in the kernel until it ends';
  });
}

/** Let the kernel know what is chosen in the page, so that code can go on with it: `profile.selection`. */
function tellChoices(channel: KernelChannel, run: Run): () => void {
  return linkOf(run).subscribe(channel, ({ choice, filters }) => {
    channel.ask('choose', { ...choice, ...paramsOf(filters) }).catch(() => {
      // The kernel is gone or restarted: nobody there to tell.
    });
  });
}

function gone(): HostError {
  return new HostError(
    'The kernel that showed this view was restarted or has ended.',
    'Run the cell again.',
    'KernelGone'
  );
}

function aborted(): DOMException {
  return new DOMException('No longer needed', 'AbortError');
}
