// How a page is followed, and what docs/quick-start.md tells about that. `node scripts/newcomer.mjs` follows it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { commandsOf, effortOf, filesOf, linesOf, sectionsOf } from '../lib/quick-start.mjs';

const PAGE = readFileSync(new URL('../../docs/quick-start.md', import.meta.url), 'utf8');
const FRAMEWORKS = ['React', 'Vue', 'Svelte', 'Solid', 'Without a framework'];

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

test('the words and lines that the page tells are those of its sections', () => {
  const sections = sectionsOf(PAGE);
  for (const name of FRAMEWORKS) {
    const { words, lines } = effortOf(sections, name);
    const row = `| ${name} | ${words} | ${lines} |`;
    assert.ok(PAGE.includes(`${row} `), `it is: ${row}`);
  }
});
