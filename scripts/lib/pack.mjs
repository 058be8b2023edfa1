// Adds files to a published package next to its `dist`: both licences, which the repository has once, and a folder for
// each entry, for tools that do not read `exports` in package.json (Parcel as installed, Metro before 0.79, TypeScript
// with `moduleResolution: node`). The store also has the changelog, and the pages of errors, which `help` of an error
// names. The files are made when npm packs, and removed afterwards (`--clean`).

import { copyFile, mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import { manifestOf, PUBLISHED, packageDir } from './published.mjs';
import { CommandFailed, ROOT, run, runMain } from './run.mjs';

/** The package that has the changelog and the pages of errors. */
export const STORE = 'hedgerow';
const LICENCES = ['LICENSE-MIT', 'LICENSE-APACHE'];
/** Files of the repository's root that the store has, too. */
export const COPIES = [...LICENCES, 'CHANGELOG.md'];
/** Returns the files of the repository's root that a package has, by its name. */
export const copiesOf = (name) => (name === STORE ? COPIES : LICENCES);
/** The pages of errors, in the repository and in the store. */
export const PAGES = { from: join(ROOT, 'docs', 'errors'), to: 'errors' };

/** Returns, for each entry but the first, its folder and the `package.json` in it. */
export function foldersOf({ exports }) {
  return Object.entries(exports)
    .filter(([path, target]) => path !== '.' && typeof target !== 'string')
    .map(([path, { types, default: main, ...others }]) => {
      const up = '../'.repeat(path.split('/').length - 1);
      const at = (file) => file.replace('./', up);
      const native = others['react-native'];
      const fields = { main: at(main), types: at(types) };
      if (native !== undefined) fields['react-native'] = at(native);
      return [path.slice('./'.length), fields];
    });
}

/** Adapts a page of errors for the package: links to pages that it lacks become the text and the name of the page. */
export function packedPage(page) {
  return page
    .replace(/^<!-- snippets: [\s\S]*? -->\n\n?/gm, '')
    .replace(/\[([^\]]*)\]\((\.\.\/[^)#]*)(?:#[^)]*)?\)/g, (_, text, path) => {
      return `${text} (\`${posix.join('docs/errors', path)}\` in the repository)`;
    });
}

const manifestIn = async (dir) => JSON.parse(await readFile(join(dir, 'package.json'), 'utf8'));

/** Writes these files into the folder of a package, with the texts of the folder `root`. */
export async function addToPackage(dir, root = ROOT) {
  const manifest = await manifestIn(dir);
  for (const name of copiesOf(manifest.name)) await copyFile(join(root, name), join(dir, name));
  if (manifest.name === STORE) {
    await mkdir(join(dir, PAGES.to), { recursive: true });
    for (const name of await readdir(PAGES.from)) {
      const page = packedPage(await readFile(join(PAGES.from, name), 'utf8'));
      await writeFile(join(dir, PAGES.to, name), page);
    }
  }
  for (const [name, fields] of foldersOf(manifest)) {
    // A folder with other files belongs to no entry: npm would not pack them, but `--clean` must not delete it.
    const others = await readdir(join(dir, name)).catch(() => []);
    const stray = others.find((file) => file !== 'package.json');
    if (stray !== undefined) {
      throw new Error(`${join(dir, name)} has ${stray}: the folder of an entry must have nothing`);
    }
    await mkdir(join(dir, name), { recursive: true });
    await writeFile(join(dir, name, 'package.json'), `${JSON.stringify(fields, undefined, 2)}\n`);
  }
}

/** Removes these files. */
export async function cleanPackage(dir) {
  const manifest = await manifestIn(dir);
  for (const name of copiesOf(manifest.name)) await rm(join(dir, name), { force: true });
  if (manifest.name === STORE) await rm(join(dir, PAGES.to), { recursive: true, force: true });
  for (const [name] of foldersOf(manifest)) {
    await rm(join(dir, name, 'package.json'), { force: true });
    for (let folder = name; folder !== '.'; folder = dirname(folder)) {
      await rmdir(join(dir, folder)).catch(() => {}); // not empty, or not there
    }
  }
}

/** Packs the package in a folder unchanged into the folder `to`; returns the path of the tarball. */
export async function packFolder(dir, to) {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', to];
  const [{ filename }] = JSON.parse(await run('npm', args, { cwd: dir, quiet: true }));
  return join(to, filename);
}

/** Packs all packages as they are built. */
export async function packAsBuilt(to) {
  await mkdir(to, { recursive: true });
  for (const dir of PUBLISHED.map((folder) => packageDir(folder))) {
    await addToPackage(dir);
    try {
      await packFolder(dir, to);
    } finally {
      await cleanPackage(dir);
    }
  }
}

/** Returns the tarballs of all packages in a folder, by the names of the packages. */
export async function tarballsIn(folder) {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.tgz'));
  const found = PUBLISHED.map((one) => {
    const { name } = manifestOf(one);
    const start = name.replace('@', '').replace('/', '-');
    const file = files.find(
      (other) => /^-\d/.test(other.slice(start.length)) && other.startsWith(start),
    );
    if (file === undefined) throw new CommandFailed(`${folder} has no tarball of ${name}`);
    return [name, join(folder, file)];
  });
  return Object.fromEntries(found);
}

// npm runs it in the folder of the package.
if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const isEnd = process.argv.includes('--clean');
  await runMain(() => (isEnd ? cleanPackage : addToPackage)(process.cwd()));
}
