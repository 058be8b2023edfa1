// How `npm test` reads its arguments.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseSteps, describe } from '../lib/choose-steps.mjs';
import { STEPS } from '../lib/test-steps.mjs';

const namesOf = (...args) => chooseSteps(args, STEPS)?.map(({ name }) => name);

test('without arguments all steps run', () => {
  assert.deepEqual(chooseSteps([], STEPS), STEPS);
});

test('--only runs these steps, in the usual order, and what they need built', () => {
  assert.deepEqual(namesOf('--only', 'clippy,fmt'), ['fmt', 'clippy']);
  assert.deepEqual(namesOf('--only', 'vitest'), ['build', 'vitest']);
  assert.deepEqual(namesOf('--only=size'), ['build', 'size']);
});

test('an unknown name, or argument, lists the steps', () => {
  for (const args of [
    ['--only', 'fmt,clipy'],
    ['--only', ''],
    ['--only'],
    ['--omly', 'fmt'],
    ['fmt'],
  ]) {
    assert.throws(
      () => chooseSteps(args, STEPS),
      (error) => STEPS.every(({ name }) => error.message.includes(`\n${name} `)),
      args.join(' '),
    );
  }
  assert.throws(() => chooseSteps(['--only', 'fmt,clipy'], STEPS), /no such step: clipy/);
});

test('--engines all runs everything in each engine, and refuses all else', () => {
  const all = chooseSteps(['--engines', 'all'], STEPS);
  assert.deepEqual(namesOf('--engines', 'all'), namesOf());
  const changed = all.filter((step, at) => step.commands !== STEPS[at].commands);
  assert.deepEqual(
    changed.map(({ name }) => name),
    ['engines', 'units'],
  );
  const [engines, units] = changed.map(({ commands }) => commands[0]);
  assert.equal(engines[2]().E2E_ENGINES, 'all');
  assert.ok(!units[1].includes('--sample'));
  assert.throws(() => chooseSteps(['--engines', 'firefox'], STEPS), /--engines is all/);
});

test('--list has a line for each step, with its time', () => {
  assert.equal(chooseSteps(['--list'], STEPS), undefined);
  const lines = describe(STEPS).split('\n').slice(1);
  assert.equal(lines.length, STEPS.length);
  for (const line of lines) assert.match(line, /^\w+ +\d+ s {3}\S/);
});
