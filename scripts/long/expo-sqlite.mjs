// `node scripts/long/expo-sqlite.mjs [version or tarball ...]`: runs the tests of stores over expo-sqlite with its published
// JavaScript instead of the stand-in, and compares its types with ours. Only its Kotlin and Swift stay a stand-in. Not
// part of `npm test`: a version that is not in `.cache/expo-sqlite` is a download of 16 to 33 MB. It keeps the
// JavaScript.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from '../build.mjs';
import { CommandFailed, ROOT, run, runMain } from '../lib/run.mjs';
import { setup } from '../setup.mjs';

const PACKAGE = 'expo-sqlite';
/** The first supported version, and the last one of each major version. */
const VERSIONS = ['15.0.6', '15.2.14', '16.0.10', '55.0.20', '56.0.6', '57.0.3'];
/** Its client for developers imports it, and runs in no test. */
const LOCK = { name: 'await-lock', version: '2.2.2' };
const TESTS = ['expo-sqlite', 'sql-contract', 'sql-faults', 'sql.test'];

const CACHE = join(ROOT, '.cache', 'expo-sqlite');
const folderOf = (version) => join(CACHE, version, 'package');
const isThere = (version) => existsSync(join(folderOf(version), 'build', 'SQLiteDatabase.js'));

/** Extracts the compiled JavaScript from a tarball; returns its version. */
async function unpack(tarball) {
  const part = join(CACHE, 'part');
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', part, 'package/package.json', 'package/build']);
  const manifest = readFileSync(join(part, 'package', 'package.json'), 'utf8');
  const { name, version } = JSON.parse(manifest);
  const to = name === LOCK.name ? join(CACHE, name) : folderOf(version);
  if (name !== PACKAGE && name !== LOCK.name) throw new CommandFailed(`${tarball} holds ${name}`);
  rmSync(to, { recursive: true, force: true });
  mkdirSync(join(to, '..'), { recursive: true });
  renameSync(join(part, 'package'), to);
  return version;
}

async function fetched(name, version) {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new CommandFailed(`${version} is no version`);
  const isKept = name === LOCK.name ? existsSync(join(CACHE, name)) : isThere(version);
  if (isKept) return version;
  mkdirSync(CACHE, { recursive: true });
  const tarball = join(CACHE, `${name}-${version}.tgz`);
  try {
    await run('npm', ['pack', `${name}@${version}`, '--pack-destination', CACHE]);
    return await unpack(tarball);
  } finally {
    rmSync(tarball, { force: true });
  }
}

/** Checks that each version's declarations fit the driver's. */
async function checkTypes(versions) {
  const to = join(CACHE, 'types');
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  const driver = join(ROOT, 'js', 'sqlite', 'src', 'expo-sqlite-driver.js');
  const lines = versions.flatMap((version, at) => [
    `import * as v${at} from ${JSON.stringify(join(folderOf(version), 'build', 'SQLiteDatabase'))};`,
    `export const is${at}: ExpoSqlite = v${at};`,
  ]);
  const text = [`import type { ExpoSqlite } from ${JSON.stringify(driver)};`, ...lines, ''];
  writeFileSync(join(to, 'versions.ts'), text.join('\n'));
  const compilerOptions = {
    target: 'ES2022',
    lib: ['ES2023', 'DOM', 'ESNext.Disposable'],
    module: 'ESNext',
    moduleResolution: 'bundler',
    types: [],
    strict: true,
    // Its own declarations may need packages of phones.
    skipLibCheck: true,
    noEmit: true,
  };
  writeFileSync(join(to, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['.'] }));
  await run('tsc', ['-p', to]);
}

await runMain(async () => {
  const asked = process.argv.slice(2);
  await setup({ packages: 'test', sqlite: true });
  await build();
  await fetched(LOCK.name, LOCK.version);
  const versions = [];
  for (const one of asked.length > 0 ? asked : VERSIONS) {
    versions.push(await (one.endsWith('.tgz') ? unpack(resolve(one)) : fetched(PACKAGE, one)));
  }
  await checkTypes(versions);
  const env = { HEDGEROW_EXPO_SQLITE: versions.join(',') };
  await run('vitest', ['run', ...TESTS], { cwd: join(ROOT, 'js'), env });
  console.log(`expo-sqlite as published passes: ${versions.join(', ')}`);
});
