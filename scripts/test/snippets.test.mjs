// Tests of `lib/snippets.mjs`.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moduleOf } from '../lib/snippets.mjs';

const PAGE = `# Title

<!-- snippets: declare const left: number; -->

\`\`\`ts
import { a, type B } from 'x';
const one = a(left);
\`\`\`

Text.

\`\`\`sh
not this
\`\`\`

\`\`\`ts
import { a } from 'x';
const one = a(2);
\`\`\`
`;

test('blocks are one module, with the lines of the page', () => {
  const { text, count } = moduleOf(PAGE);
  assert.equal(count, 2);
  const lines = text.split('\n');
  const imports = "import { a } from 'x'; import { type B } from 'x';";
  assert.equal(lines[0], `${imports} declare const left: number; `);
  assert.deepEqual(lines.slice(4, 8), ['{', '', 'const one = a(left);', '']);
  assert.deepEqual(lines.slice(15, 18), ['', '{', ''].slice(1).concat(['const one = a(2);']));
  assert.ok(!text.includes('not this'));
  assert.ok(text.endsWith('}}\nexport {};'));
});

test("imports from a page's own file are in the scope around", () => {
  const { text } = moduleOf(
    "```ts\n// a.ts\nexport const a = 1;\n```\n```ts\nimport { a } from './a';\na;\n```\n",
  );
  assert.ok(!text.includes('import'));
  assert.ok(text.includes('\nconst a = 1;\n'));
});

test('a page without TypeScript has no block', () => {
  assert.equal(moduleOf('# Title\n').count, 0);
});

test('blocks may export, and a page with JSX says so', () => {
  const page =
    '```tsx\nexport const a = <p />;\nexport interface B {}\nexport default function C() {}\n```\n';
  const { text, hasJsx } = moduleOf(page);
  assert.ok(hasJsx);
  assert.ok(text.includes('\nconst a = <p />;\ninterface B {}\nfunction C() {}\n'));
  assert.equal(moduleOf(PAGE).hasJsx, false);
});
