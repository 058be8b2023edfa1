/** Drafts of a bound store: the changes of a branch become one call of a mutator. */
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import type { Transaction } from '../../../src/engine/transaction/transaction.js';
import { type Change, memory, type Storage, type Store } from '../../../src/index.js';
import { ServerDouble } from '../../support/doubles/mutators-server.js';
import { failure } from '../../support/models/store-model.js';
import { device as deviceOf, rowsOf } from '../../support/worlds/mutators-app.js';

const valuesOf = (change: Change) => ({
  before: 'oldValue' in change ? change.oldValue : undefined,
  after: 'newValue' in change ? change.newValue : undefined,
});

const theirs = {
  takeDraft(rows: Map<string, unknown>, changes: readonly Change[]) {
    const isStale = (change: Change) =>
      !isDeepStrictEqual(rows.get(change.key), valuesOf(change).before);
    if (changes.some(isStale)) throw new Error('conflict');
    for (const change of changes) {
      if (change.op === 'delete') rows.delete(change.key);
      else rows.set(change.key, change.newValue);
    }
  },
  set: (rows: Map<string, unknown>, { key, value }: { key: string; value: unknown }) =>
    void rows.set(key, value),
};

async function device(server: ServerDouble, storage: Storage = memory()) {
  /** The mutator waits for this. */
  const waits = { before: async () => {} };
  const mine = {
    async takeDraft(tx: Transaction, changes: readonly Change[]) {
      await waits.before();
      for (const change of changes) {
        const { before, after } = valuesOf(change);
        const now = await tx.get(change.key);
        if (isDeepStrictEqual(now, after)) continue;
        if (!isDeepStrictEqual(now, before)) throw new Error(`conflict: ${change.key}`);
        if (after === undefined) tx.delete(change.key);
        else tx.put(change.key, after);
      }
      return changes.length;
    },
    set: (tx: Transaction, { key, value }: { key: string; value: unknown }) =>
      void tx.put(key, value),
  };
  return { ...(await deviceOf(server, mine, storage)), waits };
}

function newServer(): ServerDouble {
  const server = new ServerDouble(theirs);
  server.set([
    ['a', { n: 1 }],
    ['b', { n: 2 }],
  ]);
  return server;
}

const keysIn = async (draft: Store) =>
  (await draft.history.sinceFork().toArray()).map(({ op, key }) => `${op} ${key}`);

it('all changes of a branch are one call, and the next merge has the later changes', async () => {
  const server = newServer();
  const { db, app, sync } = await device(server);
  const draft = await db.branches.open('draft');
  await draft.put('a', { n: 10 });
  await draft.delete('b');
  await draft.put('c', { n: 3 });
  expect(await app.mergeDraft('draft', { as: 'takeDraft' })).toBe(3);
  expect(await rowsOf(db)).toEqual({ a: { n: 10 }, c: { n: 3 } });
  expect(app.calls()).toMatchObject([
    {
      name: 'takeDraft',
      args: [
        { op: 'update', key: 'a', oldValue: { n: 1 }, newValue: { n: 10 } },
        { op: 'delete', key: 'b', oldValue: { n: 2 } },
        { op: 'insert', key: 'c', newValue: { n: 3 } },
      ],
    },
  ]);
  expect(await keysIn(draft)).toEqual([]);
  expect(await app.mergeDraft('draft', { as: 'takeDraft' })).toBeUndefined();
  await draft.put('d', { n: 4 });
  expect(await app.mergeDraft('draft', { as: 'takeDraft' })).toBe(1);
  await db.branches.delete('draft');
  server.set([['news', 1]]);
  await sync();
  const rows = { a: { n: 10 }, c: { n: 3 }, d: { n: 4 }, news: 1 };
  expect(server.rows).toEqual(rows);
  expect(await rowsOf(db)).toEqual(rows);
  const other = await device(server);
  expect(await rowsOf(other.db)).toEqual(rows);
  expect(server.done.map(({ name }) => name)).toEqual(['takeDraft', 'takeDraft']);
  await db.close();
  await other.db.close();
});

it('a conflict merges no change, and can be resolved in the draft', async () => {
  const server = newServer();
  const { db, app, sync } = await device(server);
  const draft = await db.branches.open('draft');
  await draft.put('a', { n: 1, mine: true });
  await draft.put('c', { n: 3 });
  server.set([['a', { n: 100 }]]);
  await app.pull();
  const { conflicts } = await db.branches.preview('draft');
  expect(conflicts.map(({ key }) => key)).toEqual(['a']);
  await expect(app.mergeDraft('draft', { as: 'takeDraft' })).rejects.toThrow('conflict: a');
  expect(app.calls()).toEqual([]);
  expect(await rowsOf(db)).toEqual({ a: { n: 100 }, b: { n: 2 } });
  expect(await keysIn(draft)).toEqual(['update a', 'insert c']);
  await draft.branches.merge('main', {
    onConflict: ({ ours, theirs }) => ({ ...(ours as object), ...(theirs as object) }),
  });
  expect(await app.mergeDraft('draft', { as: 'takeDraft' })).toBe(2);
  await sync();
  expect(server.rows).toEqual({ a: { n: 100, mine: true }, b: { n: 2 }, c: { n: 3 } });
  expect(await rowsOf(db)).toEqual(server.rows);
  await db.close();
});

