// The model of scale: the same seed gives the same figures, and these keep its rules.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { costOf, simulateScale } from '../lib/scale-model.mjs';

const short = { minutes: 5, warmUpMinutes: 1, open: 40, writers: 40 };

test('a seed gives the same figures each time', () => {
  assert.deepEqual(simulateScale({ ...short, seed: 7 }), simulateScale({ ...short, seed: 7 }));
  assert.notDeepEqual(simulateScale({ ...short, seed: 7 }), simulateScale({ ...short, seed: 8 }));
});

test('a head takes one swap a second at most, and no commit is forgotten', () => {
  for (const writers of [1, 40, 400]) {
    const run = simulateScale({ ...short, open: writers, writers, burstEveryMs: 20_000 });
    assert.ok(run.pushes <= 5 * 60 + 1, `${run.pushes} pushes in 300 s`);
    assert.equal(run.swaps >= run.pushes + run.lost + run.refused, true);
    assert.ok(run.pushes + run.pending > 0);
    assert.ok(run.bursts >= run.pushes - writers);
  }
});

test('a lone writer loses no swap, and a waiting device polls once a minute', () => {
  const run = simulateScale({ ...short, writers: 1, burstEveryMs: 1e9 });
  assert.equal(run.lost + run.refused, 0);
  assert.equal(run.unchanged, run.reads);
  assert.ok(Math.abs(run.polls - 40 * 5) <= 40, `${run.polls} polls of 40 devices in 5 minutes`);
});

test('pokes make changes seen sooner, for more reads', () => {
  const sparse = { ...short, writers: 1, burstEveryMs: 60_000 };
  const [polled, poked] = [simulateScale(sparse), simulateScale({ ...sparse, pokes: true })];
  assert.ok(poked.seen.half < 1000 && polled.seen.half > 4 * poked.seen.half);
  assert.ok(poked.reads > polled.reads);
});

test('branches of their own do not race', () => {
  const one = simulateScale({ ...short, open: 200, writers: 200, burstEveryMs: 60_000 });
  const many = simulateScale({
    ...{ ...short, open: 200, writers: 200, burstEveryMs: 60_000 },
    branches: 100,
  });
  assert.ok(many.pushes > 1.5 * one.pushes);
  assert.ok(many.lost < one.lost / 4);
});

test('costs follow from requests and bytes', () => {
  const run = { minutes: 30 * 24 * 60, puts: 1e6, reads: 2e6, receivedBytes: 3e9 };
  const prices = { perMillionWrites: 5, perMillionReads: 0.4, perGbOut: 0.09 };
  assert.equal(costOf(run, prices).toFixed(2), (5 + 0.8 + 0.27).toFixed(2));
});
