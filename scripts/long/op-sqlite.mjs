// `node scripts/long/op-sqlite.mjs [version or tarball ...]`: runs the tests of stores over op-sqlite with its published
// JavaScript instead of the mock. Only its C++ part stays a mock. Not part of `npm test`: a version that is not in
// `.cache/op-sqlite` is a download of 118 MB. It keeps a few small files.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from '../build.mjs';
import { CommandFailed, ROOT, run, runMain } from '../lib/run.mjs';
import { setup } from '../setup.mjs';

const PACKAGE = '@op-engineering/op-sqlite';
/** The last version of each major version that the adapter supports. */
const VERSIONS = ['15.2.14', '16.2.2', '17.2.0', '18.2.5'];
const FILES = ['lib/module/functions.js', 'node/dist/index.js', 'node/dist/database.js'];
// Also their source maps: Vite warns about each missing one.
const MEMBERS = FILES.flatMap((file) => [file, `${file}.map`]);
const TESTS = ['op-sqlite-shapes', 'sql-contract', 'sql-faults', 'sql.test'];

const CACHE = join(ROOT, '.cache', 'op-sqlite');
const isThere = (version) =>
  FILES.every((file) => existsSync(join(CACHE, version, 'package', file)));

/** Extracts the needed files from a tarball; returns its version. */
async function unpack(tarball) {
  const part = join(CACHE, 'part');
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  const members = ['package.json', ...MEMBERS].map((file) => `package/${file}`);
  await run('tar', ['-xzf', tarball, '-C', part, ...members]);
  const manifest = join(part, 'package', 'package.json');
  const { name, version } = JSON.parse(readFileSync(manifest, 'utf8'));
  if (name !== PACKAGE) throw new CommandFailed(`${tarball} holds ${name}`);
  rmSync(manifest);
  rmSync(join(CACHE, version), { recursive: true, force: true });
  renameSync(part, join(CACHE, version));
  return version;
}

async function fetched(version) {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new CommandFailed(`${version} is no version`);
  if (isThere(version)) return version;
  mkdirSync(CACHE, { recursive: true });
  const tarball = join(CACHE, `op-engineering-op-sqlite-${version}.tgz`);
  try {
    await run('npm', ['pack', `${PACKAGE}@${version}`, '--pack-destination', CACHE]);
    return await unpack(tarball);
  } finally {
    rmSync(tarball, { force: true });
  }
}

await runMain(async () => {
  const asked = process.argv.slice(2);
  await setup({ packages: 'test', sqlite: true });
  await build();
  const versions = [];
  for (const one of asked.length > 0 ? asked : VERSIONS) {
    versions.push(await (one.endsWith('.tgz') ? unpack(resolve(one)) : fetched(one)));
  }
  const env = { HEDGEROW_OP_SQLITE: versions.join(',') };
  await run('vitest', ['run', ...TESTS], { cwd: join(ROOT, 'js'), env });
  console.log(`op-sqlite as published passes: ${versions.join(', ')}`);
});
