// Makes the JavaScript of the package from its sources, in few files. Bundlers of apps split a package with later parts
// by the sets of parts that reach a module: they made 24 files of the start, and a page waits for each.

import { join } from 'node:path';
import { joinFiles, writeFiles } from './joined.mjs';
import { entriesOf, manifestOf } from './published.mjs';
import { ROOT } from './run.mjs';
import { finishSlim, isSlim, slimOf, slimPlugin } from './slim.mjs';

const SOURCE = join(ROOT, 'js', 'hedgerow', 'src');
const DIST = join(ROOT, 'js', 'hedgerow', 'dist');

/** Its entries by their names in `dist`; `full` and `slim` are made from the first. */
const entries = () =>
  entriesOf(manifestOf('hedgerow')).filter((name) => name !== 'full' && name !== 'slim');

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

  /** Returns whether an entry leads to this module. */
  knows(id) {
    return this.#now.has(id);
  }

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

/** The module that a page needs to open a store. */
const START = 'store/store-functions';
/**
 * Parts of entries that an app may leave out. Each has a file of its own, so that a bundler leaves out the file, with all
 * that it loads later.
 */
const PARTS = [
  'store/tables/define',
  'store/tables/values/stored-file',
  'live/index',
  'store/keys/index',
  'core/indexes/words',
  'core/sum-proof/index',
  'worker/connect',
  'worker/serve',
];

/** The parts that a page loads at its first write: one file. Its storage has another one. */
const WRITES = ['engine/write/on-demand-write-bundle', 'engine/history/ref-write'];

/** The numbers of the core. */
const CONSTANTS = /[\\/]base[\\/]abi[\\/]/;

const sourceOf = (name) => join(SOURCE, `${name}.ts`);

/** Finds the imports of all modules that the entries lead to. */
async function importsOf(input) {
  const imports = new Imports();
  await joinFiles(input, { plugins: [imports.plugin] });
  return imports;
}

/**
 * Writes a file for each entry, one for the start of a page, one for the code that other entries share with it, and the
 * files that are loaded later. The files of `hedgerow/slim` are in a folder, except shared ones.
 */
export async function joinModules() {
  const names = [...entries(), ...PARTS];
  const inputOf = (all) => Object.fromEntries(all.map((name) => [name, sourceOf(name)]));
  const input = inputOf(names);
  // The kit is for packages of apps that load the store: code that it shares with that is no reason to split.
  const others = names.filter((name) => name !== 'index' && name !== 'kit').map(sourceOf);
  // The imports must be known before slim's own modules can be separated from the others.
  const known = await importsOf(input);
  const start = known.reach([sourceOf(START)]);
  const shared = known.reach(others);
  // Constants are inlined: a later part that has some must not import the start for them.
  const isShared = (id) => start.has(id) && (shared.has(id) || CONSTANTS.test(id));
  // A page that only verifies must not load code that tables and live queries share with the store.
  const alone = known.reach([sourceOf('core/sum-proof/index')]);
  const isBase = (id) => start.has(id) && alone.has(id);
  const isOwn = (id) => start.has(id) && !isShared(id);
  const isLater = (names) => {
    const reached = known.reach(names.map(sourceOf));
    return (id) => reached.has(id) && !start.has(id) && !shared.has(id);
  };
  const slim = slimPlugin((id) => [...known.reach([id], { ever: true })].some(isOwn));
  const imports = new Imports();
  /** Slim shares the modules that do not lead to the start. */
  const isOfSlim = (names) => (id) => {
    const own = names.map((name) => slimOf(sourceOf(name))).filter((one) => imports.knows(one));
    return isSlim(id) && imports.reach(own).has(id);
  };
  const output = await joinFiles(
    { ...input, slim: slimOf(sourceOf('index')) },
    {
      plugins: [slim, imports.plugin],
      // The start names most of these files, so short names make it smaller.
      chunkFileNames({ name, moduleIds }) {
        const short = name.replace(/^on-demand-|-(?:bundle|code)$/g, '');
        return `${moduleIds.some(isSlim) ? 'slim/' : ''}${short}.js`;
      },
      // Each group has its own modules alone: their tests follow imports. Then a file that only part of the package
      // imports, such as the one of `table`, may export more than its source.
      preserveEntrySignatures: 'allow-extension',
      codeSplitting: {
        includeDependenciesRecursively: false,
        groups: [
          { name: 'base', test: isBase, priority: 4 },
          { name: 'shared', test: isShared, priority: 3 },
          { name: 'start', test: isOwn, priority: 2 },
          { name: 'start', test: isOfSlim([START]), priority: 1 },
          { name: 'write', test: isLater(WRITES), priority: 0 },
          { name: 'write', test: isOfSlim(WRITES), priority: 0 },
        ],
      },
    },
  );
  await writeFiles(withoutFacades(output), DIST, inputOf(entries()));
  await finishSlim();
}

/** Leaves out the files of parts that no file imports: they only export what another file has. */
function withoutFacades(output) {
  const imported = new Set(output.flatMap((file) => [...file.imports, ...file.dynamicImports]));
  const isFacade = ({ fileName }) =>
    PARTS.some((part) => fileName === `${part}.js`) && !imported.has(fileName);
  return output.filter((file) => !isFacade(file));
}
