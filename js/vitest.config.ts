import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// As it is published: see scripts/op-sqlite.mjs.
const version = process.env.HEDGEROW_OP_SQLITE?.split(',').filter(Boolean).at(-1);

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/core-up-to-date.mjs',
    // Vitest leaves a core free, which of two is half of them.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // A machine that is busy is not at fault.
    testTimeout: 30_000,
  },
  resolve: {
    // What only phones have.
    alias: {
      '@op-engineering/op-sqlite': version
        ? at(`../.cache/op-sqlite/${version}/package/node/dist/index.js`)
        : at('test/op-sqlite-package.ts'),
      'react-native': at('test/op-sqlite-native.ts'),
    },
  },
});
