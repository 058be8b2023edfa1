/** A store bound to REST accepts all kinds of writes: a pull undoes no write, and a push sends it. */
import { expect, it } from 'vitest';
import { memory, open, type Store } from '../../../src/index.js';
import { rest } from '../../../src/sync/rest/index.js';
import { RestDouble } from '../../support/doubles/rest-server.js';
import { rowsOf } from '../../support/worlds/sync-devices.js';

interface Given {
  readonly db: Store;
  /** The root before the change of row `b`. */
  readonly before: string;
}

const WRITES: Record<string, (given: Given) => Promise<unknown>> = {
  put: ({ db }) => db.put('k', 1),
  delete: ({ db }) => db.delete('a'),
  insert: ({ db }) => db.insert('k', 1),
  update: ({ db }) => db.update('a', { n: 7 }),
  putMany: ({ db }) => db.putMany([['k', 1]]),
  deleteMany: ({ db }) => db.deleteMany(['a']),
  applyPatch: ({ db }) => db.applyPatch([{ op: 'clear' }, { op: 'put', key: 'k', value: 1 }]),
  clear: ({ db }) => db.clear(),
  transaction: ({ db }) => db.transaction((tx) => tx.put('k', 1)),
  commit: ({ db }) => db.history.commit((tx) => tx.delete('a')),
  writer: async ({ db }) => {
    const writer = db.writer();
    writer.tryPut('k', 1);
    await writer.close();
  },
  merge: async ({ db }) => {
    const draft = await db.branches.open('draft');
    await draft.put('k', 1);
    await draft.delete('a');
    await db.branches.merge('draft');
  },
  'merge of a branch from before': async ({ db, before }) => {
    const draft = await db.branches.open('draft', { from: before });
    await draft.put('k', 1);
    await db.branches.merge('draft');
  },
  revert: ({ db, before }) => db.history.revert(before, db.root),
  'resetTo a root of before': ({ db, before }) => db.branches.reset(before),
};

it.each(Object.entries(WRITES))('%s stays, and is sent', async (_, write) => {
  const server = new RestDouble();
  server.set({ a: { n: 1 }, b: { n: 2 } });
  const db = await open('app', { storage: memory() });
  const link = await db.connect(
    rest({
      pull: (request) => server.pull(request),
      push: (request) => server.push(request),
    }),
  );
  await link.pull();
  const before = db.root;
  await db.put('b', { n: 20 });
  await link.push();
  const known = await rowsOf(db);
  await write({ db, before });
  const written = await rowsOf(db);
  expect(written).not.toEqual(known);
  server.set({ news: 1 });
  await link.pull();
  expect(await rowsOf(db)).toEqual({ ...written, news: 1 });
  await link.push();
  expect(server.rows).toEqual({ ...written, news: 1 });
  expect(await link.isPending()).toBe(false);
  await db.close();
});
