// Checks the contents of the tarball of a package: the one list of the files that it may and must have. A change of a
// package that this list does not know fails the dry run of a release.

import { readdir, readFile, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { COPIES, copiesOf, foldersOf, PAGES, packedPage, STORE } from './pack.mjs';
import { namedFiles, packageOf, reach } from './release-reach.mjs';
import { ROOT } from './run.mjs';

/** The most bytes of the tarball and of its unpacked files, by package: 4 % more than when this was written. */
export const MAX_BYTES = {
  hedgerow: { packed: 2_622_000, unpacked: 10_913_000 },
  '@hedgerow/inspector': { packed: 382_000, unpacked: 821_000 },
  others: { packed: 29_000, unpacked: 97_000 },
};

/** All others: built code, its declarations, modules of WebAssembly, and the page of the inspector. */
const BUILT = /^dist\/[\w./-]+(?<!\.test|\.spec)\.(js|d\.ts|wasm|html)$/;

/** Folders whose files must not be published. */
const NEVER = /(^|\/)(test|tests|fixtures|bench|src|node_modules)\//;

/** Fields that the registry, tools and people read. */
const FIELDS = ['name', 'version', 'description', 'license', 'type', 'exports', 'files', 'engines'];

const MAP = /^\/[/*][#@] ?sourceMappingURL=(\S+)/gm;

/** Lists the pages of errors of a package. */
const pagesOf = async ({ name }) =>
  name === STORE ? (await readdir(PAGES.from)).map((page) => `${PAGES.to}/${page}`) : [];

/** Lists the files in a folder, by their paths in it. */
async function filesIn(dir) {
  const found = await readdir(dir, { recursive: true, withFileTypes: true });
  return found
    .filter((one) => !one.isDirectory())
    .map((one) => posix.relative(dir, posix.join(one.parentPath ?? one.path, one.name)))
    .sort();
}

/** Returns the folder of each entry, as `package.json` in it says. */
const folderFiles = (manifest) =>
  new Map(foldersOf(manifest).map(([name, fields]) => [`${name}/package.json`, fields]));

async function faultsOfNames(files, manifest) {
  const must = new Set([
    'package.json',
    'README.md',
    ...copiesOf(manifest.name),
    ...(await pagesOf(manifest)),
    ...folderFiles(manifest).keys(),
  ]);
  const isMeant = (file) => must.has(file) || (BUILT.test(file) && !NEVER.test(file));
  const there = new Set(files);
  return [
    ...files.filter((file) => !isMeant(file)).map((file) => `${file} is not meant to be published`),
    ...[...must].filter((file) => !there.has(file)).map((file) => `${file} is missing`),
    ...FIELDS.filter((field) => manifest[field] === undefined).map(
      (field) => `package.json has no ${field}`,
    ),
    ...(manifest.private ? ['package.json is private'] : []),
  ];
}

/** Lists files that a page, a program or a compiler would miss, and files without a reader. */
async function faultsOfImports(dir, files, manifest) {
  const { reached, missing, modules } = await reach(dir, manifest);
  const { dependencies = {}, peerDependencies = {} } = manifest;
  const isKnown = (name) =>
    name.startsWith('node:') ||
    packageOf(name) === manifest.name ||
    packageOf(name) in { ...dependencies, ...peerDependencies };
  return [
    ...missing.map(({ file, by }) => `${file} is missing: ${by} names it`),
    ...files
      .filter((file) => BUILT.test(file) && !reached.has(file))
      .map((file) => `${file} is in vain: no entry leads to it`),
    ...modules
      .filter(({ name }) => !isKnown(name))
      .map(({ name, by }) => `${by} imports ${name}, which package.json does not depend on`),
  ];
}

function faultsOfText(file, text, files) {
  const faults = [];
  for (const [, map] of text.matchAll(MAP)) {
    const at = posix.normalize(posix.join(posix.dirname(file), map));
    if (!files.includes(at))
      faults.push(`${file} names a map that is not there: ${map.slice(0, 80)}`);
  }
  // The build has left a path of its machine in it.
  if (text.includes(`${ROOT}/`)) faults.push(`${file} names the folder that it was built in`);
  return faults;
}

/** The same bytes as in the repository, or bytes derived from these. */
async function faultsOfCopies(dir, files, manifest, { root, compared }) {
  const faults = [];
  for (const name of compared.filter((one) => files.includes(one))) {
    const [packed, own] = await Promise.all([dir, root].map((at) => readFile(join(at, name))));
    if (!packed.equals(own)) faults.push(`${name} is not that of the repository`);
  }
  for (const page of (await pagesOf(manifest)).filter((one) => files.includes(one))) {
    const own = await readFile(join(PAGES.from, posix.basename(page)), 'utf8');
    if ((await readFile(join(dir, page), 'utf8')) !== packedPage(own))
      faults.push(`${page} is not that of the repository`);
  }
  for (const [name, fields] of folderFiles(manifest)) {
    if (!files.includes(name)) continue;
    const packed = JSON.parse(await readFile(join(dir, name), 'utf8'));
    if (JSON.stringify(packed) !== JSON.stringify(fields))
      faults.push(`${name} does not point to what exports names`);
  }
  const programs = namedFiles({ bin: manifest.bin }).filter(({ file }) => files.includes(file));
  for (const { file } of programs) {
    const text = await readFile(join(dir, file), 'utf8');
    if (!text.startsWith('#!/usr/bin/env node\n'))
      faults.push(`${file} does not begin as a program`);
  }
  return faults;
}

function faultsOfSize(what, bytes, most) {
  const [is, may] = [bytes, most].map((count) => count.toLocaleString('en'));
  return bytes > most ? [`${what} has ${is} bytes, and may have ${may}`] : [];
}

/**
 * Checks a package: returns a list of sentences, empty if all is well, and the figures. `dir` is the unpacked tarball,
 * `packedBytes` its length, and the texts `compared` must equal the texts of the folder `root`.
 */
export async function contentFaults(dir, { packedBytes, root = ROOT, compared = COPIES }) {
  const files = await filesIn(dir);
  const manifest = JSON.parse(await readFile(join(dir, 'package.json'), 'utf8'));
  const faults = [
    ...(await faultsOfNames(files, manifest)),
    ...(await faultsOfImports(dir, files, manifest)),
    ...(await faultsOfCopies(dir, files, manifest, { root, compared })),
  ];
  const most = MAX_BYTES[manifest.name] ?? MAX_BYTES.others;
  let unpackedBytes = 0;
  for (const file of files) {
    unpackedBytes += (await stat(join(dir, file))).size;
    // As bytes: a module of WebAssembly may have paths in it, too.
    faults.push(...faultsOfText(file, await readFile(join(dir, file), 'latin1'), files));
  }
  faults.push(
    ...faultsOfSize('the tarball', packedBytes, most.packed),
    ...faultsOfSize('the unpacked package', unpackedBytes, most.unpacked),
  );
  return { faults, files: files.length, packedBytes, unpackedBytes };
}
