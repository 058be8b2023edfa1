// Adds files to the published package next to `js/hedgerow/dist`: both licences and the changelog, which the repository has
// once, the pages of errors, which `help` of an error names, and a folder for each entry, for tools that do not read
// `exports` in package.json (Parcel as installed, Metro before 0.79, TypeScript with `moduleResolution: node`). They
// are made when npm packs, and removed afterwards (`--clean`).

import { copyFile, mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT, run, runMain } from './run.mjs';

const PACKAGE = join(ROOT, 'js', 'hedgerow');
/** Files of the repository's root that the package has, too. */
export const COPIES = ['LICENSE-MIT', 'LICENSE-APACHE', 'CHANGELOG.md'];
/** The pages of errors, in the repository and in the package. */
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

const manifest = async (dir) => JSON.parse(await readFile(join(dir, 'package.json'), 'utf8'));

/** Writes these files into the folder of the package, with the texts of the folder `root`. */
export async function addToPackage(dir = PACKAGE, root = ROOT) {
  for (const name of COPIES) await copyFile(join(root, name), join(dir, name));
  await mkdir(join(dir, PAGES.to), { recursive: true });
  for (const name of await readdir(PAGES.from)) {
    const page = packedPage(await readFile(join(PAGES.from, name), 'utf8'));
    await writeFile(join(dir, PAGES.to, name), page);
  }
  for (const [name, fields] of foldersOf(await manifest(dir))) {
    // A folder with other files belongs to no entry: npm would not pack them, but `--clean` must not delete it.
    const others = await readdir(join(dir, name)).catch(() => []);
    const stray = others.find((file) => file !== 'package.json');
    if (stray !== undefined) {
      throw new Error(`js/hedgerow/${name} has ${stray}: the folder of an entry must have nothing`);
    }
    await mkdir(join(dir, name), { recursive: true });
    await writeFile(join(dir, name, 'package.json'), `${JSON.stringify(fields, undefined, 2)}\n`);
  }
}

/** Removes these files. */
export async function cleanPackage() {
  for (const name of COPIES) await rm(join(PACKAGE, name), { force: true });
  await rm(join(PACKAGE, PAGES.to), { recursive: true, force: true });
  for (const [name] of foldersOf(await manifest(PACKAGE))) {
    await rm(join(PACKAGE, name, 'package.json'), { force: true });
    for (let folder = name; folder !== '.'; folder = dirname(folder)) {
      await rmdir(join(PACKAGE, folder)).catch(() => {}); // not empty, or not there
    }
  }
}

/** Packs the package in a folder unchanged into the folder `to`; returns the path of the tarball. */
export async function packFolder(dir, to) {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', to];
  const [{ filename }] = JSON.parse(await run('npm', args, { cwd: dir, quiet: true }));
  return join(to, filename);
}

/** Packs the built `js`. */
export async function packAsBuilt(to) {
  await mkdir(to, { recursive: true });
  await addToPackage();
  try {
    return await packFolder(PACKAGE, to);
  } finally {
    await cleanPackage();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await runMain(() => (process.argv.includes('--clean') ? cleanPackage() : addToPackage()));
}
