// Steps run in parallel, as far as they may.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEEP_STEPS } from '../checks/deep.mjs';
import { runSteps } from '../checks/schedule.mjs';
import { setUpFor } from '../checks/set-up.mjs';
import { EVERYDAY_STEPS } from '../checks/steps.mjs';

const TIERS = { everyday: EVERYDAY_STEPS, deep: DEEP_STEPS };

/** Runs steps that take one turn each; returns their starts and ends, and the most that ran at once. */
async function trace(steps, { slots, goesOn, failing = [] } = {}) {
  const events = [];
  let [now, most] = [0, 0];
  const run = async ({ name, turns = 1 }, failedNeed) => {
    if (failedNeed !== undefined) {
      events.push(`${name} needs ${failedNeed}`);
      return false;
    }
    events.push(`+${name}`);
    most = Math.max(most, ++now);
    for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
    now -= 1;
    events.push(`-${name}`);
    return !failing.includes(name);
  };
  await runSteps(steps, run, { slots, goesOn });
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

test('a step waits for the steps that it needs, if they run', async () => {
  const needy = { name: 'b', needs: ['a'] };
  assert.equal(
    (await trace([{ name: 'a', turns: 3 }, needy, { name: 'c' }])).events,
    '+a +c -c -a +b -b',
  );
  assert.equal((await trace([needy])).events, '+b -b');
});

test('a step that is alone overlaps with no other, and is not overtaken', async () => {
  const steps = [{ name: 'a', turns: 3 }, { name: 'b', alone: true, turns: 3 }, { name: 'c' }];
  assert.equal((await trace(steps)).events, '+a -a +b -b +c -c');
});

test('after a failure no step begins, and running steps come to their ends', async () => {
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

test('a repeated step goes on after a failure', async () => {
  const steps = ['a', 'b', 'c'].map((name) => ({ name }));
  const { events } = await trace(steps, { slots: 1, goesOn: true, failing: ['a'] });
  assert.equal(events, '+a -a +b -b +c -c');
});

test('steps that need a failed one, also indirectly, are left out', async () => {
  const steps = [
    { name: 'a' },
    { name: 'b', needs: ['a'] },
    { name: 'c', needs: ['b'] },
    { name: 'd' },
  ];
  const { events } = await trace(steps, { slots: 1, goesOn: true, failing: ['a'] });
  assert.equal(events, '+a -a b needs a c needs b +d -d');
});

test('a step that waits for the network takes no slot', async () => {
  const steps = [{ name: 'n', isFree: true, turns: 5 }, { name: 'a' }, { name: 'b' }];
  assert.equal((await trace(steps, { slots: 1 })).events, '+n +a -a +b -b -n');
});

for (const [tier, steps] of Object.entries(TIERS)) {
  test(`all steps of the ${tier} tier are made, each once`, async () => {
    const { events } = await trace([...setUpFor(steps, 'test'), ...steps]);
    const begun = events.match(/\+\S+/g).map((event) => event.slice(1));
    const names = [...setUpFor(steps, 'test'), ...steps].map(({ name }) => name);
    assert.deepEqual([...begun].sort(), names.sort());
    assert.equal(new Set(begun).size, begun.length);
  });

  test(`steps of the ${tier} tier come after the steps that they need`, () => {
    const all = [...setUpFor(steps, 'test'), ...steps];
    for (const [at, { name, needs = [], isFree }] of all.entries()) {
      const before = all.slice(0, at).map((step) => step.name);
      assert.ok(needs.length > 0 || isFree, name);
      for (const other of needs) assert.ok(before.includes(other), `${name} needs ${other}`);
    }
  });

  test(`each step of the ${tier} tier but the build names its inputs`, () => {
    for (const { name, inputs } of steps)
      assert.equal(inputs === undefined, name === 'build', name);
  });
}
