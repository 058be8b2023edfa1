// Steps run in parallel, as far as they may.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runSteps } from '../lib/schedule.mjs';
import { STEPS } from '../lib/test-steps.mjs';

/** Runs steps that take one turn each; returns their starts and ends, and the most that ran at once. */
async function trace(steps, { slots, failing = [] } = {}) {
  const events = [];
  let [now, most] = [0, 0];
  const run = async ({ name, turns = 1 }) => {
    events.push(`+${name}`);
    most = Math.max(most, ++now);
    for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
    now -= 1;
    events.push(`-${name}`);
    return !failing.includes(name);
  };
  await runSteps(steps, run, { slots });
  return { events: events.join(' '), most };
}

test('as many steps run at once as there are slots, in their order', async () => {
  const steps = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name }));
  assert.equal((await trace(steps, { slots: 1 })).events, '+a -a +b -b +c -c +d -d +e -e');
  const { events, most } = await trace(steps, { slots: 2 });
  assert.equal(most, 2);
  assert.deepEqual(events.match(/\+\w/g), ['+a', '+b', '+c', '+d', '+e']);
});

test('steps of one lane do not overlap, and others go past them', async () => {
  const { events } = await trace([
    { name: 'a', lane: 'rust', turns: 3 },
    { name: 'b', lane: 'rust' },
    { name: 'c' },
  ]);
  assert.equal(events, '+a +c -c -a +b -b');
});

test('a step waits for what it needs, when that is among the steps', async () => {
  const needy = { name: 'b', needs: ['a'] };
  assert.equal(
    (await trace([{ name: 'a', turns: 3 }, needy, { name: 'c' }])).events,
    '+a +c -c -a +b -b',
  );
  assert.equal((await trace([needy])).events, '+b -b');
});

test('a step that is alone overlaps with none, and is not overtaken', async () => {
  const steps = [{ name: 'a', turns: 3 }, { name: 'b', alone: true, turns: 3 }, { name: 'c' }];
  assert.equal((await trace(steps)).events, '+a -a +b -b +c -c');
});

test('after a failure no step begins, and those that have begun come to their ends', async () => {
  const steps = [{ name: 'a' }, { name: 'b', turns: 5 }, { name: 'c' }];
  assert.equal((await trace(steps, { failing: ['a'] })).events, '+a +b -a -b');
});

test('steps that wait for each other are a mistake', async () => {
  const steps = [
    { name: 'a', needs: ['b'] },
    { name: 'b', needs: ['a'] },
  ];
  await assert.rejects(trace(steps), /wait for each other: a,b/);
});

test('all steps of npm test are made, each once', async () => {
  const { events } = await trace(STEPS);
  const begun = events.match(/\+\S+/g).map((event) => event.slice(1));
  assert.deepEqual([...begun].sort(), STEPS.map(({ name }) => name).sort());
  assert.equal(new Set(begun).size, begun.length);
});

test('what a step needs comes before it', () => {
  for (const [at, { name, needs = [] }] of STEPS.entries()) {
    const before = ['setup', 'packages', ...STEPS.slice(0, at).map((step) => step.name)];
    assert.ok(needs.length > 0, name);
    for (const other of needs) assert.ok(before.includes(other), `${name} needs ${other}`);
  }
});
