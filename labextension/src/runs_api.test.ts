import { ServerConnection } from '@jupyterlab/services';
import { describe, expect, it } from 'vitest';
import { Api } from './api';
import { RunsApi } from './runs_api';

type Seen = { method: string; path: string; etag: string | null; body: string };

function served(...answers: Response[]) {
  const seen: Seen[] = [];
  const fetch = async (input: RequestInfo | URL, init?: RequestInit) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    // JupyterLab adds the time to what must not come from a cache.
    const path = url.pathname + url.search.replace(/[?&]\d+$/, '');
    const etag = request.headers.get('If-None-Match');
    seen.push({ method: request.method, path, etag, body: await request.text() });
    return answers.shift() ?? new Response('{}');
  };
  const settings = ServerConnection.makeSettings({ baseUrl: 'http://127.0.0.1/base/', fetch, token: '' });
  return { client: new RunsApi(new Api(settings)), seen };
}

function json(body: unknown, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), { headers });
}

describe('RunsApi', () => {
  it('reads runs, and takes what is not known as absent', async () => {
    const row = {
      run: 'r',
      path: '/r',
      logdir: '/l',
      started: null,
      duration_s: null,
      host_count: 1,
      bytes: 7,
      device: null
    };
    const { client } = served(json({ runs: [row], roots: ['/l'], truncated: true }));
    const { runs, roots, truncated, scanning } = await client.list();
    expect([roots, truncated, scanning]).toEqual([['/l'], true, false]);
    expect(runs[0]).toMatchObject({ run: 'r', bytes: 7, started: null, device: '', tags: [], hosts: [] });
    expect(runs[0]?.durationSeconds).toBeNaN();
  });

  it('asks only for what is new', async () => {
    const { client, seen } = served(
      json({ runs: [] }, { ETag: '"1"' }),
      new Response(null, { status: 304 }),
      json({ runs: [], roots: ['/new'] })
    );
    const first = await client.list();
    expect(await client.list()).toBe(first);
    expect((await client.list()).roots).toEqual(['/new']);
    expect(seen.map(({ etag }) => etag)).toEqual([null, '"1"', '"1"']);
  });

  it('sends a path as one value, whatever is in it', async () => {
    const { client, seen } = served(json({ busy: [0.5, null], step_time_ps: null }));
    const path = '/logs/a b&c=d/../é';
    const { busy, stepTimesPs } = await client.thumbnail(path, new AbortController().signal);
    expect(busy).toEqual([0.5, Number.NaN]);
    expect(stepTimesPs).toEqual([]);
    expect(seen[0]?.path).toBe(`/base/xprof-nb/api/v1/thumbnail?run=${encodeURIComponent(path)}`);
    expect(new URLSearchParams(client.exportUrl(path).split('?')[1]).get('run')).toBe(path);
  });

  it('knows what the server can do once it was asked', async () => {
    const { client } = served(json({ version: '0.1.0', api: 1 }), json({ capabilities: ['jobs'] }));
    await client.askAbilities();
    expect(client.can('jobs')).toBe(false);
    await client.askAbilities();
    expect([client.can('jobs'), client.can('manage')]).toEqual([true, false]);
  });

  it('changes, throws away and brings back', async () => {
    const trashed = [{ run: '/r', trash: '/l/.trash/1/r' }];
    const { client, seen } = served(json({}), json({ trashed }), json({ runs: ['/r'] }));
    await client.change('/r', { note: 'batch 8', tags: ['a'] });
    await client.restore(await client.discard(['/r']));
    expect(seen.map(({ method, path, body }) => [method, path.split('/').pop(), JSON.parse(body)])).toEqual([
      ['PATCH', 'run', { run: '/r', note: 'batch 8', tags: ['a'] }],
      ['POST', 'trash', { runs: ['/r'] }],
      ['POST', 'restore', { trash: ['/l/.trash/1/r'] }]
    ]);
  });

  it('lists jobs and ends one', async () => {
    const job = { id: 'a-1', run: '/r', query: 'trace', state: 'running', elapsed_s: 2.5 };
    const { client, seen } = served(json({ jobs: [job] }), new Response(null, { status: 204 }));
    expect(await client.jobs()).toEqual([
      { id: 'a-1', run: '/r', query: 'trace', state: 'running', elapsedSeconds: 2.5 }
    ]);
    await client.cancel('a-1');
    expect(seen[1]).toMatchObject({ method: 'DELETE', path: '/base/xprof-nb/api/v1/jobs/a-1' });
  });
});
