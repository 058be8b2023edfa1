// `node scripts/check-snippets.mjs [--list]`: type-checks the TypeScript in the pages against the package in `js/hedgerow/dist`,
// and counts the blocks of code that run (`js/hedgerow/test/support/snippet-list.mjs`); with `--list` it says why others do not. The
// blocks of a page are one module, each within the scope of the one before it, so that it may use or redeclare its
// names. Names that a page leaves out are declared in a comment: `<!-- snippets: declare const closeIssue: (tx:
// Transaction) => void; -->`.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf, isFollowed, pages } from '../js/hedgerow/test/support/snippet-list.mjs';
import { CommandFailed, ROOT, run, runMain } from './lib/run.mjs';
import { moduleOf } from './lib/snippets.mjs';

/** Pages that import packages of others, whose declarations are not checked. */
const WITH_PACKAGES = [
  ...['coming-from', 'adapters', 'frameworks', 'tanstack-db'],
  ...['quick-start', 'editing', 'testing-an-app'],
]
  .map((name) => `docs/${name}.md`)
  .concat('js/adapters/README.md', 'js/tanstack-db/README.md');
const isCompiled = (block) => block.isCompiled;
const OWN = pages().filter(
  (page) => blocksOf(page).some(isCompiled) && !WITH_PACKAGES.includes(page),
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

/** Compiles pages; returns the number of their blocks. */
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
  // Lines are numbered as in the page.
  await run('tsc', ['-p', folder, '--pretty', 'false']);
  return blocks;
}

/** Prints how many blocks run, and why others do not. */
function tellWhatRuns(isLong) {
  const blocks = pages().flatMap((page) => blocksOf(page).map((block) => ({ page, ...block })));
  const others = blocks.filter(({ why }) => why !== undefined);
  const followed = others.filter(({ why }) => isFollowed(why));
  const left = others.filter(({ why }) => !isFollowed(why));
  const compiled = left.filter(isCompiled);
  console.log(
    `${blocks.length} blocks of code: run ${blocks.length - left.length} (${followed.length} of them by scripts/long/newcomer.mjs), ` +
      `compiled only ${compiled.length}, neither ${left.length - compiled.length}`,
  );
  if (!isLong) return;
  for (const { page, language, code, why } of left) {
    console.log(`${page}, ${language}: ${code.split('\n', 1)[0].slice(0, 60)} … ${why}`);
  }
}

await runMain(async () => {
  rmSync(TO, { recursive: true, force: true });
  const own = await compile('own', OWN, false);
  const others = await compile('with-packages', WITH_PACKAGES, true);
  console.log(`${own + others} blocks of ${OWN.length + WITH_PACKAGES.length} pages compile`);
  tellWhatRuns(process.argv.includes('--list'));
});
