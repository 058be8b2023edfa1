/** Linear memory that cannot grow: the call fails with a typed error, and the store does not change. */
import { describe, expect, it } from 'vitest';
import { memory, open, type Store } from '../../src/index.js';
import {
  all,
  type Entry,
  expectSame,
  failure,
  sorted,
  within,
} from '../support/models/store-model.js';
import { isDeep } from '../support/property.js';
import { random } from '../support/random.js';
import { limitMemory } from '../support/small-memory.js';

limitMemory(1024); // 64 MiB

const ROUNDS = isDeep ? 3 : 1;

const outOfMemory = failure('out-of-memory', { retryable: false });
const BEFORE: Entry[] = Array.from({ length: 2000 }, (_, at) => [`k${at}`, { at }]);

/** Far more rows than fit, in an order that must be sorted first. */
function* tooMuch(): Generator<Entry> {
  const from = random(1);
  const noise = from.bytes(30_000);
  for (let at = 0; at < 4000; at++) {
    const bytes = noise.slice();
    new DataView(bytes.buffer).setUint32(0, at);
    yield [`k${from.below(1e9)}`, bytes];
  }
}

const calls: [string, (db: Store) => Promise<unknown>][] = [
  ['rows', (db) => db.putMany(tooMuch())],
  ['a row of bytes', (db) => db.putMany([['big', new Uint8Array(60 << 20)]])],
  ['a row of text', (db) => db.put('big', 'x'.repeat(60 << 20))],
  [
    'NDJSON of one long line',
    (db) => db.putMany(new Blob(['["big","', 'y'.repeat(60 << 20)]), { format: 'ndjson' }),
  ],
  [
    'rows of a writer',
    async (db) => {
      const writer = db.writer();
      for (const [key, value] of tooMuch()) await writer.put(key, value);
      await writer.close();
    },
  ],
];

describe('memory that cannot grow', () => {
  for (const [title, call] of calls) {
    it(`fails a call of too many ${title}, and no other call`, async () => {
      const storage = memory();
      const db = await open('test', { storage });
      await db.putMany(BEFORE);
      const { root } = db;
      for (let round = 0; round < ROUNDS; round++) {
        await expect(within(call(db), 30_000)).rejects.toEqual(outOfMemory);
        expectSame(await all(db), sorted(BEFORE));
        expect(db.root).toBe(root);
        await db.put('a', round);
        await db.delete('a');
        expect((await db.health.stats()).memoryBytes).toBeLessThan(16 << 20);
      }
      await db.close();
    });
  }

  it('has room for a read of a million keys, part by part', async () => {
    const db = await open('test', { storage: memory() });
    await db.putMany(BEFORE);
    const keys = Array.from({ length: 1e6 }, (_, at) => `k${at}`);
    const values = await db.getMany(keys);
    expect(values).toHaveLength(1e6);
    expect(values.slice(0, 2000)).toEqual(BEFORE.map(([, value]) => value));
    expect(values.indexOf(undefined)).toBe(2000);
    expect(values.filter((value) => value !== undefined)).toHaveLength(2000);
    expect((await db.health.stats()).memoryBytes).toBeLessThan(16 << 20);
    await db.close();
  });

  it('twice in a row closes the store, and only that store', async () => {
    const storage = memory();
    const db = await open('test', { storage });
    await db.putMany(BEFORE);
    const call = () => db.put('big', 'x'.repeat(60 << 20));
    await expect(call()).rejects.toEqual(outOfMemory);
    await expect(call()).rejects.toEqual(outOfMemory);
    await expect(db.get('k1')).rejects.toEqual(failure('closed', { cause: outOfMemory }));
    expectSame(await all(await open('test', { storage })), sorted(BEFORE));
  });
});