it('a merge that the server has overtaken is reported with all changes, also after the draft was deleted', async () => {
  const server = newServer();
  const { db, app, sync, rejected } = await device(server);
  const draft = await db.branches.open('draft');
  await draft.put('a', { n: 10 });
  await app.mergeDraft('draft', { as: 'takeDraft' });
  await db.branches.delete('draft');
  server.set([['a', { n: 100 }]]);
  await app.pull();
  expect(rejected).toMatchObject([
    { name: 'takeDraft', args: [{ op: 'update', key: 'a', newValue: { n: 10 } }] },
  ]);
  expect(await db.get('a')).toEqual({ n: 100 });
  await sync();
  // The server never hears of it.
  expect(server.refused).toEqual([]);
  expect(await rowsOf(db)).toEqual(server.rows);
  await db.close();
});

it('edits of the draft during a merge stay for the next merge', async () => {
  const { db, app, waits } = await device(newServer());
  const draft = await db.branches.open('draft');
  await draft.put('a', { n: 10 });
  waits.before = () => draft.put('b', { n: 20 });
  expect(await app.mergeDraft('draft', { as: 'takeDraft' })).toBe(1);
  waits.before = async () => {};
  expect(await db.get('b')).toEqual({ n: 2 });
  expect(await keysIn(draft)).toEqual(['update b']);
  expect(await app.mergeDraft('draft', { as: 'takeDraft' })).toBe(1);
  expect(await db.get('b')).toEqual({ n: 20 });
  await db.close();
});

it('one of two merges of a draft at once, in one tab or two, makes the call', async () => {
  const server = newServer();
  const storage = memory();
  const [one, other] = [await device(server, storage), await device(server, storage)];
  const draft = await one.db.branches.open('draft');
  await draft.put('a', { n: 10 });
  const merges = [one, other, one].map(({ app }) => app.mergeDraft('draft', { as: 'takeDraft' }));
  expect((await Promise.all(merges)).sort()).toEqual([1, undefined, undefined]);
  await one.sync();
  expect(server.done).toHaveLength(1);
  await other.app.pull();
  expect(await rowsOf(other.db)).toEqual(server.rows);
  for (const { db } of [one, other]) await db.close();
});

it('a merge comes after the calls before it, and moves the fork also if its call changes no row', async () => {
  const { db, app } = await device(newServer());
  const draft = await db.branches.open('draft');
  await draft.put('c', { n: 3 });
  const setting = app.mutate.set({ key: 'c', value: { n: 3 } });
  expect(await app.mergeDraft('draft', { as: 'takeDraft' })).toBe(1);
  await setting;
  expect(app.calls().map(({ name }) => name)).toEqual(['set', 'takeDraft']);
  expect(await keysIn(draft)).toEqual([]);
  await db.close();
});

it('wrong branches, mutators and values are refused, and change no row', async () => {
  const { db, app } = await device(newServer());
  const draft = await db.branches.open('draft');
  await draft.put('bytes', new Uint8Array(3));
  const merges = [
    ['draft', 'takeDraft', 'invalid-argument/value'],
    ['nobody', 'takeDraft', 'not-found/branch'],
    ['main', 'takeDraft', 'invalid-argument'],
    ['draft', 'toString', 'invalid-argument'],
    ['draft', undefined, 'invalid-argument'],
  ] as const;
  for (const [branch, as, code] of merges) {
    await expect(app.mergeDraft(branch, { as: as as never }), `${branch} ${as}`).rejects.toEqual(
      failure(code),
    );
  }
  expect(app.calls()).toEqual([]);
  expect(await keysIn(draft)).toEqual(['insert bytes']);
  await db.close();
});

/** Only compiled. */
export async function types(app: Awaited<ReturnType<typeof device>>['app']) {
  (await app.mergeDraft('draft', { as: 'takeDraft' })) satisfies number | undefined;
  // @ts-expect-error: it takes no changes
  await app.mergeDraft('draft', { as: 'set' });
  // @ts-expect-error: there is no such mutator
  await app.mergeDraft('draft', { as: 'nobody' });
}
