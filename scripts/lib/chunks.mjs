// Makes the JavaScript of the package from its sources, in few files. Bundlers of apps cut a package that has parts for later
// by which of them reach a module: of the start they made 24 files, and a page waits for each.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { ROOT } from './run.mjs';
import { finishSlim, isSlim, slimOf, slimPlugin } from './slim.mjs';

const SOURCE = join(ROOT, 'js', 'src');
const DIST = join(ROOT, 'js', 'dist');

/** The entries and programs of the package by their names in `js/dist`; `full` and `slim` are made of the first. */
async function entries() {
  const { exports, bin } = JSON.parse(await readFile(join(ROOT, 'js', 'package.json'), 'utf8'));
  // `./package.json` is a file, and no module.
  const modules = Object.values(exports).flatMap((one) => one.default ?? []);
  const paths = [...modules, ...Object.values(bin)];
  const files = paths.map((path) => join(ROOT, 'js', path));
  const names = files.map((file) => relative(DIST, file).replace(/\.js$/, ''));
  return names.filter((name) => name !== 'full' && name !== 'slim');
}

/** Which modules a module imports. */
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

  /** All that a page has loaded once it has these modules; with `ever`, also what these may load later. */
  reach(ids, { ever = false } = {}) {
    const imports = ever ? this.#ever : this.#now;
    const found = new Set(ids);
    for (const id of found) for (const next of imports.get(id) ?? []) found.add(next);
    return found;
  }
}

const sourceOf = (name) => join(SOURCE, `${name}.ts`);

/** Generates the files of the entries; `options` are further ones of rolldown. Returns them with what imports what. */
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
    checks: { moduleLevelDirective: false }, // that they are kept is checked
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
 * Writes a file for each entry, one for the start of a page, one for what other entries share with it, and those that are
 * loaded later. Those of `hedgerow/slim` are in a folder, but for what entries share.
 */
export async function joinModules() {
  const names = await entries();
  const input = Object.fromEntries(names.map((name) => [name, sourceOf(name)]));
  // A program imports all that pages do: what it shares with them is no reason to cut it off.
  const others = names.filter((name) => name !== 'index' && !name.startsWith('cli/')).map(sourceOf);
  // What imports what must be known before slim's own modules are told from the others.
  const { imports: known } = await joined(input, [], () => ({}));
  const start = known.reach([sourceOf('index')]);
  const shared = known.reach(others);
  const isShared = (id) => start.has(id) && shared.has(id);
  // A page that only verifies must not load what tables and live queries share with the store.
  const alone = known.reach([sourceOf('sum-proof/index')]);
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

/** Of each file, whether it tells frameworks, by its first line, that it is no component of a server. */
async function clientsOf(files) {
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return texts.map((text) => /^(['"])use client\1;/.test(text));
}
