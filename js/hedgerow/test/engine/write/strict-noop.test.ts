/** A strict call without a change must not report relaxed rows as durable. */
import { expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import { watched } from '../../support/doubles/watched-storage.js';
import { all } from '../../support/models/store-model.js';

it('a strict call without a change flushes the stored rows once', async () => {
  const storage = watched(memory());
  const db = await open('test', { storage });
  await db.put('a', 1);
  await db.putMany([['a', 1]]);
  expect(storage.written.length).toBe(1);
  const { root } = db;
  const durability = 'strict';
  for (const call of [
    () => db.putMany([['a', 1]], { durability }),
    () => db.deleteMany(['b'], { durability }),
    () => db.deleteMany({ gte: 'b' }, { durability }),
  ]) {
    await call();
    expect(storage.written.slice(1)).toMatchObject([
      { segments: [], durability, move: { expected: 1, generation: 2 } },
    ]);
  }
  expect(db.root).toBe(root);
  // Later commits of others may be relaxed again.
  const other = await open('test', { storage });
  await other.put('b', 1);
  await db.deleteMany(['c'], { durability });
  expect(storage.written.length).toBe(4);
  expect(await all(db)).toEqual(await all(other));
  expect((await db.health.stats()).segments).toBe(2);
});
