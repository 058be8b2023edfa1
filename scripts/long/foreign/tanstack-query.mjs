// Runs the tests that TanStack Query has for its persister of single queries, over our storage: they make it with their
// own function, which is replaced. The persister comes from the repository, its core from the installed package.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { judged, runVitest } from '../../lib/foreign.mjs';
import { CommandFailed } from '../../lib/run.mjs';

const TESTS = fileURLToPath(new URL('suites/tanstack-query.test.mjs', import.meta.url));
const FOLDER = 'packages/query-persist-client-core/src/__tests__';

export const name = 'tanstack-query';
/** Version 5.102.0 of query-persist-client-core, after its last change of the persister. */
export const source = {
  repo: 'https://github.com/TanStack/query',
  commit: '40321a0b1b3bdd0afa11f0e439642ab84cdf6afe',
  paths: ['packages/query-persist-client-core/src'],
};

export async function run({ dir, report }) {
  const text = readFileSync(join(dir, FOLDER, 'createPersister.test.ts'), 'utf8');
  const own = /^function getFreshStorage\(\) \{\n[\s\S]*?\n\}\n/m;
  if (!own.test(text)) throw new CommandFailed('the tests make their storage in another way');
  const file = join(dir, FOLDER, 'createPersister.hedgerow.ts');
  writeFileSync(file, text.replace(own, 'const { getFreshStorage } = globalThis as any\n'));
  return judged(await runVitest([TESTS], { report, env: { FOREIGN_TESTS: file } }));
}
