// Readers can follow docs/quick-start.md. `node scripts/long/newcomer.mjs` follows it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  commandsOf,
  effortOf,
  filesOf,
  linesOf,
  sectionsOf,
  typedFor,
} from '../lib/quick-start.mjs';

const PAGE = readFileSync(new URL('../../docs/quick-start.md', import.meta.url), 'utf8');
const COMPONENTS = {
  React: 'src/App.tsx',
  Vue: 'src/App.vue',
  Svelte: 'src/App.svelte',
  Solid: 'src/App.tsx',
  Angular: 'src/app/app.ts',
  'Without a framework': 'src/main.ts',
};

test('blocks are files, and more of files', () => {
  const section = [
    ...['```ts', '// src/a.ts', 'const a = 1;', '', 'a;', '```', '', '```sh', 'npm install', '```'],
    ...['', 'And `b/c.ndjson`:', '', '```json', '{}', '```', '', '```ts'],
    ...[
      '// at the end of src/a.ts',
      'a;',
      '```',
      '',
      '```vue',
      '<!-- d.vue -->',
      '<p />',
      '```',
      '',
    ],
  ].join('\n');
  assert.deepEqual(filesOf(section), [
    { name: 'src/a.ts', text: 'const a = 1;\n\na;\n', isMore: false },
    { name: 'b/c.ndjson', text: '{}\n', isMore: false },
    { name: 'src/a.ts', text: 'a;\n', isMore: true },
    { name: 'd.vue', text: '<p />\n', isMore: false },
  ]);
  assert.deepEqual(commandsOf(section), ['npm install']);
  assert.equal(linesOf('a\n\nb\n'), 2);
  assert.throws(() => filesOf('```ts\nlet a;\n```\n'), /does not say which file/);
});

test('sections have their texts', () => {
  const sections = sectionsOf('# A\n\na\n\n## B\n\nb\n');
  assert.deepEqual([...sections.keys()], ['', 'B']);
  assert.match(sections.get('B'), /^\s+b\s+$/);
});

test('words are counted outside of blocks, lines in the blocks of code', () => {
  const typed = typedFor('B').map((name) => `## ${name}\n\nTwo words.\n`);
  const code = '\n```ts\n// b.ts\nlet b;\n\nb;\n```\n\nOf `c.ndjson`:\n\n```json\n{}\n```\n';
  const page = ['# A page\n\n## Create an app\n\nOne.\n', ...typed].join('\n') + code;
  assert.deepEqual(effortOf(sectionsOf(page), 'B'), { words: 12, lines: 2 });
});

test('the page has commands, and the files of an app for each framework', () => {
  const sections = sectionsOf(PAGE);
  assert.equal(commandsOf(sections.get('Create an app')).at(-1), 'npm install hedgerow');
  for (const [framework, component] of Object.entries(COMPONENTS)) {
    const files = typedFor(framework).flatMap((name) => filesOf(sections.get(name)));
    assert.deepEqual(
      files.map(({ name }) => name),
      ['src/db.ts', component, 'public/issues.ndjson', 'src/db.ts'],
    );
  }
});
