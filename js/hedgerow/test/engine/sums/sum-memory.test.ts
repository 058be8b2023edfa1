/** Linear memory that cannot grow during work on sum trees: only that call fails. */
import { expect, it } from 'vitest';
import type { SumItem } from '../../../src/core/sum-tree-types.js';
import { memory, open, type Store } from '../../../src/index.js';
import { all, failure, within } from '../../support/models/store-model.js';
import { isDeep } from '../../support/property.js';
import { random } from '../../support/random.js';
import { limitMemory } from '../../support/small-memory.js';

limitMemory(512); // 32 MiB

const ROUNDS = isDeep ? 2 : 1;

const outOfMemory = failure('out-of-memory', { retryable: false });
const SUMS = { balances: { sum: '/cents', prefix: 'acct/' } };

/** Far more leaves than fit: they stay in memory until all are known. */
function* tooMany(): Generator<SumItem> {
  const from = random(1);
  for (let at = 0; at < 2000; at++) {
    yield { key: from.bytes(32), value: from.bytes(30_000), sum: 1n };
  }
}

const calls: [string, (db: Store) => Promise<unknown>][] = [
  ['leaves', (db) => db.sumTree('t').putMany(tooMany())],
  [
    'keys to delete',
    (db) => db.sumTree('t').deleteMany(Array.from({ length: 600_000 }, (_, at) => `key ${at}`)),
  ],
];

it.each(calls)('too many %s fail that call, and the store does not change', async (_, call) => {
  const db = await open('test', { storage: memory(), advanced: { sums: SUMS } });
  const tree = db.sumTree('t');
  await tree.put('a', { value: new Uint8Array(5), sum: 5n });
  await db.putMany(Array.from({ length: 500 }, (_, at) => [`acct/${at}`, { cents: 1 }] as const));
  const { root } = db;
  for (let round = 0; round < ROUNDS; round++) {
    await expect(within(call(db), 60_000)).rejects.toEqual(outOfMemory);
    expect(db.root).toBe(root);
    expect((await tree.get('a'))?.sum).toBe(5n);
    expect(db.sumTree('balances').root.sum).toBe(500n);
    expect((await all(db)).length).toBe(500);
    await db.put('acct/1', { cents: 2 });
    expect(db.sumTree('balances').root.sum).toBe(501n);
    await db.put('acct/1', { cents: 1 });
    expect(db.root).toBe(root);
    expect((await db.health.stats()).memoryBytes).toBeLessThan(16 << 20);
  }
  await db.close();
});
