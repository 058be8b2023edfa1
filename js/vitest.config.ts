import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { ensureSeedBase } from '../scripts/lib/moving-seed.mjs';
import { svelte } from './hedgerow/test/live/frameworks/svelte-plugin.js';
import { sourceAliases } from './sources.js';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// As it is published: see scripts/long/op-sqlite.mjs.
const version = process.env.HEDGEROW_OP_SQLITE?.split(',').filter(Boolean).at(-1);

ensureSeedBase();

export default defineConfig({
  plugins: [svelte],
  environments: { client: { resolve: { conditions: ['browser', 'module', 'production'] } } },
  test: {
    include: ['*/test/**/*.test.ts'],
    globalSetup: 'hedgerow/test/support/core-up-to-date.mjs',
    setupFiles: 'hedgerow/test/support/setup.ts',
    reporters: ['default', './hedgerow/test/support/stuck-reporter.ts'],
    // Cheaper to start than processes: a sixth of the whole.
    pool: 'threads',
    // One more than there are cores: tests also wait.
    maxWorkers: availableParallelism() + 1,
    // The one limit of all tests: it finds what hangs, and no machine is too slow for it. A search through `SEEDS` has none.
    testTimeout: process.env.SEEDS ? 0 : 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000 } },
    // They have builds for servers and for browsers: which one depends on the environment of the test.
    server: { deps: { inline: [/\/(solid-js|svelte|esm-env)\//] } },
  },
  resolve: {
    alias: [
      ...sourceAliases,
      // Packages that only phones have.
      ...Object.entries({
        '@op-engineering/op-sqlite': version
          ? `../.cache/op-sqlite/${version}/package/node/dist/index.js`
          : 'sqlite/test/support/op-sqlite-package.ts',
        'expo-sqlite': 'sqlite/test/support/expo-sqlite-package.ts',
        expo: 'sqlite/test/support/expo-sqlite-native.ts',
        // Of expo-sqlite as it is published: see scripts/long/expo-sqlite.mjs.
        'await-lock': '../.cache/expo-sqlite/await-lock/build/AwaitLock.js',
        'react-native': 'sqlite/test/support/op-sqlite-native.ts',
      }).map(([find, file]) => ({ find, replacement: at(file) })),
    ],
  },
});
