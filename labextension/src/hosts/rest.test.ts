import { type Answer, readPayload } from '@xprof-nb/views';
import { describe, expect, it, vi } from 'vitest';
import payload from '../../../xprof_nb/frontend/src/testing/op_profile.json';
import type { Api } from '../api';
import { RestHost } from './rest';

const answer = { summary: {}, notes: [] } as unknown as Answer;

function fakeApi(now: unknown) {
  const snapshot = vi.fn(async () => now);
  const query = vi.fn(async () => answer);
  return { api: { snapshot, query } as unknown as Api, snapshot, query };
}

describe('RestHost', () => {
  it('draws what the server opens and asks it for more', async () => {
    const { api, query } = fakeApi(payload);
    const host = await RestHost.open(api, 'logs/r', 'op_profile', {});
    expect(host.snapshot.run.name).toBe('train-1');
    await host.request('ops', { step: 3 });
    expect(query).toHaveBeenCalledWith('logs/r', 'ops', { step: 3 }, undefined);
  });

  it('checks a saved snapshot against the run once, with the first question', async () => {
    const { api, snapshot, query } = fakeApi(payload);
    const host = RestHost.resume(api, readPayload(payload));
    expect(snapshot).not.toHaveBeenCalled();
    await host.request('ops', {});
    await host.request('ops', {});
    expect(snapshot).toHaveBeenCalledTimes(1);
    expect(query).toHaveBeenCalledTimes(2);
  });

  it('does not mix the numbers of two runs', async () => {
    const { api, query } = fakeApi({ ...payload, run: { ...payload.run, identity: 'other' } });
    const host = RestHost.resume(api, readPayload(payload));
    await expect(host.request('ops', {})).rejects.toMatchObject({ kind: 'ChangedRun' });
    expect(query).not.toHaveBeenCalled();
  });
});
