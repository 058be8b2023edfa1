// Runs the end-to-end suites of TanStack DB, on tables, with two versions of @tanstack/db; and the contracts of its
// persistence, on a store. The setups are in js/tanstack-db/test/foreign. docs/tanstack-db.md lists the exceptions.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { judged, runVitest } from '../../lib/foreign.mjs';
import { ROOT } from '../../lib/run.mjs';

const SETUPS = join(ROOT, 'js', 'tanstack-db', 'test', 'foreign');

export const name = 'tanstack-db';
/** August 2026: @tanstack/db 0.8.2, and version 0.2.15 of the persistence. */
export const source = {
  repo: 'https://github.com/TanStack/db',
  commit: '32ca264be8b8f459d77b17e52f27c5a65e039e5f',
};

const RUNS = [
  { label: 'newest', file: 'tables.suite.ts' },
  { label: 'older', file: 'tables.suite.ts' },
  { label: 'older', file: 'contracts.suite.ts' },
];

/** Tests of the contracts; js/tanstack-db/test/tanstack-db-persistence.test.ts tests the same behaviour instead. */
export const KNOWN = [
  {
    test: 'core adapter applies transactions idempotently with row versions and tombstones',
    reason:
      'Its last step reads a table of tombstones. Here the log of transactions tells what was deleted.',
  },
  {
    test: 'core adapter ensures and removes persisted indexes with registry tracking',
    reason: 'Its index is an expression in SQL, and it reads the catalogue of SQLite.',
  },
  {
    test: 'core adapter compiles serialized expression index specs used by phase-2 metadata',
    reason: 'It reads the SQL of an index in the catalogue of SQLite.',
  },
  {
    test: 'core adapter stores hostile collection ids safely via deterministic table mapping',
    reason: 'It reads the name of a table of SQLite.',
  },
  {
    test: 'core adapter prunes applied_tx rows by age threshold when configured',
    reason: 'The log of transactions is bounded by their number alone.',
  },
  {
    test: 'core adapter supports alias-qualified refs during in-memory fallback filtering',
    reason:
      'TanStack DB gives an adapter members by their own names, without the alias of a query in front.',
  },
  {
    test: 'runtime bridge returns structured remote errors for missing collections',
    reason:
      'A host process of that package has a list of collections. A store has none: one that was never written is empty.',
  },
];

/** Suites that do not run; each names the missing feature. */
const NOT_RUN = [
  {
    test: 'moves.suite.ts',
    reason: 'It writes to Postgres, and reads by the server of Electric.',
    needs: '@tanstack/electric-db-collection',
  },
  {
    test: 'progressive.suite.ts',
    reason: 'Progressive is a mode of Electric: its tests end at once for a source that lacks it.',
    needs: '@tanstack/electric-db-collection',
  },
];

export async function run({ dir, report }) {
  const tests = [];
  for (const { label, file } of RUNS) {
    const env = { HEDGEROW_FOREIGN_DIR: dir, HEDGEROW_TANSTACK_DB: label };
    const config = join(SETUPS, 'vitest.config.ts');
    const found = await runVitest([file], { report, env, config });
    if (found.length === 0) tests.push({ test: `${label}: ${file}`, state: 'failed' });
    for (const one of found) {
      const test = file.startsWith('tables') ? `${label}: ${one.test}` : one.test;
      tests.push({ ...one, test });
    }
  }
  const result = judged(tests, KNOWN);
  for (const { test, reason, needs } of NOT_RUN) {
    const suite = join(dir, 'packages', 'db-collection-e2e', 'src', 'suites', test);
    if (readFileSync(suite, 'utf8').includes(needs)) {
      result.exceptions.push({ test, reason });
      continue;
    }
    result.failed += 1;
    result.failures.push(`${test}\n  does not need ${needs} any more: run it`);
  }
  return result;
}
