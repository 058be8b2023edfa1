// Type-checks the TypeScript in the pages against the package in `js/dist`. The blocks of a page are one module, each within
// the scope of the one before it, so that it may use names of that or declare them anew. What a page leaves out is in a comment
// of its own: `<!-- snippets: declare const closeIssue: (tx: Transaction) => void; -->`.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CommandFailed, ROOT, run, runMain } from './lib/run.mjs';
import { moduleOf } from './lib/snippets.mjs';

const PAGES = [
  'README.md',
  ...['tables', 'live', 'values', 'migrations'].map((name) => `docs/${name}.md`),
];
const TO = join(ROOT, '.cache', 'snippets');

const compilerOptions = {
  target: 'ES2022',
  lib: ['ES2023', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable', 'ESNext.Disposable'],
  module: 'ESNext',
  moduleResolution: 'bundler',
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
};

async function main() {
  rmSync(TO, { recursive: true, force: true });
  mkdirSync(TO, { recursive: true });
  let blocks = 0;
  for (const page of PAGES) {
    const { text, count } = moduleOf(readFileSync(join(ROOT, page), 'utf8'));
    if (count === 0) throw new CommandFailed(`${page} has no TypeScript`);
    blocks += count;
    writeFileSync(join(TO, `${basename(page, '.md')}.ts`), text);
  }
  writeFileSync(join(TO, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['.'] }));
  // Lines are those of the page.
  await run('tsc', ['-p', TO, '--pretty', 'false']);
  console.log(`${blocks} blocks of ${PAGES.length} pages compile`);
}

await runMain(main);
