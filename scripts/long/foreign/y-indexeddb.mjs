// Runs the tests of y-indexeddb, over our provider in its place: a module with its names. They run in Node, without a
// browser.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { judged, runVitest } from '../../lib/foreign.mjs';

const TESTS = fileURLToPath(new URL('suites/y-indexeddb.test.mjs', import.meta.url));
const PROVIDER = fileURLToPath(new URL('suites/y-indexeddb.provider.mjs', import.meta.url));

export const name = 'y-indexeddb';
/** Version 9.0.12. */
export const source = {
  repo: 'https://github.com/yjs/y-indexeddb',
  commit: 'ff468b5e9cb329165d7db7a9a9c4cf948aee5f5f',
};

export async function run({ dir, report }) {
  // The tests import it as `../src/y-indexeddb.js`.
  mkdirSync(join(dir, 'src'), { recursive: true });
  const from = JSON.stringify(PROVIDER);
  writeFileSync(join(dir, 'src', 'y-indexeddb.js'), `export * from ${from};\n`);
  const tests = join(dir, 'tests', 'y-indexeddb.tests.js');
  return judged(await runVitest([TESTS], { report, env: { FOREIGN_TESTS: tests } }));
}
