// The suite that abstract-level has for its implementations, whole: https://github.com/Level/abstract-level#test-suite

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { judged } from '../lib/foreign.mjs';
import { run as command } from '../lib/run.mjs';

const SUITE = fileURLToPath(new URL('suites/abstract-level.mjs', import.meta.url));

export const name = 'abstract-level';
export const source = { npm: 'abstract-level', version: '3.1.1' };

/** Once with a store for each database, and once with one store, in which each database has a prefix. */
export async function run({ dir, report }) {
  const tests = [];
  for (const how of ['stores', 'prefixes']) {
    rmSync(report, { force: true });
    try {
      await command('node', [SUITE, dir, report, how], { quiet: true });
    } catch (error) {
      // A test that fails is in the report.
      if (!existsSync(report)) throw error;
    }
    tests.push(...JSON.parse(readFileSync(report, 'utf8')));
  }
  return judged(tests);
}
