/**
 * The host measures how much work fits in a slice by steps that yield, so a step must not yield before it has spent its
 * budget. An ingest has places where its chunks must enter the cache before it continues.
 */
import { afterEach, expect, it, vi } from 'vitest';
import * as Status from '../../src/base/abi/status.js';
import { Engine } from '../../src/core/engine.js';
import { memory, open, type Store } from '../../src/index.js';
import type { Entry } from '../support/models/store-model.js';
import { noise } from '../support/noise.js';

const WHOLE = 0x7fff_ffff;
const COUNT = 3000;
const keyOf = (at: number) => `row/${String(at).padStart(5, '0')}`;

/** Returns rows in the order of their keys, or in another order. */
function rows(stride = 1): Entry[] {
  return Array.from({ length: COUNT }, (_, at) => {
    const n = (at * stride) % COUNT;
    return [keyOf(n), { n, text: noise(n, 100) }];
  });
}

afterEach(() => vi.restoreAllMocks());

/** Counts the steps that yield with a budget for the whole of `task`. */
async function yieldsOf(task: () => Promise<unknown>): Promise<number> {
  const step = Engine.prototype.step;
  let yields = 0;
  let steps = 0;
  vi.spyOn(Engine.prototype, 'step').mockImplementation(function (this: Engine, op) {
    const status = step.call(this, op, WHOLE);
    steps += 1;
    if (status === Status.yield) yields += 1;
    return status;
  });
  await task();
  vi.restoreAllMocks();
  expect(steps).toBeGreaterThan(0);
  return yields;
}

async function filled(): Promise<Store> {
  const db = await open('steps', { storage: memory(), indexes: { n: { path: '/n' } } });
  await db.putMany(rows());
  return db;
}

it.each([
  ['a load', (db: Store) => db.putMany(rows())],
  ['a load in another order', (db: Store) => db.putMany(rows(7))],
  ['a deletion of a range', (db: Store) => db.deleteMany({ gte: keyOf(10), lt: keyOf(2000) })],
  [
    'a patch',
    (db: Store) =>
      db.applyPatch([
        { op: 'clear' },
        ...rows(7).map(([key, value]) => ({ op: 'put', key, value }) as const),
        ...rows().map(([key]) => ({ op: 'update', key, merge: { m: 1 } }) as const),
      ]),
  ],
])('%s is one step, given enough', async (_, change) => {
  const db = await filled();
  expect(await yieldsOf(() => change(db))).toBe(0);
  await db.close();
});

it('a merge of branches is one step with enough budget', async () => {
  const db = await filled();
  const draft = await db.branches.open('draft');
  await draft.putMany(rows(7).map(([key]): Entry => [key, { n: 0 }]));
  expect(await yieldsOf(() => db.branches.merge(draft))).toBe(0);
  await db.close();
});
