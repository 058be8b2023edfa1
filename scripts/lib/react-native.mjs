// Builds `js/hedgerow/dist/react-native`: the wrapper with the core in plain JavaScript. It replaces globals
// that Hermes lacks, without changing the globals of the app. Metro selects it by the condition
// `react-native` in the package's exports.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './run.mjs';

const SOURCE_DIR = join(ROOT, 'js', 'hedgerow', 'src');
const STAND_INS = join(SOURCE_DIR, 'core', 'react-native');

/**
 * Returns the sources of the entries by their names, from the exports of the package for `react-native`. One build
 * makes all of them, so that they share code: all must have the same error class.
 */
async function entries() {
  const { exports } = JSON.parse(
    await readFile(join(ROOT, 'js', 'hedgerow', 'package.json'), 'utf8'),
  );
  const nameOf = (path, folder) => path.slice(folder.length, -'.js'.length);
  const all = new Map();
  for (const { 'react-native': path, default: other } of Object.values(exports)) {
    if (path === undefined) continue;
    const name = nameOf(path, './dist/react-native/');
    // `hedgerow` comes first: there, `hedgerow/slim` is the same.
    if (!all.has(name)) all.set(name, join(SOURCE_DIR, `${nameOf(other, './dist/')}.ts`));
  }
  return Object.fromEntries(all);
}

/** Sources that are left out, and the files that replace them. */
export const SWAPPED = new Map(
  [
    ['core/check-platform.ts', 'hermes-check-platform.ts'],
    ['core/instantiate-core.ts', 'hermes-core.ts'],
    ['core/instantiate-on-demand-core.ts', 'hermes-on-demand-core.ts'],
    ['base/missing-features.ts', 'hermes-missing-features.ts'],
    ['core/assumed-speed.ts', 'hermes-assumed-speed.ts'],
    ['base/post-task.ts', 'hermes-post-task.ts'],
    ['storage/idb/idb.ts', 'hermes-no-indexeddb.ts'],
  ].map(([from, to]) => [join(SOURCE_DIR, from), join(STAND_INS, to)]),
);

/** Globals, and members of them, that Hermes may lack. */
const INJECTED = {
  TextEncoder: [join(STAND_INS, 'hermes-text.ts'), 'TextEncoder'],
  TextDecoder: [join(STAND_INS, 'hermes-text.ts'), 'TextDecoder'],
  ...Object.fromEntries(
    ['performance', 'queueMicrotask', 'AbortController', 'crypto', 'structuredClone'].map(
      (name) => [name, [join(STAND_INS, 'hermes-globals.ts'), name]],
    ),
  ),
  'Symbol.asyncIterator': [join(STAND_INS, 'hermes-globals.ts'), 'asyncIterator'],
};

const swap = {
  name: 'stand-ins',
  async resolveId(source, importer) {
    if (importer === undefined || !source.startsWith('.')) return null;
    const found = await this.resolve(source, importer, { skipSelf: true });
    const standIn = found === null ? undefined : SWAPPED.get(found.id);
    return standIn ?? found;
  },
};

/** Builds the package. The core in plain JavaScript must exist. */
export async function buildReactNative(
  outDir = join(ROOT, 'js', 'hedgerow', 'dist', 'react-native'),
) {
  // Imported late: its package is only there once `setup` has run.
  const { rolldown } = await import('rolldown');
  const missing = [...SWAPPED].flat().filter((file) => !existsSync(file));
  if (missing.length > 0) throw new Error(`no such file: ${missing.join(', ')}`);
  const build = await rolldown({
    input: await entries(),
    platform: 'neutral',
    external: /^(?![A-Za-z]:)[^./]/, // packages, which the app's Metro finds
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    // Fails the build, not the app, if an import is missing.
    onLog(level, { code, message }) {
      const isHarmless = /^(PLUGIN_TIMINGS|MODULE_LEVEL_DIRECTIVE)$/.test(code);
      if (level === 'warn' && !isHarmless) throw new Error(message);
    },
    plugins: [swap],
    transform: { inject: INJECTED, target: 'es2022' },
  });
  await build.write({
    dir: outDir,
    format: 'esm',
    minify: 'dce-only',
    chunkFileNames: '[name].js',
    // Puts the core in a separate file: it is nine tenths of the size.
    codeSplitting: { groups: [{ name: 'core', test: /generated[\\/]plain/ }] },
  });
  await build.close();
}
