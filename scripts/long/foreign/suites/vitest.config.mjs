// Configures the suites that are written for Vitest. Each reads the place of its files from its environment.

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

export default defineConfig({
  root,
  test: {
    include: ['scripts/long/foreign/suites/*.test.mjs'],
    maxWorkers: 1,
    testTimeout: 30_000,
  },
  server: { fs: { allow: [root] } },
  // Tests of a repository import its sources; this replaces them with the published package.
  plugins: [
    {
      name: 'published',
      enforce: 'pre',
      resolveId(id, importer) {
        const { FOREIGN_DIR = '', FOREIGN_SOURCES, FOREIGN_PUBLISHED } = process.env;
        if (
          !FOREIGN_SOURCES ||
          !importer?.startsWith(FOREIGN_DIR) ||
          !id.startsWith('../../../foreign/suites')
        )
          return;
        const path = join(importer, '..', id).replace(/(\/index)?(\.ts)?$/, '');
        if (path === join(FOREIGN_DIR, FOREIGN_SOURCES)) return this.resolve(FOREIGN_PUBLISHED);
      },
    },
  ],
});
