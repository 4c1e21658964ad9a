import { ServerConnection } from '@jupyterlab/services';
import { isAbort } from '@xprof-nb/views';
import { describe, expect, it, vi } from 'vitest';
import { Api } from './api';

function api(respond: (request: Request) => Promise<Response>) {
  const fetch = vi.fn((input: RequestInfo | URL, init?: RequestInit) => respond(new Request(input, init)));
  const settings = ServerConnection.makeSettings({ baseUrl: 'http://127.0.0.1/base/', fetch, token: '' });
  return { api: new Api(settings), fetch };
}

function json(status: number, body: unknown): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } });
}

describe('Api', () => {
  it('posts what a view asks', async () => {
    let asked: unknown;
    const { api: client } = api(async (request) => {
      asked = [new URL(request.url).pathname, request.method, await request.json()];
      return json(200, { version: 1 });
    });
    await client.snapshot('/r', 'op_profile', { by: 'category' });
    const body = { run: '/r', view: 'op_profile', params: { by: 'category' } };
    expect(asked).toEqual(['/base/xprof-nb/api/v1/snapshot', 'POST', body]);
  });

  it('gives the error of the server with its hint', async () => {
    const error = { kind: 'ForbiddenPathError', message: 'outside', hint: 'Set c.XprofNb.logdirs.' };
    const { api: client } = api(async () => json(403, { error }));
    await expect(client.query('/r', 'ops', {})).rejects.toMatchObject({
      message: 'outside',
      hint: error.hint
    });
  });

  it('says when the server has no extension, or does not answer', async () => {
    const missing = api(async () => new Response('<html>', { status: 404 }));
    await expect(missing.api.version()).rejects.toMatchObject({ kind: 'NoExtension' });
    const dead = api(async () => {
      throw new TypeError('failed');
    });
    await expect(dead.api.version()).rejects.toMatchObject({ kind: 'NetworkError' });
  });

  it('tells an abort from a failure', async () => {
    const abort = new AbortController();
    const { api: client } = api(async () => {
      abort.abort();
      throw new TypeError('failed');
    });
    await expect(client.snapshot('/r', 'op_profile', {}, abort.signal)).rejects.toSatisfy(isAbort);
  });
});
