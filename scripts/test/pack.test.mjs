// The files of the published package next to `js/hedgerow/dist`, and the needs of its declarations.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withReferences } from '../lib/declarations.mjs';
import { foldersOf, packedPage } from '../lib/pack.mjs';
import { ROOT } from '../lib/run.mjs';

const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'js', 'hedgerow', 'package.json'), 'utf8'));
const ENTRIES = Object.entries(MANIFEST.exports).filter(([, target]) => typeof target !== 'string');

test('each entry but the first has a folder, which points to the same files', () => {
  const exports = {
    '.': { types: './dist/index.d.ts', default: './dist/index.js' },
    './full': { types: './dist/full.d.ts', default: './dist/full.js' },
    './a/b': {
      types: './dist/b.d.ts',
      'react-native': './dist/react-native/b.js',
      default: './dist/b.js',
    },
    './package.json': './package.json',
  };
  assert.deepEqual(foldersOf({ exports }), [
    ['full', { main: '../dist/full.js', types: '../dist/full.d.ts' }],
    [
      'a/b',
      {
        main: '../../dist/b.js',
        types: '../../dist/b.d.ts',
        'react-native': '../../dist/react-native/b.js',
      },
    ],
  ]);
});

test('tools without `exports` read the first entry', () => {
  const { '.': first } = MANIFEST.exports;
  assert.equal(MANIFEST.main, first.default);
  assert.equal(MANIFEST.types, first.types);
  assert.equal(MANIFEST['react-native'], first['react-native']);
});

test('the README of the package names each entry', () => {
  const readme = readFileSync(join(ROOT, 'js', 'hedgerow', 'README.md'), 'utf8');
  const named = new Set(
    [...readme.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell]) =>
      [...cell.matchAll(/`(?:hedgerow)?(\/[^`]+)?`/g)].map(([, path = '']) => `.${path}`),
    ),
  );
  assert.deepEqual([...named].sort(), ENTRIES.map(([path]) => path).sort());
});

test('types come first in each entry: TypeScript takes the first condition that fits', () => {
  for (const [path, target] of ENTRIES) {
    assert.equal(Object.keys(target)[0], 'types', path);
    assert.equal(Object.keys(target).at(-1), 'default', path);
  }
});

test('pages without a bundler get the package in one file', () => {
  const { default: full } = MANIFEST.exports['./full'];
  assert.equal(MANIFEST.unpkg, full);
  assert.equal(MANIFEST.jsdelivr, full);
});

test('pages of errors say where in the repository the others are', () => {
  const page = [
    '<!-- snippets: declare const a: 1; -->',
    '',
    'See [all](index.md), [the API](../api.md#errors) and [the README](../../README.md).',
  ];
  assert.equal(
    packedPage(page.join('\n')),
    'See [all](index.md), the API (`docs/api.md` in the repository) and the README (`README.md` in the repository).',
  );
});

test('the folders, the pages and the licences are packed, and publishing requires them', () => {
  const folders = ['*/package.json', '*/*/package.json'];
  assert.deepEqual(MANIFEST.files, ['dist', 'errors', ...folders, 'CHANGELOG.md', 'LICENSE-*']);
  assert.equal(MANIFEST.exports['./errors/*.md'], './errors/*.md');
  assert.match(MANIFEST.scripts.prepack, /&& node (\.\.\/){2}scripts\/lib\/pack\.mjs$/);
  assert.equal(MANIFEST.scripts.postpack, 'node ../../scripts/lib/pack.mjs --clean');
});

test('declarations with Symbol.dispose name the library that has it, once', () => {
  const text = 'export interface A { [Symbol.dispose](): void }\n';
  const finished = `/// <reference lib="esnext.disposable" />\n${text}`;
  assert.equal(withReferences(text), finished);
  assert.equal(withReferences(finished), finished);
  assert.equal(withReferences('export interface A extends AsyncDisposable {}\n').length > 50, true);
  const other = 'export declare function disposable(): void;\n';
  assert.equal(withReferences(other), other);
});
