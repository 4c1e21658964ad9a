import { type Json, MIME } from '@xprof-nb/views';
import { describe, expect, it, vi } from 'vitest';
import type { Api } from '../api';
import { KeptWithOutput } from './kept';
import { hasLiveWidget, WIDGET_MIME, widgetId } from './kernel';
import { KnownRuns } from './known';
import type { Surroundings } from './renderer';

type Model = Parameters<typeof widgetId>[0];

function model(trusted: boolean, data: { [mime: string]: Json }): Model {
  return { trusted, data, metadata: {}, setData: () => undefined } as unknown as Model;
}

function notebook(kernel: object | null): Surroundings {
  return { sessionContext: { session: { kernel } } } as unknown as Surroundings;
}

describe('widgetId', () => {
  const data = { [MIME]: {}, [WIDGET_MIME]: { model_id: 'abc' } };

  it('is there only in trusted outputs that have a widget', () => {
    expect(widgetId(model(true, data))).toBe('abc');
    expect(widgetId(model(false, data))).toBeNull();
    expect(widgetId(model(true, { [MIME]: {} }))).toBeNull();
  });
});

describe('hasLiveWidget', () => {
  const comms = (ids: string[]) => async () => ({
    content: {
      status: 'ok',
      comms: Object.fromEntries(ids.map((id) => [id, { target_name: 'jupyter.widget' }]))
    }
  });

  it('knows without asking what came through this page', async () => {
    expect(await hasLiveWidget(notebook({ hasComm: () => true }), 'abc')).toBe(true);
  });

  it('waits until the notebook is connected again', async () => {
    const session: { kernel: object | null } = { kernel: null };
    const ready = Promise.resolve().then(() => {
      session.kernel = { hasComm: () => true };
    });
    const surroundings = { sessionContext: { session, ready } } as unknown as Surroundings;
    expect(await hasLiveWidget(surroundings, 'abc')).toBe(true);
  });

  it('asks the kernel after a reload', async () => {
    expect(
      await hasLiveWidget(notebook({ hasComm: () => false, requestCommInfo: comms(['abc']) }), 'abc')
    ).toBe(true);
    expect(await hasLiveWidget(notebook({ hasComm: () => false, requestCommInfo: comms([]) }), 'abc')).toBe(
      false
    );
    expect(await hasLiveWidget(notebook(null), 'abc')).toBe(false);
  });

  it('does not wait for a kernel that is busy', async () => {
    vi.useFakeTimers();
    const kernel = { hasComm: () => false, requestCommInfo: () => new Promise(() => undefined) };
    const live = hasLiveWidget(notebook(kernel), 'abc');
    await vi.runAllTimersAsync();
    expect(await live).toBe(false);
    vi.useRealTimers();
  });
});

describe('KnownRuns', () => {
  it('knows runs and the files in them, and asks once', async () => {
    const request = vi.fn(async () => new Response(JSON.stringify({ runs: [{ path: '/logs/r' }] })));
    const known = new KnownRuns({ request } as unknown as Api);
    expect(await known.has('/logs/r')).toBe(true);
    expect(await known.has('/logs/r/vm.xplane.pb')).toBe(true);
    expect(await known.has('/logs/r2')).toBe(false);
    expect(await known.has('')).toBe(false);
    expect(request).toHaveBeenCalledTimes(1);
  });

  it('knows nothing when the server cannot be asked', async () => {
    const request = async () => Promise.reject(new Error('no'));
    expect(await new KnownRuns({ request } as unknown as Api).has('/logs/r')).toBe(false);
  });
});

describe('what is kept with an output', () => {
  const run = { identity: 'r1' };
  const state = (markers: Json[]) => ({
    shown: { window: 1 },
    made: markers.length > 0 ? { markers } : {}
  });

  function output(payload: Json) {
    const data: { [mime: string]: Json } = { [MIME]: payload, 'text/plain': 'x' };
    const changed = vi.fn();
    const kept = {
      trusted: true,
      data,
      metadata: {},
      setData: (options: { data: typeof data }) => {
        kept.data = options.data;
        changed();
      }
    };
    return { kept: kept as unknown as Model, changed };
  }

  it('is what a person made, in the notebook, and only when it changes', () => {
    const { kept, changed } = output({ run, table: 't' });
    const keeper = new KeptWithOutput(kept, true);
    expect(keeper.state).toBeNull();
    expect(keeper.write(state([]))).toContain('save it');
    expect(changed).not.toHaveBeenCalled();
    changed.mockImplementation(() => expect(keeper.isWriting).toBe(true));
    keeper.write(state([{ id: 'm' }]));
    keeper.write(state([{ id: 'm' }]));
    expect(changed).toHaveBeenCalledTimes(1);
    expect(kept.data).toEqual({
      [MIME]: { run, table: 't', state: { made: { markers: [{ id: 'm' }] } } },
      'text/plain': 'x'
    });
    expect(keeper.isWriting).toBe(false);
    keeper.write(state([]));
    expect(kept.data[MIME]).toEqual({ run, table: 't' });
  });

  it('comes back when the output is drawn again, and from the notebook', () => {
    const { kept } = output({ run });
    new KeptWithOutput(kept, true).write(state([{ id: 'm' }]));
    expect(new KeptWithOutput(kept, true).state).toEqual(state([{ id: 'm' }]));
    const reopened = output(kept.data[MIME] as Json).kept;
    expect(new KeptWithOutput(reopened, true).state).toEqual({ shown: {}, made: { markers: [{ id: 'm' }] } });
  });

  it('is not of another run that came into its place, nor in a notebook where there is none', () => {
    const { kept } = output({ run });
    const keeper = new KeptWithOutput(kept, false);
    expect(keeper.write(state([]))).toBe('');
    kept.setData({ data: { [MIME]: { run: { identity: 'r2' } } } });
    expect(new KeptWithOutput(kept, false).state).toBeNull();
  });
});
