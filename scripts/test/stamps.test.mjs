// A step that passed runs again when one of its inputs has changed, and only then.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { Files } from '../checks/files.mjs';
import { Imports } from '../checks/imports.mjs';
import { Stamps, testsOf } from '../checks/stamps.mjs';

const folder = mkdtempSync(join(tmpdir(), 'hedgerow-stamps-'));
after(() => rmSync(folder, { recursive: true }));

/** Makes a checkout with these files, by their names. */
function checkout(texts) {
  const root = mkdtempSync(join(folder, 'checkout-'));
  for (const [name, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return new Files(Object.keys(texts), root);
}

const TEMPLATE = '`../../../vectors/$'.concat('{name}.json`');
const TREE = {
  'docs/a.md': 'a page',
  'js/hedgerow/src/base/kind.ts': "export type Kind = 'a';",
  'js/hedgerow/src/base/list.ts': 'export const list = [];',
  'js/hedgerow/src/live/live.ts':
    "import { list } from '../base/list.js';\nimport type { Kind } from '../base/kind.js';",
  'js/hedgerow/src/later.ts': 'export const later = 1;',
  'js/hedgerow/test/base.test.ts': "import { list } from '../src/base/list.js';",
  'js/hedgerow/test/lazy.test.ts': "const { later } = await import('../src/later.js');",
  'js/hedgerow/test/live.test.ts':
    "import { live } from '../src/live/live.js'; // as '../../../docs/a.md' says",
  'js/hedgerow/test/pages.test.ts': "const page = new URL('../../../docs/a.md', import.meta.url);",
  'js/hedgerow/test/vectors.test.ts': `for (const name of names) read(${TEMPLATE}, join(ROOT, 'docs'));`,
  'js/hedgerow/test/whole.test.ts': "import { open } from 'hedgerow';",
  'vectors/one.json': '{}',
};
const STEP = {
  name: 'step',
  inputs: ['js/hedgerow/src', '!js/hedgerow/src/later.ts'],
  commands: [['run', []]],
};
const TESTS = { name: 'tests', inputs: ['vectors'], tests: (name) => name.endsWith('.test.ts') };
const PASSED = { isOk: true, seconds: 1 };

const stampsOf = (texts, dir, more) =>
  new Stamps({ files: checkout(texts), tier: 'everyday', dir, ...more });
const newDir = () => mkdtempSync(join(folder, 'stamps-'));

/** Whether a step that passed with `before` runs with `now`. */
function runsAgain(step, before, now, more) {
  const dir = newDir();
  const first = stampsOf(before, dir);
  first.write(step, first.inputsOf(step), PASSED);
  const second = stampsOf(now, dir, more);
  return second.find(step, second.inputsOf(step)) === undefined;
}

test('a step runs again when an input is changed, added, deleted or renamed', () => {
  const { 'js/hedgerow/src/live/live.ts': text, ...without } = TREE;
  assert.equal(runsAgain(STEP, TREE, TREE), false);
  assert.equal(
    runsAgain(STEP, TREE, { ...TREE, 'js/hedgerow/src/live/live.ts': `${text} ` }),
    true,
  );
  assert.equal(runsAgain(STEP, TREE, { ...TREE, 'js/hedgerow/src/new.ts': '' }), true);
  assert.equal(runsAgain(STEP, TREE, without), true);
  assert.equal(runsAgain(STEP, TREE, { ...without, 'js/hedgerow/src/live/lives.ts': text }), true);
});

test('a step does not run again for files outside its inputs, or left out of them', () => {
  assert.equal(runsAgain(STEP, TREE, { ...TREE, 'docs/a.md': 'another page' }), false);
  assert.equal(runsAgain(STEP, TREE, { ...TREE, 'js/hedgerow/src/later.ts': 'other' }), false);
  assert.equal(runsAgain({ ...STEP, inputs: ['.'] }, TREE, { ...TREE, 'docs/a.md': '' }), true);
  const browser = { ...STEP, inputs: ['js', '!js/hedgerow/test/*.test.ts'] };
  assert.equal(runsAgain(browser, TREE, { ...TREE, 'js/hedgerow/test/a/lazy.test.ts': '' }), false);
  assert.equal(runsAgain(browser, TREE, { ...TREE, 'js/hedgerow/test/helper.ts': '' }), true);
});

test('a step runs again for other commands, and for another version of a program', () => {
  const dir = newDir();
  const stamps = stampsOf(TREE, dir);
  stamps.write(STEP, stamps.inputsOf(STEP), PASSED);
  const other = { ...STEP, commands: [['run', ['--more']]] };
  assert.equal(stamps.find(other, stamps.inputsOf(other)), undefined);
  assert.equal(runsAgain(STEP, TREE, TREE, { versionsOf: () => 'Chromium 999' }), true);
});

test('a step that failed runs again, and a second failure does not count as passed', () => {
  const stamps = stampsOf(TREE, newDir());
  const inputs = stamps.inputsOf(STEP);
  stamps.write(STEP, inputs, PASSED);
  assert.ok(stamps.find(STEP, inputs));
  stamps.write(STEP, inputs, { isOk: false, seconds: 1 });
  assert.equal(stamps.find(STEP, inputs), undefined);
});

test('each tier has its own stamps for a step that runs more in the deep one', () => {
  const dir = newDir();
  const tiered = { ...STEP, isTiered: true };
  const [everyday, deep] = ['everyday', 'deep'].map(
    (tier) => new Stamps({ files: checkout(TREE), tier, dir }),
  );
  for (const step of [STEP, tiered]) everyday.write(step, everyday.inputsOf(step), PASSED);
  assert.ok(deep.find(STEP, deep.inputsOf(STEP)));
  assert.equal(deep.find(tiered, deep.inputsOf(tiered)), undefined);
});

test('without git no step is stamped', () => {
  const stamps = new Stamps({ files: undefined, tier: 'everyday', dir: newDir() });
  stamps.write(STEP, stamps.inputsOf(STEP), PASSED);
  assert.equal(stamps.find(STEP, stamps.inputsOf(STEP)), undefined);
});

/** Returns the test files that run with `now` after all have passed with `TREE`. */
function staleFor(now) {
  const dir = newDir();
  const first = stampsOf(TREE, dir);
  const inputs = first.inputsOf(TESTS);
  const all = Object.keys(inputs.tests);
  first.write(TESTS, inputs, { ...PASSED, ran: all, passed: all });
  const second = stampsOf({ ...TREE, ...now }, dir);
  const stale = second.staleTests(TESTS, second.inputsOf(TESTS));
  return stale.map((name) => name.replace('js/hedgerow/test/', '').replace('.test.ts', ''));
}

test('of the test files only those run that import a changed file, or name it', () => {
  assert.deepEqual(staleFor({}), []);
  assert.deepEqual(staleFor({ 'js/hedgerow/test/live.test.ts': 'other' }), ['live']);
  assert.deepEqual(staleFor({ 'js/hedgerow/src/live/live.ts': 'other' }), ['live', 'whole']);
  assert.deepEqual(staleFor({ 'js/hedgerow/src/base/list.ts': 'other' }), [
    'base',
    'live',
    'whole',
  ]);
  assert.deepEqual(staleFor({ 'js/hedgerow/src/later.ts': 'other' }), ['lazy', 'whole']);
  assert.deepEqual(staleFor({ 'docs/a.md': 'other' }), ['pages', 'vectors']);
  // Types are gone when tests run; packages are made of all sources.
  assert.deepEqual(staleFor({ 'js/hedgerow/src/base/kind.ts': 'other' }), ['whole']);
  // An input of all.
  assert.equal(staleFor({ 'vectors/one.json': '[]' }).length, 6);
});

test('if a step fails, its passed files do not run again', () => {
  const stamps = stampsOf(TREE, newDir());
  const inputs = stamps.inputsOf(TESTS);
  const ran = Object.keys(inputs.tests);
  const failed = 'js/hedgerow/test/live.test.ts';
  stamps.write(TESTS, inputs, { ...PASSED, ran, passed: ran });
  const passed = ran.filter((name) => name !== failed);
  stamps.write(TESTS, inputs, { isOk: false, seconds: 1, ran, passed });
  assert.deepEqual(stamps.staleTests(TESTS, inputs), [failed]);
  assert.equal(stamps.find(TESTS, inputs), undefined);
});

test('the parts of a step have each file once', () => {
  const names = Object.keys(TREE);
  const parts = [1, 2, 3].map((nth) => testsOf({ ...TESTS, part: { nth, of: 3 } }, names));
  assert.deepEqual(parts.flat().sort(), testsOf(TESTS, names).sort());
});

test('the imports of each test file are found, around circles, too', () => {
  const files = checkout({
    'js/hedgerow/test/a.test.ts': "import './b.js';",
    'js/hedgerow/test/b.ts': "import './a.test.js'; import { c } from './c.mjs';",
    'js/hedgerow/test/c.mjs':
      "const dir = new URL('./pages/', import.meta.url); export { d } from './absent.js';",
    'js/hedgerow/test/pages/one.html': '',
  });
  assert.deepEqual(new Imports(files).from('js/hedgerow/test/a.test.ts'), files.names);
});
