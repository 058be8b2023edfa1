// The stamp that a run of a step leaves.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Stamps } from '../checks/stamps.mjs';
import { StepRun } from '../checks/step-run.mjs';

const folder = mkdtempSync(join(tmpdir(), 'step-run-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const FILES = {
  names: ['a.test.mjs', 'b.test.mjs'],
  named: () => [],
  hash: (names, more) => `${names} ${more}`,
  text: () => '',
};
const stampsOf = (name, more) =>
  new Stamps({ files: FILES, tier: 'deep', dir: join(folder, name), ...more });
const stepOf = (script, more) => ({
  name: 'step',
  inputs: [],
  commands: [[process.execPath, ['-e', script, '--']]],
  ...more,
});
const isDue = (stamps, step) => new StepRun(step, { stamps }).stamp === undefined;
const TESTS = {
  tests: (name) => name.endsWith('.test.mjs'),
  judge: () => ({ counts: { passed: 1, failed: 0, skipped: 0 }, passed: ['a.test.mjs'] }),
};

test('a program that the set-up has installed in between is an input', async () => {
  let version = '';
  const stamps = stampsOf('installed', { versionsOf: () => version });
  const step = stepOf('');
  const run = new StepRun(step, { stamps, isQuiet: true });
  version = 'Firefox 153';
  await run.run();
  assert.equal(isDue(stamps, step), false);
});

test('a file that has no test for a step passes with it, and not if it fails', async () => {
  for (const [script, due] of [
    ['', false],
    ['process.exit(1)', true],
  ]) {
    const stamps = stampsOf(`files${due}`);
    const step = stepOf(script, TESTS);
    await new StepRun(step, { stamps, isQuiet: true }).run();
    assert.equal(isDue(stamps, step), due);
    const stale = stamps.staleTests(step, stamps.inputsOf(step));
    assert.deepEqual(stale, due ? ['b.test.mjs'] : []);
  }
});

test('a runner that finds no test fails, unless a part of its files has run', async () => {
  const none = { ...TESTS, judge: () => ({ counts: { passed: 0, failed: 0, skipped: 0 } }) };
  const step = stepOf('', none);
  const first = await new StepRun(step, { stamps: stampsOf('none'), isQuiet: true }).run();
  assert.equal(first.problem, 'no test has run');
  const stamps = stampsOf('part');
  const inputs = stamps.inputsOf(step);
  stamps.write(step, inputs, { isOk: false, ran: ['a.test.mjs'], passed: ['a.test.mjs'] });
  const second = await new StepRun(step, { stamps, isQuiet: true }).run();
  assert.equal(second.problem, undefined);
});
