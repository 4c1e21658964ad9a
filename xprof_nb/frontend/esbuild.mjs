/** Builds the package for bundlers (lib/) and one self-contained module per view for anywidget and pages (../static/). */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = path.dirname(fileURLToPath(import.meta.url));
const production = process.argv.includes('--minify');
const views = readdirSync(path.join(here, 'src'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && existsSync(path.join(here, 'src', entry.name, 'index.ts')))
  .map((entry) => entry.name);
// A module is called as its question is.
const MODULES = { timeline: 'trace' };

const shared = {
  absWorkingDir: here,
  bundle: true,
  charset: 'utf8',
  format: 'esm',
  target: 'es2022',
  loader: { '.css': 'text' },
  minify: production,
  legalComments: 'none',
  logLevel: 'warning'
};

await Promise.all([
  build({
    ...shared,
    entryPoints: ['src/index.ts'],
    outdir: 'lib',
    splitting: true,
    chunkNames: 'view-[hash]'
  }),
  build({
    ...shared,
    entryPoints: Object.fromEntries(views.map((view) => [MODULES[view] ?? view, `src/${view}/index.ts`])),
    outdir: '../static'
  })
]);
