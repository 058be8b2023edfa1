// Runs the whole suite that abstract-level has for its implementations:
// https://github.com/Level/abstract-level#test-suite

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { judged } from '../../lib/foreign.mjs';
import { run as command } from '../../lib/run.mjs';

const SUITE = fileURLToPath(new URL('suites/abstract-level.mjs', import.meta.url));

export const name = 'abstract-level';
export const source = { npm: 'abstract-level', version: '3.1.1' };

/** Runs it once with a store for each database, and once with one store, in which each database has a prefix. */
export async function run({ dir, report }) {
  const tests = [];
  for (const how of ['stores', 'prefixes']) {
    rmSync(report, { force: true });
    try {
      await command('node', [SUITE, dir, report, how], { quiet: true });
    } catch (error) {
      // The report has the failed tests.
      if (!existsSync(report)) throw error;
    }
    tests.push(...JSON.parse(readFileSync(report, 'utf8')));
  }
  return judged(tests);
}
