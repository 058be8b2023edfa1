/** A deleted store takes no calls of its open handles, not even reads of memory. */
import { describe, expect, it, vi } from 'vitest';
import { SQL_STORAGES } from '../../../sqlite/test/support/sql-storages.js';
import { memory, open, type Store } from '../../src/index.js';
import type { Storage } from '../../src/storage/segment-store.js';
import { failure, within } from '../support/models/store-model.js';

const value = new Uint8Array(3);

/** Every call of a handle that rejects. */
const calls = (db: Store): (() => Promise<unknown>)[] => [
  () => db.get('a'),
  () => db.getMany(['a']),
  () => db.has('a'),
  () => db.count(),
  () => db.count({ index: 'n' }),
  () => db.scan().toArray(),
  () => db.scan({ index: 'n' }).toArray(),
  () => db.history.diff('0'.repeat(64), db.root).toArray(),
  () => db.history.since(db.root).toArray(),
  () => db.prove('a'),
  () => db.put('a', 1),
  () => db.delete('a'),
  () => db.putMany([['a', 1]]),
  () => db.deleteMany(['a']),
  () => db.clear(),
  () => db.applyPatch([{ op: 'delete', key: 'a' }]),
  () => db.transaction((tx) => tx.get('a')),
  async () => db.writer(),
  async () => db.snapshot(),
  async () => db.watch({}, () => {}),
  () => db.branches.open('other'),
  () => db.branches.list(),
  () => db.branches.switchTo('main'),
  () => db.branches.merge('draft'),
  () => db.branches.reset(db.root),
  () => db.branches.delete('draft'),
  () => db.health.compact(),
  () => db.health.stats(),
  () => db.health.verify(),
  () => db.health.repair(),
  () => db.backup.export(),
  async () => db.sumTree('t').root,
  async () => db.sumTree('t').get('a'),
  async () => db.sumTree('t').put('a', { value, sum: 1n }),
];

const storages: [string, () => Promise<Storage>][] = [
  ['memory()', async () => memory()],
  ...SQL_STORAGES.slice(0, 1).map(([title, make]): [string, () => Promise<Storage>] => [
    title,
    () => make(),
  ]),
];

describe.each(storages)('in %s', (_, make) => {
  it('a deleted store refuses every call with `closed`, in all of its handles', async () => {
    const storage = await make();
    const onDeleted = vi.fn();
    const indexes = { n: { path: '/n' } };
    const db = await open('gone', { storage, indexes, advanced: { onDeleted } });
    await db.putMany([['a', { n: 1 }]]);
    const tree = db.sumTree('t');
    await tree.put('a', { value, sum: 1n });
    const draft = await db.branches.open('draft');
    await draft.put('b', 1);
    const snap = db.snapshot();
    // All of it is in memory.
    expect(await Promise.all([db.get('a'), draft.get('b'), snap.get('a')])).toEqual([
      { n: 1 },
      1,
      { n: 1 },
    ]);
    const writer = db.writer();
    writer.tryPut('w', 1);
    const ends = [db, draft].map((one) => {
      const onError = vi.fn();
      one.watch({}, () => {}, { onError });
      return onError;
    });
    const never = draft.transaction(() => new Promise(() => {})).catch((cause: unknown) => cause);
    await storage.destroy('gone');
    const closed = failure('closed', {
      cause: failure('closed', { message: expect.stringContaining('deleted') as string }),
    });
    for (const handle of [db, draft]) {
      for (const [at, call] of calls(handle).entries()) {
        await expect(within((async () => call())()), `call ${at}`).rejects.toEqual(closed);
      }
    }
    await expect(snap.get('a')).rejects.toEqual(closed);
    await expect(snap.scan().toArray()).rejects.toEqual(closed);
    await expect(snap.count()).rejects.toEqual(closed);
    expect(() => tree.root).toThrow(expect.objectContaining({ code: 'closed' }));
    await expect(tree.get('a')).rejects.toEqual(closed);
    expect(() => writer.tryPut('w', 2)).toThrow(expect.objectContaining({ code: 'closed' }));
    // At once: no more rows can be written.
    expect(await within(never)).toEqual(closed);
    for (const onError of ends) expect(onError.mock.calls).toEqual([[closed]]);
    expect(onDeleted).toHaveBeenCalledTimes(1);
    await within(db.close());
    await within(draft.close());
    // A new store of the name does not concern the handles of this one.
    const anew = await open('gone', { storage });
    await anew.put('a', 'anew');
    await expect(db.get('a')).rejects.toEqual(closed);
    expect(await anew.get('a')).toBe('anew');
    expect(onDeleted).toHaveBeenCalledTimes(1);
    await anew.close();
    await storage.destroy('gone');
  });
});
