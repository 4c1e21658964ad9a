/** What an untrusted notebook may hold under our mimetype does nothing but be shown. */
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { type Json, MIME, views } from '@xprof-nb/views';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { KnownRuns } from './known';
import { ViewRenderer } from './renderer';

const SCRIPT = '<img src=x onerror="globalThis.ran = 1"><script>globalThis.ran = 1</script>';
const LINK = 'javascript:globalThis.ran=1';
const DANGEROUS =
  'script, iframe, object, embed, [onerror], [onload], [onclick], a[href^="javascript:"], img[src="x"]';

function payload(text: string): { [key: string]: Json } {
  return {
    view: 'overview',
    title: text,
    run: { name: text, path: text, origin: text, hosts: [text], devices: [text], identity: text },
    params: { [text]: text, host: text },
    summary: { [text]: text, sentence: text },
    notes: [text],
    details: { [text]: { [text]: text } },
    state: { shown: { view: text }, made: { [text]: text } },
    table: ''
  };
}

const POLLUTING = JSON.parse(
  '{"__proto__":{"polluted":1},"view":"overview","run":{"__proto__":{"polluted":1}},"params":{"constructor":{"prototype":{"polluted":1}}}}'
);

const CORPUS: [string, Json][] = [
  ['script in every string', payload(SCRIPT)],
  ['script in the name of the view', { ...payload(SCRIPT), view: SCRIPT }],
  ['links that are script', payload(LINK)],
  ['huge strings', payload('x'.repeat(1_000_000))],
  ['a huge table', { ...payload('x'), table: 'A'.repeat(4_000_000) }],
  ['keys all objects share', POLLUTING],
  ['the name of a method as view', { ...payload('x'), view: '__proto__' }],
  ['nothing', null],
  ['a number', 7],
  ['a list', [1, [2, [3]]]],
  ['text', SCRIPT],
  [
    'wrong types',
    { view: 7, run: [], params: 'x', notes: {}, details: [], table: 9, summary: null, state: 4 }
  ]
];

describe('a hostile output', () => {
  const renderers: ViewRenderer[] = [];
  afterEach(() => {
    for (const renderer of renderers.splice(0)) {
      renderer.dispose();
    }
  });

  it.each(CORPUS)('of %s runs nothing, and an answer or its failure is shown', async (_name, data) => {
    const asked = vi.fn(async () => false);
    const renderer = new ViewRenderer({ has: asked, api: {} } as unknown as KnownRuns, null);
    renderers.push(renderer);
    document.body.append(renderer.node);
    const model = { trusted: false, data: { [MIME]: data }, metadata: {}, setData: vi.fn() };
    await renderer.renderModel(model as unknown as IRenderMime.IMimeModel);
    expect(renderer.node.childElementCount).toBeGreaterThan(0);
    expect(renderer.node.querySelector(DANGEROUS)).toBeNull();
    expect(globalThis).not.toHaveProperty('ran');
    expect({}).not.toHaveProperty('polluted');
    expect(model.setData).not.toHaveBeenCalled();
  });

  it('names a view that is one of ours', () => {
    expect(views.get('__proto__')).toBeUndefined();
  });
});
