import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { KINDS, lowered, overLimits } from '../check-words.mjs';
import {
  proseOf,
  rustComments,
  sentencesOf,
  testTitles,
  typeScriptComments,
} from '../lib/comments.mjs';
import { isOddFunction, isOddType, oddNames, readNames } from '../lib/names.mjs';

test('comments of TypeScript are read wherever they stand, and strings are not', () => {
  const text = [
    '/** The file. */',
    "const a = 'a // b';",
    'const b = `/* no comment */`;',
    'function f() {',
    '  // One fact,',
    '  // on two lines.',
    '  g(); // Behind a call.',
    '  // Before a brace.',
    '}',
  ].join('\n');
  assert.deepEqual(typeScriptComments('a.ts', text), [
    'The file.',
    'One fact,\non two lines.',
    'Behind a call.',
    'Before a brace.',
  ]);
});

test('comments of Rust are read, and strings are not', () => {
  const text = '//! A crate.\n\nlet a = "// b";\n/// One fact,\n/// on two lines.\nfn f() {}\n';
  assert.deepEqual(rustComments(text), ['A crate.', 'One fact,\non two lines.']);
});

test('titles of tests are read, with their computed parts', () => {
  const text =
    "it('a row is kept', () => {});\ntest.each([1])(`what \u0024{a} has`, () => {});\nf('no title');\n";
  assert.deepEqual(testTitles('a.test.ts', text), ['A row is kept', 'What CODE has']);
});

test('pages have prose outside of code, headings and links', () => {
  const page =
    '# What is here\n\nOne fact. See [the page](x.md).\n\n```ts\n// What is code.\n```\n\n| Two facts | Three facts |\n|---|---|\n';
  assert.deepEqual(sentencesOf(proseOf(page)), [
    'One fact.',
    'See the page.',
    'Two facts',
    'Three facts',
  ]);
});

test('sentences end where they do for readers', () => {
  const text =
    'Uses `a. B` once. Ends\nhere.\n- An item of a list\n- Another item\n@param a The one';
  assert.deepEqual(sentencesOf(text), [
    'Uses CODE once.',
    'Ends here.',
    'An item of a list',
    'Another item',
    'a The one',
  ]);
});

test('each kind of sentence is found, and plain ones are not', () => {
  const found = (text) => Object.keys(KINDS).filter((kind) => KINDS[kind](text));
  assert.deepEqual(found('What is missing is read.'), ['headless']);
  assert.deepEqual(found('What does it read?'), []);
  assert.deepEqual(found('Reads the root, not that of the index.'), ['pointing']);
  assert.deepEqual(found('The watch tells it.'), ['telling']);
  assert.deepEqual(found('Nothing is read.'), ['negating']);
  assert.deepEqual(found('The rows are read anew.'), ['dated']);
  assert.deepEqual(found('Reads the rows that have changed since the last commit.'), []);
});

test('participles, gerunds and metaphors are found, and nouns and verbs are not', () => {
  const functions = ['told', '#kept', 'opened', 'made'].filter((name) => !isOddFunction(name));
  assert.deepEqual(functions, []);
  assert.deepEqual(['read', 'put', 'sorted', 'toMessage', 'need'].filter(isOddFunction), []);
  assert.deepEqual(
    ['Told', 'Reading', 'Lane', 'Known'].filter((name) => !isOddType(name)),
    [],
  );
  assert.deepEqual(['String', 'WindowList', 'Need', 'OpenedStore'].filter(isOddType), []);
});

test('a name that two files export, and a file name that two folders have, are found', () => {
  const dir = mkdtempSync(join(tmpdir(), 'hedgerow-names-'));
  try {
    writeFileSync(join(dir, 'a.ts'), 'export interface Told {}\nexport const range = () => 1;\n');
    writeFileSync(join(dir, 'b.ts'), 'class A { #kept() {} }\nexport function range() {}\n');
    const { functions, types, owners, files } = oddNames(readNames([dir, dir]));
    assert.deepEqual(new Set(functions.map(({ name }) => name)), new Set(['#kept']));
    assert.deepEqual(new Set(types.map(({ name }) => name)), new Set(['Told']));
    assert.deepEqual(owners, [{ name: 'range', place: 'a.ts, b.ts' }]);
    assert.deepEqual(files, []);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('limits only go down', () => {
  const limits = { docs: { headless: 3, telling: 2 } };
  const counts = { docs: { headless: 1, telling: 5 } };
  assert.deepEqual(lowered(limits, counts), { docs: { headless: 1, telling: 2 } });
  assert.deepEqual(overLimits(counts, limits), ['docs, telling: 5, of 2 at most']);
  assert.equal(overLimits({ docs: { dated: 0 } }, limits).length, 1);
});
