// The parts of a release that need no build: who may publish, the place of the sources, and entries that may fail to
// import.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { failedEntries, repository } from '../lib/release-tarball.mjs';
import { ROOT } from '../lib/run.mjs';

/** Returns the error of `scripts/release.mjs` when it refuses, outside of CI. */
function refusal(...args) {
  const env = { ...process.env, ACTIONS_ID_TOKEN_REQUEST_URL: undefined };
  const script = join(ROOT, 'scripts', 'release.mjs');
  try {
    execFileSync(process.execPath, [script, ...args], { env, stdio: 'pipe' });
  } catch ({ status, stderr }) {
    assert.equal(status, 1);
    return String(stderr);
  }
  return assert.fail('it was not refused');
}

test('publishing outside of CI is refused', () => {
  assert.match(refusal(), /not released:\n {2}only CI publishes/);
});

test('an option that does not exist is refused', () => {
  assert.match(refusal('--dryrun'), /Unknown option '--dryrun'/);
  assert.match(refusal('publish'), /Unexpected argument 'publish'/);
});

test('the manifest names the sources where CI knows them', () => {
  const env = { GITHUB_SERVER_URL: 'https://example.org', GITHUB_REPOSITORY: 'a/b' };
  assert.deepEqual(repository('hedgerow', env), {
    repository: { type: 'git', url: 'git+https://example.org/a/b.git', directory: 'js/hedgerow' },
  });
  assert.deepEqual(repository('hedgerow', {}), {});
});

test('only entries whose peer is missing may fail to import', () => {
  const all = {
    hedgerow: 20,
    'hedgerow/vue': 'vue',
    'hedgerow/pinia': 'pinia',
    'hedgerow/other': 'zod',
    'hedgerow/broken': 'SyntaxError: Unexpected token',
    'hedgerow/empty': 0,
  };
  const failed = failedEntries(all, ['vue']).map(([name]) => name);
  assert.deepEqual(failed, [
    'hedgerow/pinia',
    'hedgerow/other',
    'hedgerow/broken',
    'hedgerow/empty',
  ]);
});
