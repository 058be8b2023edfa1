// Results of `npm run foreign`, and the sources of its repositories.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fetched, judged } from '../lib/foreign.mjs';

const passed = (test) => ({ test, state: 'passed' });
const failed = (test) => ({ test, state: 'failed', message: 'no' });

test('tests are counted by their states, and failures are named', () => {
  const result = judged([passed('a'), failed('b'), { test: 'c', state: 'skipped' }]);
  assert.deepEqual(result, {
    passed: 1,
    failed: 1,
    skipped: 1,
    exceptions: [],
    failures: ['b\n  no'],
  });
});

test('a known failure is an exception with its reason, and not counted', () => {
  const known = [{ test: 'b', reason: 'because' }];
  const { exceptions, ...counts } = judged([passed('a'), failed('b')], known);
  assert.deepEqual(exceptions, known);
  assert.deepEqual(counts, { passed: 1, failed: 0, skipped: 0, failures: [] });
});

test('a known failure that passes, or is gone, counts as failed', () => {
  const known = [
    { test: 'a', reason: 'because' },
    { test: 'gone', reason: 'because' },
  ];
  const result = judged([passed('a')], known);
  assert.deepEqual([result.passed, result.failed], [1, 2]);
  assert.match(result.failures[0], /^a\n.*take it off the list/);
});

test('a run without tests has failed', () => {
  assert.equal(judged([]).failed, 1);
});

test('a commit is taken from a checkout, and from a bare folder, as it was committed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'foreign-'));
  const git = (...args) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      encoding: 'utf8',
    }).trim();
  const taken = [];
  try {
    git('init', '--quiet');
    writeFileSync(join(folder, 'suite.txt'), 'committed');
    git('add', '.');
    git('commit', '--quiet', '-m', 'one');
    writeFileSync(join(folder, 'suite.txt'), 'changed');
    const commit = git('rev-parse', 'HEAD');
    const source = { repo: 'https://example.org/none', commit };
    for (const [name, from] of [
      ['test-checkout', folder],
      ['test-bare', join(folder, '.git')],
    ]) {
      const { dir } = await fetched(name, source, from);
      taken.push(dir);
      assert.equal(readFileSync(join(dir, 'suite.txt'), 'utf8'), 'committed');
    }
    const missing = fetched('test-missing', { ...source, commit: '0'.repeat(40) }, folder);
    await assert.rejects(missing, /has no commit 0{40}/);
  } finally {
    for (const one of [folder, ...taken]) rmSync(one, { recursive: true, force: true });
  }
});
