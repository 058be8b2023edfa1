// Makes the tarball of a release: packs it in its own folder, unpacks and checks it, and installs it as a user does.

import { cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addToPackage, packFolder } from './pack.mjs';
import { contentFaults } from './release-contents.mjs';
import { CommandFailed, ROOT, run } from './run.mjs';

const APP = join(ROOT, 'examples', 'matrix', 'app');

/** Returns the place of the sources, for provenance: the registry compares it with the place of the release run. */
export function repository({ GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env) {
  if (server === undefined || name === undefined) return {};
  const url = `git+${server}/${name}.git`;
  return { repository: { type: 'git', url, directory: 'js/hedgerow' } };
}

/** Packs the built `js/hedgerow/dist`, with the manifest and the changelog of the folder `root`. Returns the tarball. */
export async function packRelease(root, dir) {
  const folder = join(dir, 'package');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await cp(join(ROOT, 'js', 'hedgerow', 'dist'), join(folder, 'dist'), { recursive: true });
  await cp(join(ROOT, 'js', 'hedgerow', 'README.md'), join(folder, 'README.md'));
  const manifest = JSON.parse(await readFile(join(root, 'js', 'hedgerow', 'package.json'), 'utf8'));
  const packed = { ...manifest, ...repository() };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(packed, undefined, 2)}\n`);
  await addToPackage(folder, root);
  return packFolder(folder, dir);
}

/** Unpacks a tarball and checks its contents; returns the figures. */
export async function checkTarball(tarball, dir, root) {
  const to = join(dir, 'unpacked');
  await rm(to, { recursive: true, force: true });
  await mkdir(to, { recursive: true });
  await run('tar', ['-xf', tarball, '-C', to, '--strip-components', '1'], { quiet: true });
  const packedBytes = (await stat(tarball)).size;
  const { faults, ...figures } = await contentFaults(to, { packedBytes, root });
  if (faults.length === 0) return figures;
  throw new CommandFailed(`the tarball is not as it must be:\n  ${faults.join('\n  ')}`);
}

/** Packs the dependencies of the package from the root's installed ones, so that an install needs no network. */
async function packDependencies({ dependencies = {} }, to) {
  const packed = {};
  for (const [name, version] of Object.entries(dependencies)) {
    const from = join(ROOT, 'node_modules', name);
    const own = JSON.parse(await readFile(join(from, 'package.json'), 'utf8'));
    if (own.version !== version)
      throw new CommandFailed(`${name} ${own.version} is installed, and ${version} is needed`);
    packed[name] = `file:${await packFolder(from, to)}`;
  }
  return packed;
}

/** Prints for each entry the number of its exports in the app, or the package whose import fails. */
const IMPORT_ALL = `import { readFileSync } from 'node:fs';
const { exports } = JSON.parse(readFileSync('node_modules/hedgerow/package.json', 'utf8'));
const all = {};
for (const [path, target] of Object.entries(exports)) {
  if (typeof target === 'string') continue;
  const name = path.replace('.', 'hedgerow');
  try {
    all[name] = Object.keys(await import(name)).length;
  } catch (error) {
    all[name] = /Cannot find package '([^']+)' imported from/.exec(error.message)?.[1] ?? String(error);
  }
}
console.log(JSON.stringify(all));
`;

/** Returns the entries that failed to import, except those with an optional peer that the app lacks. */
export function failedEntries(all, { peerDependenciesMeta = {} }) {
  const isPeer = (name) => peerDependenciesMeta[name]?.optional === true;
  return Object.entries(all).filter(([, found]) => !(found > 0) && !isPeer(found));
}

/**
 * Installs a tarball in an empty folder, without a network, and runs the app of the matrix there, imports each entry,
 * and calls the program. Returns the counts of its checks.
 */
export async function smokeTest(tarball, manifest) {
  const dir = await mkdtemp(join(tmpdir(), 'hedgerow-release-'));
  const inDir = (command, ...args) =>
    run(command, args, { cwd: dir, quiet: true, env: { NODE_PATH: undefined } });
  try {
    const dependencies = await packDependencies(manifest, dir);
    const app = { private: true, type: 'module', dependencies };
    app.dependencies.hedgerow = `file:${tarball}`;
    await writeFile(join(dir, 'package.json'), JSON.stringify(app));
    await inDir('npm', 'install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund');
    for (const name of ['program.mjs', 'modules.js', 'report.js', 'scenario.js'])
      await cp(join(APP, name), join(dir, name));
    await writeFile(join(dir, 'entries.mjs'), IMPORT_ALL);

    const result = JSON.parse(await inDir('node', 'program.mjs', 'memory'));
    if (!result.ok) throw new CommandFailed(`the app fails: ${result.error}\n${result.stack}`);
    const all = JSON.parse(await inDir('node', 'entries.mjs'));
    const failed = failedEntries(all, manifest);
    if (failed.length > 0) {
      const told = failed.map(([name, why]) => `${name}: ${why}`).join('\n  ');
      throw new CommandFailed(`entries that cannot be imported:\n  ${told}`);
    }
    for (const name of Object.keys(manifest.bin)) {
      const said = await inDir(join(dir, 'node_modules', '.bin', name), '--help');
      if (!said.includes(`${name} `)) throw new CommandFailed(`${name} --help says: ${said}`);
    }
    const peers = Object.values(all).filter((found) => typeof found === 'string').length;
    return { checks: result.checked.length, entries: Object.keys(all).length - peers, peers };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
