// A test that never ends ends the run, and is named with its stack.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ROOT } from '../lib/run.mjs';

const folder = join(ROOT, '.cache', 'stuck-test');
const reporter = join(ROOT, 'js', 'hedgerow', 'test', 'support', 'stuck-reporter.ts');
after(() => rmSync(folder, { recursive: true, force: true }));

/** Limits of a run without news, in seconds: a busy machine may need longer than the first to load a test. */
const LIMITS = [3, 12, 48];

/** Runs a test within each of the limits, until the outcome is the expected one. */
function runVitest(body, isExpected) {
  let outcome;
  for (const limit of LIMITS) {
    outcome = runWithin(limit, body);
    if (isExpected(outcome)) break;
  }
  return outcome;
}

function runWithin(seconds, body) {
  mkdirSync(folder, { recursive: true });
  const reporters = JSON.stringify(['default', [reporter, { limitMs: seconds * 1_000 }]]);
  writeFileSync(
    join(folder, 'vitest.config.mjs'),
    `export default { test: { pool: 'threads', testTimeout: 1_000, reporters: ${reporters} } };`,
  );
  writeFileSync(join(folder, 'one.test.mjs'), `import { it } from 'vitest';\n${body}`);
  const { SEEDS, ...env } = process.env;
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  return spawnSync(process.execPath, [vitest, 'run', '--root', folder], { env, encoding: 'utf8' });
}

const NAMED = /no news for \d+ seconds.*one\.test\.mjs:.*at spinning \([^)]*one\.test\.mjs:\d/s;

test('a loop without an end, of whatever kind, is named with its stack', () => {
  for (const body of [
    "it('spins', () => { (function spinning() { for (;;); })(); });",
    "it('waits', async () => { await (async function spinning() { for (;;) await 0; })(); });",
  ]) {
    const { signal, stderr } = runVitest(body, ({ stderr }) => NAMED.test(stderr));
    assert.equal(signal, 'SIGKILL');
    assert.match(stderr, NAMED);
  }
});

test('a test that its own limit ends is the only one that fails', () => {
  const body = "it('waits', () => new Promise(() => {}));";
  const { status, signal, stderr } = runVitest(body, ({ signal }) => signal === null);
  assert.deepEqual({ status, signal }, { status: 1, signal: null });
  assert.match(stderr, /timed out in 1000ms/);
  assert.doesNotMatch(stderr, /no news/);
});
