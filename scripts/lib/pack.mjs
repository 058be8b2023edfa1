// What the published package has beside `js/dist`: both licences, of which the repository has one copy, and a folder for each
// entry, for tools that do not read `exports` in package.json (Parcel as installed, Metro before 0.79, TypeScript with
// `moduleResolution: node`). They are made when npm packs, and removed afterwards (`--clean`).

import { copyFile, mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT, run, runMain } from './run.mjs';

const PACKAGE = join(ROOT, 'js');
const LICENCES = ['LICENSE-MIT', 'LICENSE-APACHE'];

/** Of each entry but the first: its folder, and the `package.json` in it. */
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

const manifest = async () => JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8'));

/** Writes these files. */
export async function addToPackage() {
  for (const name of LICENCES) await copyFile(join(ROOT, name), join(PACKAGE, name));
  for (const [name, fields] of foldersOf(await manifest())) {
    // A folder that holds more is no entry's: npm would pack nothing else of it, but `--clean` must not take it.
    const others = await readdir(join(PACKAGE, name)).catch(() => []);
    const stray = others.find((file) => file !== 'package.json');
    if (stray !== undefined) {
      throw new Error(`js/${name} has ${stray}: the folder of an entry must have nothing`);
    }
    await mkdir(join(PACKAGE, name), { recursive: true });
    await writeFile(
      join(PACKAGE, name, 'package.json'),
      `${JSON.stringify(fields, undefined, 2)}\n`,
    );
  }
}

/** Removes them. */
export async function cleanPackage() {
  for (const name of LICENCES) await rm(join(PACKAGE, name), { force: true });
  for (const [name] of foldersOf(await manifest())) {
    await rm(join(PACKAGE, name, 'package.json'), { force: true });
    for (let folder = name; folder !== '.'; folder = dirname(folder)) {
      await rmdir(join(PACKAGE, folder)).catch(() => {}); // not empty, or not there
    }
  }
}

/** Packs the package as it is built into the folder `to`; returns the path of the tarball. */
export async function packAsBuilt(to) {
  await mkdir(to, { recursive: true });
  await addToPackage();
  try {
    const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', to];
    const [{ filename }] = JSON.parse(await run('npm', args, { cwd: PACKAGE, quiet: true }));
    return join(to, filename);
  } finally {
    await cleanPackage();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await runMain(process.argv.includes('--clean') ? cleanPackage : addToPackage);
}
