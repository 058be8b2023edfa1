/** `takeChanges`: the changes of a draft, made in a mutator, and the changes that undo them. */
import { expect, it } from 'vitest';
import type { Transaction } from '../../../src/engine/transaction/transaction.js';
import { type Change, memory, open } from '../../../src/index.js';
import { takeChanges } from '../../../src/sync/index.js';
import { ServerDouble } from '../../support/doubles/mutators-server.js';
import { ofKind } from '../../support/error-kind.js';
import { device, rowsOf } from '../../support/worlds/mutators-app.js';

const CHANGES: readonly Change[] = [
  { op: 'update', key: 'a', oldValue: { n: 1, m: 2 }, newValue: { n: 10, m: 2 } },
  { op: 'delete', key: 'b', oldValue: 2 },
  { op: 'insert', key: 'c', newValue: [3] },
];

async function storeOf(rows: object) {
  const db = await open('taking', { storage: memory() });
  await db.putMany(Object.entries(rows));
  const take = (changes: readonly Change[]) => db.transaction((tx) => takeChanges(tx, changes));
  return { db, take };
}

it('makes all changes, and returns the changes that undo them', async () => {
  const before = { a: { n: 1, m: 2 }, b: 2, other: 1 };
  const { db, take } = await storeOf(before);
  const undo = await take(CHANGES);
  expect(await rowsOf(db)).toEqual({ a: { n: 10, m: 2 }, c: [3], other: 1 });
  expect(undo).toEqual([
    { op: 'update', key: 'a', oldValue: { n: 10, m: 2 }, newValue: { n: 1, m: 2 } },
    { op: 'insert', key: 'b', newValue: 2 },
    { op: 'delete', key: 'c', oldValue: [3] },
  ]);
  expect(await take(undo)).toEqual(CHANGES);
  expect(await rowsOf(db)).toEqual(before);
});

it.each([
  ['an updated row that was changed', { a: { n: 5, m: 2 }, b: 2 }, 'a'],
  ['an updated row that was deleted', { b: 2 }, 'a'],
  ['a deleted row that was changed', { a: { n: 1, m: 2 }, b: 3 }, 'b'],
  ['an inserted row that is there', { a: { n: 1, m: 2 }, b: 2, c: [4] }, 'c'],
])('refuses %s, and changes no row', async (_, rows, key) => {
  const { db, take } = await storeOf(rows);
  await expect(take(CHANGES)).rejects.toMatchObject({ ...ofKind('conflict'), key });
  expect(await rowsOf(db)).toEqual(rows);
});

it('leaves rows that are as the draft has them, whatever the order of their members', async () => {
  const { db, take } = await storeOf({ a: { m: 2, n: 10 }, c: [3] });
  const { root } = db;
  expect(await take(CHANGES)).toEqual([]);
  expect(db.root).toBe(root);
});

it('takes rows that a server has sent with their members in another order', async () => {
  const { db, take } = await storeOf({ a: { m: 2, n: 1 }, b: 2 });
  expect(await take(CHANGES)).toHaveLength(3);
  expect(await rowsOf(db)).toEqual({ a: { n: 10, m: 2 }, c: [3] });
});

it('undoes the merge of a draft', async () => {
  const takeDraft = async (tx: Transaction, changes: readonly Change[]) => ({
    undo: { takeDraft: await takeChanges(tx, changes) },
  });
  const server = new ServerDouble({
    takeDraft(rows: Map<string, unknown>, changes: readonly Change[]) {
      for (const change of changes) {
        if (change.op === 'delete') rows.delete(change.key);
        else rows.set(change.key, change.newValue);
      }
    },
  });
  server.set([['a', { n: 1 }]]);
  const { db, app, sync } = await device(server, { takeDraft });
  const draft = await db.branches.open('draft');
  await draft.put('a', { n: 2 });
  await draft.put('b', 1);
  await app.mergeDraft('draft', { as: 'takeDraft' });
  await app.undo();
  expect(await rowsOf(db)).toEqual({ a: { n: 1 } });
  await app.redo();
  await sync();
  expect(server.rows).toEqual({ a: { n: 2 }, b: 1 });
  await db.close();
});
