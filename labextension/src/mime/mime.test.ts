import { type Json, MIME } from '@xprof-nb/views';
import { describe, expect, it, vi } from 'vitest';
import type { Api } from '../api';
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
    const runs = vi.fn(async () => ({ runs: [{ path: '/logs/r' }], roots: [], truncated: false }));
    const known = new KnownRuns({ runs } as unknown as Api);
    expect(await known.has('/logs/r')).toBe(true);
    expect(await known.has('/logs/r/vm.xplane.pb')).toBe(true);
    expect(await known.has('/logs/r2')).toBe(false);
    expect(await known.has('')).toBe(false);
    expect(runs).toHaveBeenCalledTimes(1);
  });

  it('knows nothing when the server cannot be asked', async () => {
    const runs = async () => Promise.reject(new Error('no'));
    expect(await new KnownRuns({ runs } as unknown as Api).has('/logs/r')).toBe(false);
  });
});
