// The table of browser features that Hedgerow needs: every row is used, tested, and has current data.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { firstVersion, minimumOf, newerNames, versionOf } from '../lib/browser-features.mjs';
import { FEATURES } from '../lib/feature-list.mjs';
import { PUBLISHED } from '../lib/published.mjs';
import { ROOT } from '../lib/run.mjs';

const read = (file) => readFileSync(join(ROOT, file), 'utf8');

/** Returns the text of a file, or of all files in a folder. */
function textOf(path) {
  if (!statSync(join(ROOT, path)).isDirectory()) return read(path);
  return readdirSync(join(ROOT, path))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => read(join(path, file)))
    .join('\n');
}

for (const { name, used, tests, without } of FEATURES) {
  test(`${name}: is used, and a test removes it`, () => {
    const [file, text] = used;
    assert.ok(textOf(file).includes(text), `${file} has no ${text}: leave the row out`);
    assert.ok(without.length > 0 && tests.length > 0);
    for (const [file, title] of tests) {
      assert.ok(read(file).includes(title), `${file} has no test ${title}`);
    }
  });
}

test('docs/browsers.md has the table', () => {
  const script = join(ROOT, 'scripts', 'browser-features.mjs');
  const { status, stderr } = spawnSync('node', [script, '--check'], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
});

test('the page of limits names the minimum versions', () => {
  const [chrome, firefox, safari] = ['chrome', 'firefox', 'safari'].map(minimumOf);
  assert.ok(
    read('docs/limits.md').includes(`Chromium ${chrome}+, Firefox ${firefox}+, Safari ${safari}+`),
  );
});

test('a version counts when it has the whole feature, without a flag', () => {
  const flags = [{ type: 'preference', name: 'x' }];
  const of = (...all) => firstVersion({ chrome: all }, 'chrome');
  assert.equal(of({ version_added: '7' }), '7');
  assert.equal(of({ version_added: '9' }, { version_added: '7', flags }), '9');
  assert.equal(of({ version_added: '7', flags }), undefined);
  assert.equal(of({ version_added: '7', partial_implementation: true }), undefined);
  assert.equal(of({ version_added: false }), undefined);
  assert.equal(of({ version_added: 'preview' }), undefined);
  assert.equal(firstVersion({}, 'chrome'), undefined);
  const both = { data: ['webassembly/fixed-width-SIMD', 'api/DecompressionStream'] };
  assert.equal(versionOf(both, 'firefox'), '113');
});

/** Names that only some platforms have, and that are used only there: `FEATURES` has the behaviour without them. */
const GUARDED = new Set([
  'IDBTransaction.durability',
  'Navigator.deviceMemory',
  'StorageManager.estimate',
  'Symbol.asyncDispose',
  'Symbol.dispose',
  'Uint8Array.fromBase64',
]);

/**
 * Hedgerow has methods of these names itself. TypeScript checks that no code calls the newer ones of iterators and
 * disposable stacks: its library is from 2023 (`tsconfig.base.json`).
 */
const OWN_METHODS = new Set(['drop', 'move', 'take', 'toArray', 'use']);

/** The packages that do not run in Node or on phones alone. */
const BROWSER_PACKAGES = PUBLISHED.filter((folder) => folder !== 'sqlite' && folder !== 'server');

/** Returns the packages as browsers run them, without comments and the names of files. */
function sourcesForBrowsers() {
  const files = BROWSER_PACKAGES.flatMap((folder) =>
    readdirSync(join(ROOT, 'js', folder, 'src'), { recursive: true })
      .filter((file) => file.endsWith('.ts') && !/^core.(react-native|generated)/.test(file))
      .map((file) => join('js', folder, 'src', file)),
  );
  return files.map((file) => [
    file,
    read(file)
      .replace(/\/\*[\s\S]*?\*\//g, '')
      .replace(/\/\/.*/g, '')
      .replace(/from '[^']*'/g, ''),
  ]);
}

test('nothing newer is used, or only where it is there', () => {
  const names = newerNames();
  const sources = sourcesForBrowsers();
  assert.ok(names.length > 500 && sources.length > 100);
  // The check itself finds newer names.
  const matches = (text) =>
    names.filter(({ pattern }) => pattern.test(text)).map(({ name }) => name);
  assert.ok(matches('Promise.withResolvers()').includes('Promise.withResolvers'));
  assert.ok(matches('Array.fromAsync(x)').includes('Array.fromAsync'));
  assert.ok(matches('set.isSubsetOf(x)').includes('Set.isSubsetOf'));
  assert.ok(matches('text.isWellFormed()').includes('String.isWellFormed'));
  const found = sources.flatMap(([file, text]) =>
    matches(text)
      .filter((name) => !GUARDED.has(name) && !OWN_METHODS.has(name.split('.')[1]))
      .map((name) => `${file}: ${name}`),
  );
  assert.deepEqual(found, []);
});
