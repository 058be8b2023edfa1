// The seed at which the random tests of a day begin.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ensureSeedBase, movingSeed, seedOf } from '../lib/moving-seed.mjs';
import { ask, ROOT } from '../lib/run.mjs';

test('another day and another commit have another seed', () => {
  const seeds = ['2026-11-28', '2026-11-29'].flatMap((day) =>
    ['a', 'b'].map((commit) => seedOf(day, commit)),
  );
  assert.equal(new Set(seeds).size, 4);
  assert.equal(seedOf('2026-11-28', 'a'), seeds[0]);
  for (let nth = 0; nth < 1000; nth += 1) {
    const seed = seedOf('2026-11-28', `${nth}`);
    assert.ok(Number.isInteger(seed) && seed >= 1 && seed <= 1_000_000, `${seed}`);
  }
});

test('the day is in UTC, and the commit is the checked-out one', () => {
  const commit = ask('git', ['rev-parse', 'HEAD']) ?? '';
  assert.equal(movingSeed(new Date('2026-11-28T23:59:59Z')), seedOf('2026-11-28', commit));
  assert.equal(
    movingSeed(new Date('2026-11-29T00:30:00+01:00'), ROOT),
    seedOf('2026-11-28', commit),
  );
});

test('without a repository the day alone makes the seed', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'hedgerow-seed-'));
  t.after(() => rmSync(dir, { recursive: true }));
  assert.equal(movingSeed(new Date('2026-11-28T12:00:00Z'), dir), seedOf('2026-11-28', ''));
});

test('a seed that is set stays', () => {
  const env = { SEED_BASE: '7' };
  ensureSeedBase(env);
  assert.equal(env.SEED_BASE, '7');
  const empty = {};
  ensureSeedBase(empty);
  assert.match(empty.SEED_BASE, /^[1-9]\d*$/);
});
