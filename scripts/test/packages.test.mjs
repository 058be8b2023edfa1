// Each command is set up with the packages that it imports, and finds the installed ones.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { EVERYDAY_STEPS } from '../checks/steps.mjs';
import { importedPackages } from '../lib/imported-packages.mjs';
import { missingPlaces, placesOf, SETS, workspacesOf } from '../lib/packages.mjs';
import { ROOT } from '../lib/run.mjs';

const read = (...path) => JSON.parse(readFileSync(join(ROOT, ...path), 'utf8'));
const { packages: LOCKED } = read('package-lock.json');

/** Returns the packages that the workspaces of sets name, and themselves. */
function packagesOf(sets) {
  const manifests = workspacesOf(sets).map((workspace) => read(workspace, 'package.json'));
  return new Set(
    manifests.flatMap(({ name, dependencies, devDependencies }) => [
      name,
      ...Object.keys({ ...dependencies, ...devDependencies }),
    ]),
  );
}

/** Lists imports of files that are not in sets, as sentences. */
function outside(files, sets) {
  const named = packagesOf(sets);
  const found = new Map();
  const seen = new Set();
  for (const file of files) importedPackages(join(ROOT, file), { found, seen });
  return [...found]
    .filter(([name]) => !named.has(name))
    .map(([name, by]) => `${by.slice(ROOT.length + 1)} imports ${name}`)
    .sort();
}

const filesIn = (folder) =>
  readdirSync(join(ROOT, folder), { recursive: true })
    .filter((file) => /\.(ts|mjs)$/.test(file) && !file.endsWith('.d.mts'))
    .map((file) => join(folder, file));

/**
 * Modules that stand for others in tests, a package that `setup` compiles where Node needs it, and the text of a test.
 */
const NOT_INSTALLED = / (@op-engineering\/op-sqlite|expo-sqlite|better-sqlite3|x)$/;

const COMMANDS = {
  'scripts/build.mjs': ['build'],
  'scripts/bench.mjs': ['bench'],
  'e2e/bench/run.mjs': ['bench'],
  'e2e/bench/first-row/run.mjs': ['bench'],
  'scripts/docs.mjs': ['docs'],
  'scripts/release.mjs': ['release'],
  'scripts/long/matrix.mjs': ['test', 'release'],
  'scripts/long/alive.mjs': ['test'],
  'e2e/alive/run.mjs': ['test'],
  'scripts/long/torture.mjs': ['test'],
  'e2e/torture/run.mjs': ['test'],
  'scripts/long/units.mjs': ['test'],
  'js/hedgerow/test/browser/run.mjs': ['test'],
  'scripts/long/foreign.mjs': ['test'],
};
for (const [file, sets] of Object.entries(COMMANDS)) {
  test(`${file} imports only packages of its set`, () => {
    const strays = outside([file], sets).filter((one) => !NOT_INSTALLED.test(one));
    assert.deepEqual(strays, []);
  });
}

test("the demo imports only packages of its set, and for a release of the build's", () => {
  const files = [
    'scripts/demo.mjs',
    'demo/prepare.mjs',
    'demo/headless.mjs',
    'demo/vite.config.ts',
  ];
  const strays = outside([...files, ...filesIn('demo/src')], 'demo');
  const names = strays.map((one) => one.split(' ').at(-1));
  assert.deepEqual(names.sort(), ['@gfx/zopfli', 'better-sqlite3', 'binaryen', 'typescript-5.4']);
});

test('the steps of npm test import only packages of its set', () => {
  const scripts = EVERYDAY_STEPS.flatMap(({ commands }) => commands.flatMap(([, args]) => args));
  const files = [
    ...scripts.filter((arg) => /^scripts\/.*\.mjs$/.test(arg)),
    ...filesIn('js/hedgerow/src'),
    ...filesIn('js/hedgerow/test').filter((file) => !file.includes('foreign')),
    ...filesIn('e2e').filter((file) => !/^e2e.bench.(page|first-row)/.test(file)),
  ].filter((file) => !/\/dist\//.test(file));
  const strays = outside(files, 'test').filter((one) => !NOT_INSTALLED.test(one));
  assert.deepEqual(strays, []);
});

test('the imports of scripts and tests are at the root, whichever workspace names them', () => {
  const workspaces = workspacesOf('test').filter((one) => one.startsWith('tools/'));
  for (const workspace of workspaces) {
    for (const [name, version] of Object.entries(read(workspace, 'package.json').devDependencies)) {
      const locked = LOCKED[`node_modules/${name}`]?.version;
      assert.equal(locked, version.replace(/^npm:.*@/, ''), `${workspace}: ${name}`);
    }
  }
});

test('all workspaces name one version of a package, but for the compiler of the reference', () => {
  const versions = new Map();
  for (const workspace of read('package.json').workspaces) {
    const { dependencies, devDependencies } = read(workspace, 'package.json');
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
      if (workspace === 'site' && name === 'typescript') continue;
      assert.equal(version, versions.get(name) ?? version, `${workspace}: ${name}`);
      versions.set(name, version);
    }
  }
});

test('the demo has no framework, and no compiled package', () => {
  const names = [...placesOf(SETS.demo).keys()].map((place) => place.split('node_modules/').at(-1));
  const heavy = ['react', 'vue', 'svelte', '@angular/core', 'binaryen', 'typescript', 'vitest'];
  for (const name of [...heavy, 'better-sqlite3']) assert.ok(!names.includes(name), name);
});

test('indirect dependencies are found where npm puts them', () => {
  const packages = {
    a: { devDependencies: { one: '1', two: '1' } },
    'a/b': { dependencies: { one: '2' } },
    'a/node_modules/one': { version: '1.0.0', dependencies: { two: '2' } },
    'a/node_modules/one/node_modules/two': { version: '2.0.0' },
    'node_modules/one': { version: '2.0.0', optionalDependencies: { lost: '1' } },
    'node_modules/two': {
      version: '1.0.0',
      peerDependencies: { own: '1', any: '1' },
      peerDependenciesMeta: { any: { optional: true } },
    },
    'node_modules/own': { resolved: 'own', link: true },
    own: { dependencies: { one: '2' } },
  };
  const found = (workspace) => [...placesOf([workspace], packages).keys()].sort();
  assert.deepEqual(found('a'), [
    'a',
    'a/node_modules/one',
    'a/node_modules/one/node_modules/two',
    'node_modules/one',
    'node_modules/own',
    'node_modules/two',
    'own',
  ]);
  assert.deepEqual(found('a/b'), [
    'a/b',
    'a/node_modules/one',
    'a/node_modules/one/node_modules/two',
  ]);
  delete packages['node_modules/two'];
  assert.throws(() => placesOf(['a'], packages), /lacks two, which a needs/);
});

test('an unknown set is refused', () => {
  assert.throws(() => workspacesOf('most'), /no set of packages is most: there are demo, /);
});

test('an installed package is found, and one of another version is missing', () => {
  // This test runs where the set of `npm test` is installed.
  assert.deepEqual(missingPlaces(['tools/check']), []);
});
