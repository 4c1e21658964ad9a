import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  // The sources, so that tests need no build.
  resolve: {
    alias: { '@xprof-nb/views': fileURLToPath(new URL('../xprof_nb/frontend/src/index.ts', import.meta.url)) }
  },
  test: { environment: 'happy-dom', include: ['src/**/*.test.ts'] }
});
