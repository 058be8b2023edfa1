// Type-checks the TypeScript in the pages against the package in `js/dist`. The blocks of a page are one module, each within
// the scope of the one before it, so that it may use names of that or declare them anew. What a page leaves out is in a comment
// of its own: `<!-- snippets: declare const closeIssue: (tx: Transaction) => void; -->`.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandFailed, ROOT, run, runMain } from './lib/run.mjs';
import { moduleOf } from './lib/snippets.mjs';

const docs = (...names) => names.map((name) => `docs/${name}.md`);
const GUIDES = docs(
  ...[
    'index',
    'keys',
    'indexes',
    'bulk-load',
    'lists',
    'drafts',
    'tabs',
    'service-workers',
    'workers',
  ],
  ...[
    'backup',
    'which-sync',
    'api',
    'react-native',
    'sum-tree',
    'why-a-page-freezes',
    'trees',
    'merges',
  ],
);
const ERRORS = readdirSync(join(ROOT, 'docs', 'errors')).map((name) => `docs/errors/${name}`);
const OWN = [
  ...['README.md', 'js/README.md', ...docs('tables', 'live', 'values', 'migrations')],
  ...GUIDES,
  ...ERRORS,
];
/** Pages that import packages of others, whose declarations are not checked. */
const WITH_PACKAGES = docs(
  ...['coming-from', 'adapters', 'frameworks', 'tanstack-db'],
  ...['quick-start', 'editing', 'testing-an-app'],
);
const TO = join(ROOT, '.cache', 'snippets');

const compilerOptions = {
  target: 'ES2022',
  lib: ['ES2023', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable', 'ESNext.Disposable'],
  module: 'ESNext',
  moduleResolution: 'bundler',
  types: [],
  jsx: 'react-jsx',
  // As Angular has them.
  experimentalDecorators: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
};

/** Compiles pages; returns how many blocks they have. */
async function compile(name, pages, skipLibCheck) {
  const folder = join(TO, name);
  mkdirSync(folder, { recursive: true });
  let blocks = 0;
  for (const page of pages) {
    const { text, count, hasJsx } = moduleOf(readFileSync(join(ROOT, page), 'utf8'));
    if (count === 0) throw new CommandFailed(`${page} has no TypeScript`);
    blocks += count;
    const file = `${page.replace('.md', '').replaceAll('/', '-')}.${hasJsx ? 'tsx' : 'ts'}`;
    writeFileSync(join(folder, file), text);
  }
  const config = { compilerOptions: { ...compilerOptions, skipLibCheck }, include: ['.'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  // Lines are those of the page.
  await run('tsc', ['-p', folder, '--pretty', 'false']);
  return blocks;
}

await runMain(async () => {
  rmSync(TO, { recursive: true, force: true });
  const own = await compile('own', OWN, false);
  const others = await compile('with-packages', WITH_PACKAGES, true);
  console.log(`${own + others} blocks of ${OWN.length + WITH_PACKAGES.length} pages compile`);
});
