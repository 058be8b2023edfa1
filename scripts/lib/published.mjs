// Lists the packages that are published, each in its folder below `js`. They have one version and one release.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './run.mjs';

/** The folders of the packages; each is built after its imports. */
export const PUBLISHED = [
  'hedgerow',
  'sqlite',
  'server',
  'adapters',
  'tanstack-db',
  'import',
  'inspector',
];
/** All but the store. */
export const OTHERS = PUBLISHED.filter((folder) => folder !== 'hedgerow');

/** Returns the folder of a package in a checkout. */
export const packageDir = (folder, root = ROOT) => join(root, 'js', folder);

/** Returns the `package.json` of a package. */
export const manifestOf = (folder, root = ROOT) =>
  JSON.parse(readFileSync(join(packageDir(folder, root), 'package.json'), 'utf8'));

/** Lists what apps import of all packages: the name of each entry, its package, and its declarations in that. */
export const importedEntries = () =>
  PUBLISHED.flatMap((folder) => {
    const { name, exports } = manifestOf(folder);
    return Object.entries(exports)
      .filter(([, { types }]) => types !== undefined) // not `./package.json`
      .map(([path, { types }]) => ({ name: name + path.slice('.'.length), folder, types }));
  });

/** Returns the modules of a package that apps import and the programs that they run, by their names in `dist`. */
export function entriesOf({ exports, bin = {} }) {
  // `./package.json` is a file, and no module.
  const modules = Object.values(exports).flatMap((one) => one.default ?? []);
  return [...modules, ...Object.values(bin)].map((path) =>
    path.replace(/^\.\/dist\//, '').replace(/\.js$/, ''),
  );
}
