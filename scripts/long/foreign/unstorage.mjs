// Runs the tests that unstorage has for its drivers, with its published package.

import { fileURLToPath } from 'node:url';
import { judged, runVitest } from '../../lib/foreign.mjs';

const TESTS = fileURLToPath(new URL('suites/unstorage.test.mjs', import.meta.url));

export const name = 'unstorage';
/** Version 1.17.5. */
export const source = {
  repo: 'https://github.com/unjs/unstorage',
  commit: 'e2febded37759ec796e7d0233d4eb68c92423cc2',
};

export async function run({ dir, report }) {
  const env = { FOREIGN_DIR: dir, FOREIGN_SOURCES: 'src', FOREIGN_PUBLISHED: 'unstorage' };
  return judged(await runVitest([TESTS], { report, env }));
}
