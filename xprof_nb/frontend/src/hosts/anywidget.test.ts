import { describe, expect, it, vi } from 'vitest';
import { HostError, isAbort } from '../host';
import { linkOf } from '../shell/link';
import { everyType, payload, snapshot } from '../testing/fixtures';
import { KernelChannel, KernelHost, widgetOf } from './anywidget';

type Listener = (message: unknown, buffers: readonly ArrayBufferView[]) => void;
type Request = { id: string; query: string; params: object };

class FakeModel {
  readonly sent: Request[] = [];
  listeners = new Set<Listener>();
  ended = new Set<() => void>();

  send(content: unknown): void {
    this.sent.push(content as Request);
  }
  on(event: string, listener: Listener): void {
    this._of(event).add(listener);
  }
  off(event: string, listener: Listener): void {
    this._of(event).delete(listener);
  }
  /** The kernel restarts: what was sent is lost, and nothing more can be. */
  restart(): void {
    this.send = () => {
      throw new Error('Cannot send');
    };
    for (const hear of this.ended) {
      hear();
    }
  }
  private _of(event: string): Set<Listener> {
    return event === 'msg:custom' ? this.listeners : (this.ended as Set<Listener>);
  }
  reply(message: object, buffers: ArrayBufferView[] = []): void {
    for (const listener of this.listeners) {
      listener(message, buffers);
    }
  }
}

const answer = new DataView(
  Uint8Array.from(atob(everyType.base64), (character) => character.charCodeAt(0)).buffer
);

function setUp() {
  const model = new FakeModel();
  const channel = new KernelChannel(model);
  return { model, channel, host: new KernelHost(channel, snapshot()) };
}

describe('KernelHost', () => {
  it('sends query and params and decodes the answer of that id', async () => {
    const { model, host } = setUp();
    const asked = host.request('op_profile', { by: 'category' });
    const other = host.request('ops', {});
    const [first, second] = model.sent as [Request, Request];
    expect(first).toMatchObject({ query: 'op_profile', params: { by: 'category' } });
    expect(first.id).not.toBe(second.id);
    model.reply({ id: second.id, ok: false, error: { kind: 'UsageError', message: 'no', hint: 'do this' } });
    model.reply({ id: first.id, ok: true }, [answer]);
    const { table, summary, notes } = await asked;
    expect([table.rows, summary.answer, notes]).toEqual([3, 42, ['one']]);
    await expect(other).rejects.toMatchObject({ message: 'no', hint: 'do this', kind: 'UsageError' });
  });

  it('leaves replies to other views alone', async () => {
    const { model, host } = setUp();
    const asked = host.request('ops', {});
    model.reply({ id: 'somebody-else', ok: true }, [answer]);
    model.reply({ unrelated: true });
    const [request] = model.sent as [Request];
    model.reply({ id: request.id, ok: true }, [answer]);
    expect((await asked).table.rows).toBe(3);
  });

  it('rejects at once when aborted, and ignores the late reply', async () => {
    const { model, host } = setUp();
    const abort = new AbortController();
    const asked = host.request('ops', {}, abort.signal);
    abort.abort();
    await expect(asked).rejects.toSatisfy(isAbort);
    const [request] = model.sent as [Request];
    expect(() => model.reply({ id: request.id, ok: true }, [answer])).not.toThrow();
  });

  it('does not ask when already aborted', async () => {
    const { model, host } = setUp();
    await expect(host.request('ops', {}, AbortSignal.abort())).rejects.toSatisfy(isAbort);
    expect(model.sent).toEqual([]);
  });

  it('says so when an answer has no table', async () => {
    const { model, host } = setUp();
    const asked = host.request('ops', {});
    model.reply({ id: (model.sent[0] as Request).id, ok: true });
    await expect(asked).rejects.toBeInstanceOf(HostError);
  });

  it('says that the kernel is gone, to who waits for it and to who asks it then', async () => {
    const { model, host } = setUp();
    const gone = { name: 'HostError', kind: 'KernelGone', hint: 'Run the cell again.' };
    const asked = host.request('ops', {});
    model.restart();
    await expect(asked).rejects.toMatchObject(gone);
    for (const more of [host.request('ops', {}), host.open('steps', {}), host.library('bokeh')]) {
      await expect(more).rejects.toMatchObject(gone);
    }
  });

  it('stops listening when disposed', async () => {
    const { model, channel, host } = setUp();
    const asked = host.request('ops', {});
    channel.dispose();
    await expect(asked).rejects.toSatisfy(isAbort);
    expect([model.listeners.size, model.ended.size]).toEqual([0, 0]);
  });
});

