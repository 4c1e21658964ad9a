/** The notebook that the launcher makes: a program to profile, its capture, and the first questions. */
import type { TranslationBundle } from '@jupyterlab/translation';

const PROGRAM = [
  'import jax',
  'import jax.numpy as jnp',
  '',
  '@jax.jit',
  'def step(x):',
  '    return jnp.tanh(x @ x) / x.shape[0]',
  '',
  'x = step(jnp.ones((512, 512)))'
].join('\n');
const ONE_CELL = [
  '%%xprof --name quickstart',
  'for _ in range(10):',
  '    x = step(x)',
  'x.block_until_ready()'
].join('\n');

/** A notebook, as a file has it, in the language of a kernel. */
export function quickstart(trans: TranslationBundle, kernel: { name: string; display_name: string }) {
  const words = (source: string) => ({ cell_type: 'markdown', source, metadata: {} });
  const code = (source: string) => ({
    cell_type: 'code',
    source,
    metadata: {},
    outputs: [],
    execution_count: null
  });
  return {
    nbformat: 4,
    nbformat_minor: 4,
    metadata: { kernelspec: { ...kernel, language: 'python' }, language_info: { name: 'python' } },
    cells: [
      words(`# ${trans.__('Where does the time go?')}`),
      code('%load_ext xprof_nb'),
      words(trans.__('A program; put yours in its place.')),
      code(PROGRAM),
      words(trans.__('`%%xprof` records the cell below it and shows where its time went.')),
      code(ONE_CELL),
      words(trans.__('A program that already runs, in a thread for one, is captured for a while.')),
      code('%xprof capture 3s')
    ]
  };
}
