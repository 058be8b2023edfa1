// Arguments of `npm test` and `npm run test:deep`.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseSteps, describe } from '../checks/choose.mjs';
import { DEEP_STEPS } from '../checks/deep.mjs';
import { EVERYDAY_STEPS } from '../checks/steps.mjs';

const namesOf = (...args) => chooseSteps(args, EVERYDAY_STEPS).steps.map(({ name }) => name);
const deepNamesOf = (...args) => chooseSteps(args, DEEP_STEPS).steps.map(({ name }) => name);

test('without arguments all steps run once', () => {
  const { steps, ...how } = chooseSteps([], EVERYDAY_STEPS);
  assert.deepEqual(steps, EVERYDAY_STEPS);
  assert.deepEqual(how, { list: false, force: false, repeats: 1, underLoad: false });
});

test('--only runs these steps, in the usual order, and the build that they need', () => {
  assert.deepEqual(namesOf('--only', 'clippy,fmt'), ['fmt', 'clippy']);
  assert.deepEqual(namesOf('--only', 'vitest'), ['build', 'vitest']);
  assert.deepEqual(namesOf('--only=size'), ['build', 'size']);
});

test('the name of a step without a number means all of its parts', () => {
  const parts = deepNamesOf('--only', 'vitest').slice(1);
  assert.ok(parts.length > 1);
  for (const [at, name] of parts.entries()) assert.equal(name, `vitest-${at + 1}`);
  assert.deepEqual(deepNamesOf('--only', 'vitest-2'), ['build', 'vitest-2']);
});

test('the shards have each step once, each builds, and all have similar lengths', () => {
  const shards = [1, 2, 3, 4].map((nth) => chooseSteps(['--shard', `${nth}/4`], DEEP_STEPS).steps);
  for (const steps of shards) assert.ok(steps.some(({ name }) => name === 'build'));
  const names = shards.flat().map(({ name }) => name);
  const once = names.filter((name) => name !== 'build');
  assert.deepEqual([...once, 'build'].sort(), DEEP_STEPS.map(({ name }) => name).sort());
  const times = shards.map((steps) => steps.reduce((sum, { seconds }) => sum + seconds, 0));
  assert.ok(Math.max(...times) < 1.2 * Math.min(...times), `${times}`);
});

test('a repeated step, or one under load, runs even without changes', () => {
  const how = (...args) => {
    const { repeats, force, underLoad } = chooseSteps(args, EVERYDAY_STEPS);
    return { repeats, force, underLoad };
  };
  assert.deepEqual(how('--repeat', '20'), { repeats: 20, force: true, underLoad: false });
  assert.deepEqual(how('--under-load'), { repeats: 1, force: true, underLoad: true });
  assert.deepEqual(how('--force'), { repeats: 1, force: true, underLoad: false });
});

test('an unknown name, or argument, lists the options and the steps', () => {
  for (const args of [
    ['--only', 'fmt,clipy'],
    ['--only', ''],
    ['--only'],
    ['--omly', 'fmt'],
    ['fmt'],
    ['--shard', '2'],
    ['--shard', '0/4'],
    ['--shard', '5/4'],
    ['--repeat', '0'],
    ['--repeat', 'many'],
  ]) {
    assert.throws(
      () => chooseSteps(args, EVERYDAY_STEPS),
      (error) =>
        error.message.includes('--under-load') &&
        EVERYDAY_STEPS.every(({ name }) => error.message.includes(`\n${name} `)),
      args.join(' '),
    );
  }
  assert.throws(() => chooseSteps(['--only', 'fmt,clipy'], EVERYDAY_STEPS), /no such step: clipy/);
});

test('--list has a line for each step, with its time', () => {
  for (const steps of [EVERYDAY_STEPS, DEEP_STEPS]) {
    assert.equal(chooseSteps(['--list'], steps).list, true);
    const lines = describe(steps).split('\n').slice(1);
    assert.equal(lines.length, steps.length);
    for (const line of lines) assert.match(line, /^[\w-]+ +\d+ s {3}\S/);
  }
});