describe('what a KernelHost gets besides answers', () => {
  it('opens another view of the run over the same channel', async () => {
    const { model, host } = setUp();
    const opened = host.open('steps', { device: 'TPU:0' });
    const [request] = model.sent as [Request];
    expect(request).toMatchObject({
      query: 'snapshot',
      params: { view: 'steps', params: { device: 'TPU:0' } }
    });
    model.reply({ id: request.id, ok: true, payload: { ...payload, view: 'steps' } });
    const other = await opened;
    expect([other.kind, other.snapshot.view]).toEqual(['kernel', 'steps']);
  });

  it('has libraries from the kernel', async () => {
    const { model, host } = setUp();
    const text = host.library('bokeh');
    const [request] = model.sent as [Request];
    expect(request).toMatchObject({ query: 'library', params: { name: 'bokeh' } });
    model.reply({ id: request.id, ok: true, text: 'a script' });
    expect(await text).toBe('a script');
  });
});

describe('widgetOf', () => {
  it('tells the kernel what is chosen in the page, and stops when it is taken away', async () => {
    const model = new FakeModel();
    const cleanup = widgetOf(() => ({ dispose: () => {} })).render({
      model,
      el: document.createElement('div')
    });
    model.reply({ id: (model.sent[0] as Request).id, ok: true, payload });
    await vi.waitFor(() => {
      linkOf(snapshot().run).choose({ op: 'dot.1', program_id: '17' }, {});
      expect(model.sent.at(-1)).toMatchObject({ query: 'choose', params: { op: 'dot.1', program_id: '17' } });
    });
    cleanup();
    const told = model.sent.length;
    linkOf(snapshot().run).choose({}, {});
    expect(model.sent.length).toBe(told);
  });

  it('fetches the snapshot, mounts the view, and takes it away', async () => {
    const model = new FakeModel();
    const dispose = vi.fn();
    const mount = vi.fn((_host, el: HTMLElement) => {
      el.append('drawn');
      return { dispose };
    });
    const el = document.createElement('div');
    const cleanup = widgetOf(mount).render({ model, el });
    expect(el.textContent).toContain('Asking the kernel');
    model.reply({ id: (model.sent[0] as Request).id, ok: true, payload });
    await vi.waitFor(() => expect(el.textContent).toBe('drawn'));
    expect(mount.mock.calls[0]?.[0].kind).toBe('kernel');
    cleanup();
    expect(dispose).toHaveBeenCalledOnce();
    expect(model.listeners.size).toBe(0);
  });

  it('stays as it is when the kernel is restarted, and can still be handled', async () => {
    const model = new FakeModel();
    const el = document.createElement('div');
    const mount = vi.fn(() => ({ dispose: () => {} }));
    const cleanup = widgetOf(mount).render({ model, el });
    model.reply({ id: (model.sent[0] as Request).id, ok: true, payload });
    await vi.waitFor(() => expect(mount).toHaveBeenCalled());
    model.restart();
    linkOf(snapshot().run).choose({ op: 'dot.2' }, {});
    linkOf(snapshot().run).choose({}, {});
    expect(el.querySelector('[role=alert]')).toBeNull();
    cleanup();
  });

  it('shows what the kernel says went wrong', async () => {
    const model = new FakeModel();
    const el = document.createElement('div');
    widgetOf(vi.fn()).render({ model, el });
    const error = { kind: 'ProfileError', message: 'this view is closed', hint: 'Run its cell again.' };
    model.reply({ id: (model.sent[0] as Request).id, ok: false, error });
    await vi.waitFor(() =>
      expect(el.querySelector('[role=alert]')?.textContent).toContain('Run its cell again.')
    );
  });
});
