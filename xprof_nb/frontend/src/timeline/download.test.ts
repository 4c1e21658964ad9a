import { describe, expect, it, vi } from 'vitest';
import type { Columns } from '../columns';
import type { Answer, Params } from '../host';
import { FakeHost } from '../testing/fixtures';
import { eventBoxes, traceSnapshot, tracks } from '../testing/trace';
import { fetchTrace } from './download';
import { savedTrace } from './saved_trace';
import { State } from './state';

const PIECES = ['{"traceEvents":[\n', '{"name":"\\u003c/script>"},\n', ']}\n'];

async function through(content: Blob, stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  return new Uint8Array(await new Response(content.stream().pipeThrough(stream)).arrayBuffer());
}

async function answerOf(part: number): Promise<Answer> {
  const bytes = await through(new Blob([PIECES[part] as string]), new CompressionStream('gzip'));
  const table: Columns = {
    rows: bytes.length,
    names: ['bytes'],
    meta: {},
    numbers: new Map([['bytes', bytes]]),
    strings: new Map()
  };
  return { table, summary: { part_count: PIECES.length, suffix: '.json.gz' }, notes: [] };
}

describe('a download', () => {
  it('is one gzip of all parts, and says how far it is', async () => {
    const host = new FakeHost('kernel', traceSnapshot(), async (_, params) =>
      answerOf(params.part as number)
    );
    const progress = vi.fn();
    const { content, extension } = await fetchTrace(
      host,
      'chrome',
      { start_ps: 3 },
      progress,
      new AbortController().signal
    );
    expect(extension).toBe('json.gz');
    const written = await through(content, new DecompressionStream('gzip'));
    expect(new TextDecoder().decode(written)).toBe(PIECES.join(''));
    expect(progress.mock.calls).toEqual([
      [0, 1],
      [1, 3],
      [2, 3]
    ]);
    expect(host.asked[1]).toEqual({
      query: 'trace_export',
      params: { start_ps: 3, format: 'chrome', part: 1 }
    });
  });

  it('can be stopped between parts', async () => {
    const abort = new AbortController();
    const host = new FakeHost('server', traceSnapshot(), async (_: string, params: Params, signal) => {
      if (params.part === 1) {
        abort.abort();
        signal?.throwIfAborted();
      }
      return answerOf(params.part as number);
    });
    await expect(fetchTrace(host, 'perfetto', {}, () => undefined, abort.signal)).rejects.toMatchObject({
      name: 'AbortError'
    });
    expect(host.asked).toHaveLength(2);
  });

  it('without bytes is an error that says what to do', async () => {
    const whole = await answerOf(0);
    const nothing = { ...whole, table: { ...whole.table, numbers: new Map() } };
    const host = new FakeHost('kernel', traceSnapshot(), async () => nothing);
    const fetched = fetchTrace(host, 'chrome', {}, () => undefined, new AbortController().signal);
    await expect(fetched).rejects.toMatchObject({ hint: expect.stringContaining('Restart') });
  });
});

describe('what a snapshot holds', () => {
  it('is written for other viewers, each event once and harmless in a page', () => {
    const state = new State(tracks(), traceSnapshot().summary);
    state.levels.add(eventBoxes(undefined, { start: 0, end: 10_000_000 }));
    state.levels.add(eventBoxes(undefined, { start: 2_500_000, end: 5_000_000 }, 4000));
    const written = savedTrace(state, 'run "x"', 'Open it.');
    expect(written).not.toMatch(/[<>]/);
    const { traceEvents, otherData } = JSON.parse(written);
    const drawn = traceEvents.filter((event: { ph: string }) => event.ph === 'X');
    expect(drawn).toHaveLength(8);
    expect(drawn).toContainEqual(
      expect.objectContaining({ name: '<img src=x onerror="globalThis.pwned=1">', ts: 8, dur: 1, tid: 3 })
    );
    expect(traceEvents).toContainEqual(
      expect.objectContaining({ ph: 'M', name: 'process_name', args: { name: 'vm › TPU:0' } })
    );
    expect(otherData.note).toContain('Open it.');
  });
});
