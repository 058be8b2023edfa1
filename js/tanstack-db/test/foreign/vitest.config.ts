// Runs suites of a checkout of TanStack DB, in the folder HEDGEROW_FOREIGN_DIR, on collections of this package.
// HEDGEROW_TANSTACK_DB selects their version of @tanstack/db: `newest`, or the `older` one of the persistence package.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { sourceAliases } from '../../../sources.js';

const dir = process.env.HEDGEROW_FOREIGN_DIR;
if (!dir) throw new Error('HEDGEROW_FOREIGN_DIR must be the folder of a checkout of TanStack/db');
const here = dirname(fileURLToPath(import.meta.url));
const persistence = createRequire(import.meta.url).resolve('@tanstack/db-sqlite-persistence-core');
const isOlder = process.env.HEDGEROW_TANSTACK_DB === 'older';
/** The imports of the suites and of our setups resolve as if from this file. */
const anchor = join(here, 'vitest.config.ts');

export default defineConfig({
  root: join(here, '..', '..'),
  plugins: [
    {
      name: 'packages-of-suites',
      enforce: 'pre',
      async resolveId(source, importer) {
        if (importer === undefined) return null;
        if (source === '@tanstack/db' && isOlder) {
          return this.resolve(source, persistence, { skipSelf: true });
        }
        const isBare = /^[@a-z]/.test(source) && !source.startsWith('node:');
        if (!isBare || !importer.startsWith(dir)) return null;
        return this.resolve(source, anchor, { skipSelf: true });
      },
    },
    {
      name: 'sources-of-suites',
      enforce: 'pre',
      resolveId(source, importer) {
        // Contracts import the source of the tested package: here they get the published one, with our adapter.
        const isContract = importer?.includes('db-sqlite-persistence-core/tests');
        return isContract && /^(\.\.\/)+src$/.test(source)
          ? join(here, 'persistence-under-test.ts')
          : null;
      },
    },
  ],
  resolve: {
    alias: [...sourceAliases, { find: 'tanstack-db-checkout', replacement: dir }],
  },
  server: { fs: { strict: false } },
  test: {
    include: ['test/foreign/*.suite.ts'],
    fileParallelism: false,
    testTimeout: 30_000,
  },
});
