// Puts the modules of `js/dist` into few files. Bundlers of apps cut a package that has parts for later by which of
// them reach a module: of the start they made 24 files, and a page waits for each.

import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ROOT } from './run.mjs';

const DIST = join(ROOT, 'js', 'dist');

/** The entries and programs of the package by their names in `js/dist`; `full` is made of the first. */
async function entries() {
  const { exports, bin } = JSON.parse(await readFile(join(ROOT, 'js', 'package.json'), 'utf8'));
  const paths = [...Object.values(exports).map((one) => one.default), ...Object.values(bin)];
  const files = paths.map((path) => join(ROOT, 'js', path));
  const names = files.map((file) => relative(DIST, file).replace(/\.js$/, ''));
  return names.filter((name) => name !== 'full');
}

/** Which modules a module imports, and not later. */
class Imports {
  #of = new Map();

  plugin = {
    name: 'imports',
    moduleParsed: ({ id, importedIds }) => {
      this.#of.set(id, importedIds);
    },
  };

  /** All that a page has loaded once it has these modules. */
  reach(ids) {
    const found = new Set(ids);
    for (const id of found) for (const next of this.#of.get(id) ?? []) found.add(next);
    return found;
  }
}

/**
 * Replaces the modules of the package, as tsc made them, by a file for each entry, one for the start of a page, one for
 * what other entries share with it, and those that are loaded later.
 */
export async function joinModules() {
  // Imported late: its package is only there once `setup` has run.
  const { rolldown } = await import('rolldown');
  const names = await entries();
  const fileOf = (name) => join(DIST, `${name}.js`);
  const imports = new Imports();
  const build = await rolldown({
    input: Object.fromEntries(names.map((name) => [name, fileOf(name)])),
    platform: 'neutral',
    external: /^(?![A-Za-z]:)[^./]/, // packages, which the app's bundler finds
    plugins: [imports.plugin],
  });
  const isStart = (id) => imports.reach([fileOf('index')]).has(id);
  const others = names.filter((name) => name !== 'index').map(fileOf);
  const isShared = (id) => isStart(id) && imports.reach(others).has(id);
  const { output } = await build.generate({
    format: 'esm',
    minify: 'dce-only',
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    codeSplitting: {
      groups: [
        { name: 'shared', test: isShared, priority: 2 },
        { name: 'start', test: isStart, priority: 1 },
      ],
    },
  });
  await build.close();
  for (const file of await readdir(DIST, { recursive: true })) {
    if (file.endsWith('.js')) await rm(join(DIST, file));
  }
  for (const { fileName, code } of output) await writeFile(join(DIST, fileName), code);
  return output;
}
