// Makes the JavaScript of the package from its sources, in few files. Bundlers of apps split a package with later parts
// by the sets of parts that reach a module: they made 24 files of the start, and a page waits for each.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { ROOT } from './run.mjs';
import { finishSlim, isSlim, slimOf, slimPlugin } from './slim.mjs';

const SOURCE = join(ROOT, 'js', 'hedgerow', 'src');
const DIST = join(ROOT, 'js', 'hedgerow', 'dist');

/**
 * Returns the entries and programs of the package by their names in `js/hedgerow/dist`; `full` and `slim` are made from the
 * first.
 */
async function entries() {
  const { exports, bin } = JSON.parse(
    await readFile(join(ROOT, 'js', 'hedgerow', 'package.json'), 'utf8'),
  );
  // `./package.json` is a file, and no module.
  const modules = Object.values(exports).flatMap((one) => one.default ?? []);
  const paths = [...modules, ...Object.values(bin)];
  const files = paths.map((path) => join(ROOT, 'js', 'hedgerow', path));
  const names = files.map((file) => relative(DIST, file).replace(/\.js$/, ''));
  return names.filter((name) => name !== 'full' && name !== 'slim');
}

/** Records the imports of each module. */
class Imports {
  #now = new Map();
  #ever = new Map();

  plugin = {
    name: 'imports',
    moduleParsed: ({ id, importedIds, dynamicallyImportedIds }) => {
      this.#now.set(id, importedIds);
      this.#ever.set(id, [...importedIds, ...dynamicallyImportedIds]);
    },
  };

  /** Returns all modules that a page has loaded with these; with `ever`, also the modules that they may load later. */
  reach(ids, { ever = false } = {}) {
    const imports = ever ? this.#ever : this.#now;
    const unknown = ids.find((id) => !imports.has(id));
    if (unknown !== undefined) throw new Error(`no entry imports ${unknown}`);
    const found = new Set(ids);
    for (const id of found) for (const next of imports.get(id) ?? []) found.add(next);
    return found;
  }
}

const sourceOf = (name) => join(SOURCE, `${name}.ts`);

/**
 * Generates the files of the entries; `optionsOf` returns further options of rolldown. Returns them with their imports.
 */
async function joined(input, plugins, optionsOf) {
  // Imported late: its package is only there once `setup` has run.
  const { rolldown } = await import('rolldown');
  const imports = new Imports();
  const build = await rolldown({
    input,
    platform: 'neutral',
    external: /^(?![A-Za-z]:)[^./]/, // packages, which the app's bundler finds
    resolve: { extensionAlias: { '.js': ['.ts'] } },
    transform: { target: 'es2022' },
    plugins: [...plugins, imports.plugin],
    checks: { moduleLevelDirective: false }, // a check below finds lost ones
  });
  const { output } = await build.generate({
    format: 'esm',
    minify: 'dce-only',
    entryFileNames: '[name].js',
    ...optionsOf(imports),
  });
  await build.close();
  return { output, imports };
}

/**
 * Writes a file for each entry, one for the start of a page, one for the code that other entries share with it, and the
 * files that are loaded later. The files of `hedgerow/slim` are in a folder, except shared ones.
 */
export async function joinModules() {
  const names = await entries();
  const input = Object.fromEntries(names.map((name) => [name, sourceOf(name)]));
  // A program imports all that pages do: code that it shares with them is no reason to split.
  const others = names.filter((name) => name !== 'index' && !name.startsWith('cli/')).map(sourceOf);
  // The imports must be known before slim's own modules can be separated from the others.
  const { imports: known } = await joined(input, [], () => ({}));
  const start = known.reach([sourceOf('index')]);
  const shared = known.reach(others);
  const isShared = (id) => start.has(id) && shared.has(id);
  // A page that only verifies must not load code that tables and live queries share with the store.
  const alone = known.reach([sourceOf('core/sum-proof/index')]);
  const isBase = (id) => start.has(id) && alone.has(id);
  const isOwn = (id) => start.has(id) && !isShared(id);
  const slim = slimPlugin((id) => [...known.reach([id], { ever: true })].some(isOwn));
  const { output } = await joined(
    { ...input, slim: slimOf(sourceOf('index')) },
    [slim],
    (imports) => {
      const isSlimStart = (id) => imports.reach([slimOf(sourceOf('index'))]).has(id) && isSlim(id);
      return {
        chunkFileNames: ({ moduleIds }) =>
          moduleIds.some(isSlim) ? 'slim/[name].js' : '[name].js',
        codeSplitting: {
          groups: [
            { name: 'base', test: isBase, priority: 4 },
            { name: 'shared', test: isShared, priority: 3 },
            { name: 'start', test: isOwn, priority: 2 },
            { name: 'start', test: isSlimStart, priority: 1 },
          ],
        },
      };
    },
  );
  const clients = await clientsOf(names.map(sourceOf));
  for (const { fileName, code } of output) {
    const file = join(DIST, fileName);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, code);
  }
  const kept = await clientsOf(names.map((name) => join(DIST, `${name}.js`)));
  const lost = names.filter((_, at) => clients[at] && !kept[at]);
  if (lost.length > 0) throw new Error(`'use client' is lost in ${lost.join(', ')}`);
  await finishSlim();
  return output;
}

/** Returns for each file whether its first line marks it as client code for frameworks. */
async function clientsOf(files) {
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return texts.map((text) => /^(['"])use client\1;/.test(text));
}
