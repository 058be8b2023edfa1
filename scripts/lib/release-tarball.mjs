// Makes the tarballs of a release: packs each in its own folder, unpacks and checks it, and installs all as a user does.

import { cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addToPackage, packFolder, STORE, tarballsIn } from './pack.mjs';
import { manifestOf, PUBLISHED, packageDir } from './published.mjs';
import { contentFaults } from './release-contents.mjs';
import { CommandFailed, ROOT, run } from './run.mjs';

const APP = join(ROOT, 'examples', 'matrix', 'app');

/** Returns the place of the sources, for provenance: the registry compares it with the place of the release run. */
export function repository(
  folder,
  { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env,
) {
  if (server === undefined || name === undefined) return {};
  const url = `git+${server}/${name}.git`;
  return { repository: { type: 'git', url, directory: `js/${folder}` } };
}

/** Packs all packages as they are built, with the manifests and the changelog of the folder `root`, into `to`. */
export async function packRelease(root, to) {
  const dir = join(to, 'package');
  for (const folder of PUBLISHED) {
    await rm(dir, { recursive: true, force: true });
    await mkdir(dir, { recursive: true });
    for (const name of ['dist', 'README.md'])
      await cp(join(packageDir(folder), name), join(dir, name), { recursive: true });
    const packed = { ...manifestOf(folder, root), ...repository(folder) };
    await writeFile(join(dir, 'package.json'), `${JSON.stringify(packed, undefined, 2)}\n`);
    await addToPackage(dir, root);
    await packFolder(dir, to);
  }
  return tarballsIn(to);
}

/** Unpacks the tarballs and checks their contents; returns the sums of the figures. */
export async function checkTarballs(tarballs, dir, root) {
  const sums = { files: 0, packedBytes: 0, unpackedBytes: 0 };
  for (const [name, tarball] of Object.entries(tarballs)) {
    const to = join(dir, 'unpacked');
    await rm(to, { recursive: true, force: true });
    await mkdir(to, { recursive: true });
    await run('tar', ['-xf', tarball, '-C', to, '--strip-components', '1'], { quiet: true });
    const packedBytes = (await stat(tarball)).size;
    const { faults, ...figures } = await contentFaults(to, { packedBytes, root });
    if (faults.length > 0)
      throw new CommandFailed(`the tarball of ${name} is wrong:\n  ${faults.join('\n  ')}`);
    for (const key of Object.keys(sums)) sums[key] += figures[key];
  }
  return sums;
}

/** Packs the dependencies of the packages from the root's installed ones, so that an install needs no network. */
async function packDependencies(manifests, to) {
  const packed = {};
  const own = manifests.map(({ name }) => name);
  const all = Object.assign({}, ...manifests.map(({ dependencies = {} }) => dependencies));
  for (const [name, version] of Object.entries(all)) {
    if (own.includes(name)) continue;
    const from = join(ROOT, 'node_modules', name);
    const there = JSON.parse(await readFile(join(from, 'package.json'), 'utf8'));
    if (there.version !== version)
      throw new CommandFailed(`${name} ${there.version} is installed, and ${version} is needed`);
    packed[name] = `file:${await packFolder(from, to)}`;
  }
  return packed;
}

/** Prints for each entry the number of its exports in the app, or the package whose import fails. */
const IMPORT_ALL = `import { readFileSync } from 'node:fs';
const all = {};
for (const name of process.argv.slice(2)) {
  const { exports } = JSON.parse(readFileSync('node_modules/' + name + '/package.json', 'utf8'));
  for (const [path, target] of Object.entries(exports)) {
    if (typeof target === 'string') continue;
    const entry = path.replace('.', name);
    try {
      all[entry] = Object.keys(await import(entry)).length;
    } catch (error) {
      all[entry] = /Cannot find package '([^']+)' imported from/.exec(error.message)?.[1] ?? String(error);
    }
  }
}
console.log(JSON.stringify(all));
`;

/** Returns the entries that failed to import, except those whose peer `peers` the app may lack. */
export function failedEntries(all, peers) {
  return Object.entries(all).filter(([, found]) => !(found > 0) && !peers.includes(found));
}

/** Returns the packages of others that an app has only if it wants to. */
const foreignPeers = (manifests) =>
  manifests.flatMap(({ peerDependencies = {} }) =>
    Object.keys(peerDependencies).filter((name) => name !== STORE),
  );

/** Throws unless each program prints its usage. */
async function checkPrograms(manifests, call) {
  for (const name of manifests.flatMap(({ bin = {} }) => Object.keys(bin))) {
    const said = await call(name, '--help');
    if (!said.includes(`${name} `)) throw new CommandFailed(`${name} --help says: ${said}`);
  }
}

/**
 * Installs the tarballs in an empty folder, without a network, and runs the app of the matrix there, imports each
 * entry, and calls the programs. Returns the counts of its checks.
 */
export async function smokeTest(tarballs, manifests) {
  const dir = await mkdtemp(join(tmpdir(), 'hedgerow-release-'));
  const inDir = (command, ...args) =>
    run(command, args, { cwd: dir, quiet: true, env: { NODE_PATH: undefined } });
  try {
    const own = Object.fromEntries(
      Object.entries(tarballs).map(([name, tarball]) => [name, `file:${tarball}`]),
    );
    const dependencies = { ...(await packDependencies(manifests, dir)), ...own };
    const app = { private: true, type: 'module', dependencies };
    await writeFile(join(dir, 'package.json'), JSON.stringify(app));
    const quick = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund'];
    // The packages of others that ours work with are not here.
    await inDir('npm', 'install', '--legacy-peer-deps', ...quick);
    for (const name of ['program.mjs', 'modules.js', 'report.js', 'scenario.js'])
      await cp(join(APP, name), join(dir, name));
    await writeFile(join(dir, 'entries.mjs'), IMPORT_ALL);

    const result = JSON.parse(await inDir('node', 'program.mjs', 'memory'));
    if (!result.ok) throw new CommandFailed(`the app fails: ${result.error}\n${result.stack}`);
    const all = JSON.parse(await inDir('node', 'entries.mjs', ...Object.keys(tarballs)));
    const failed = failedEntries(all, foreignPeers(manifests));
    if (failed.length > 0) {
      const lines = failed.map(([name, why]) => `${name}: ${why}`).join('\n  ');
      throw new CommandFailed(`entries that cannot be imported:\n  ${lines}`);
    }
    await checkPrograms(manifests, (name, arg) =>
      inDir(join(dir, 'node_modules', '.bin', name), arg),
    );
    const peers = Object.values(all).filter((found) => typeof found === 'string').length;
    return { checks: result.checked.length, entries: Object.keys(all).length - peers, peers };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
