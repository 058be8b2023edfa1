/**
 * Patches, transactions, bulk changes, indexes, sum trees, branches, snapshots and watching over two handles of one
 * store: after every step the rows, indexes and sums are the model's, each copy that a watch keeps equals the stored
 * rows, and the root is the root of a fresh store.
 */
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import {
  type IndexDefinitions,
  memory,
  open,
  type PatchOperation,
  type Store,
} from '../../src/index.js';
import { entriesOfRows } from '../support/models/index-model.js';
import { all, type Entry, expectSame, sorted } from '../support/models/store-model.js';
import { hex, sha256 } from '../support/models/sum-reference.js';
import { forSeeds } from '../support/property.js';
import type { Random } from '../support/random.js';
import { Copy, until } from '../support/watching.js';

const INDEXES: IndexDefinitions = {
  owner: { path: '/owner' },
  tags: { path: '/tags', prefix: 'k' },
  both: { path: ['/state', '/tags'] },
};

/** A sum tree that follows some of the rows; another tree is changed by hand. */
const SUMS = { amounts: { sum: '/amount', prefix: 'k' } };
const BY_HAND = 'hand';

const KEYS = ['', 'k', 'k0', 'k1', 'k2', 'k～', 'k😀', 'm', 'm1', '\u{e000}', '😀'];
const TEXTS = ['', 'a', 'ab', '\0', '～', '😀'];

function rowOf(from: Random): Record<string, unknown> {
  const tags = from.shuffle(TEXTS).slice(0, from.below(4));
  return from.pick([
    { owner: from.pick(TEXTS), tags, state: from.below(3), amount: from.below(1000) },
    { owner: from.below(3), tags: tags[0] ?? null, state: from.pick(TEXTS), amount: '7' },
    { owner: tags, text: 'x'.repeat(from.pick([10, 5000])) },
  ]);
}

type Rows = Map<string, unknown>;

/** Returns the leaves put by hand that go with a model of rows. */
const hands = new WeakMap<Rows, Map<string, bigint>>();

function handOf(rows: Rows): Map<string, bigint> {
  const hand = hands.get(rows) ?? new Map<string, bigint>();
  hands.set(rows, hand);
  return hand;
}

function copyOf(rows: Rows): Rows {
  const copy: Rows = new Map(rows);
  hands.set(copy, new Map(handOf(rows)));
  return copy;
}

const leafOf = ([key, sum]: readonly [string, bigint]) => ({ key, value: new Uint8Array(3), sum });

/** Changes a handle and its model in the same way. */
async function change(db: Store, rows: Rows, from: Random): Promise<void> {
  const [key, other] = [from.pick(KEYS), from.pick(KEYS)];
  const row = rowOf(from);
  switch (from.below(9)) {
    case 0:
      await db.put(key, row);
      rows.set(key, row);
      break;
    case 1:
      await db.delete(key);
      rows.delete(key);
      break;
    case 2: {
      const many = Array.from(
        { length: from.below(30) },
        (): Entry => [from.pick(KEYS), rowOf(from)],
      );
      await db.putMany(many);
      for (const [one, value] of many) rows.set(one, value);
      break;
    }
    case 3: {
      const prefix = from.pick(['k', 'm', 'k1']);
      await db.deleteMany({ prefix });
      for (const one of [...rows.keys()]) if (one.startsWith(prefix)) rows.delete(one);
      break;
    }
    case 4: {
      const patch: PatchOperation[] = [
        ...(from.below(4) === 0 ? [{ op: 'clear' } as const] : []),
        { op: 'put', key, value: row },
        { op: 'delete', key: other === key ? 'none' : other },
        { op: 'update', key, merge: { owner: 'merged' }, constrain: ['owner', 'tags'] },
      ];
      await db.applyPatch(patch);
      if (patch[0]?.op === 'clear') rows.clear();
      if (other !== key) rows.delete(other);
      const { tags } = row;
      rows.set(key, tags === undefined ? { owner: 'merged' } : { owner: 'merged', tags });
      break;
    }
    case 5: {
      const found = await db.transaction(async (tx) => {
        tx.put(key, row);
        const keys = await tx.scan({ index: 'owner' }).keys().toArray();
        for (const one of keys.slice(0, 2)) if (one !== key) tx.delete(one);
        return keys;
      });
      rows.set(key, row);
      const expected = entriesOfRows(INDEXES.owner as never, sorted(rows)).map(([one]) => one);
      expect(found).toEqual(expected);
      for (const one of found.slice(0, 2)) if (one !== key) rows.delete(one);
      break;
    }
    case 6: {
      const sum = BigInt(1 + from.below(1000));
      await db.sumTree(BY_HAND).put(key, leafOf([key, sum]));
      handOf(rows).set(key, sum);
      break;
    }
    case 7:
      await db.sumTree(BY_HAND).deleteMany([key, other]);
      for (const one of [key, other]) handOf(rows).delete(one);
      break;
    default:
      await db.clear();
      rows.clear();
  }
}

/** Compares the reads of a handle with its model. */
async function checkReads(db: Store, rows: Rows): Promise<void> {
  const expected = sorted(rows);
  expectSame(await all(db), expected, 'rows');
  for (const [index, definition] of Object.entries(INDEXES)) {
    expectSame(await db.scan({ index }).toArray(), entriesOfRows(definition, expected), index);
  }
  const amounts = expected
    .filter(([key]) => key.startsWith('k'))
    .map(([key, row]) => [key, (row as { amount?: number | string }).amount] as const)
    .filter(([, amount]) => amount !== undefined)
    .map(([key, amount]) => [key, BigInt(amount ?? 0)] as const);
  const trees = { amounts: new Map(amounts), [BY_HAND]: handOf(rows) };
  for (const [name, leaves] of Object.entries(trees)) {
    const found = await db.sumTree(name).entries().toArray();
    const sums = new Map(found.map(({ key, sum }) => [hex(key), sum]));
    expect(sums, name).toEqual(new Map([...leaves].map(([key, sum]) => [hex(sha256(key)), sum])));
    const total = [...leaves.values()].reduce((sum, one) => sum + one, 0n);
    expect(db.sumTree(name).root.sum, name).toBe(total);
  }
}

/** Calls `checkReads`, and compares the root with the root of a fresh store. */
async function check(db: Store, rows: Rows): Promise<void> {
  await checkReads(db, rows);
  const expected = sorted(rows);
  const fresh = await open('fresh', {
    storage: memory(),
    indexes: INDEXES,
    advanced: { sums: SUMS },
  });
  await fresh.putMany(expected);
  await fresh.sumTree(BY_HAND).putMany([...handOf(rows)].map(leafOf));
  expect(db.root, 'the root of a fresh store').toBe(fresh.root);
  await fresh.close();
}

it('all features work together, in random histories', async () => {
  await forSeeds(25, async (from, seed, begin) => {
    const storage = { ...memory(), isShared: true };
    const dbs = await Promise.all(
      [0, 1].map(() =>
        open(`together ${seed}`, { storage, indexes: INDEXES, advanced: { sums: SUMS } }),
      ),
    );
    const rows: Rows = new Map();
    const copies = dbs.map((db) => {
      const copy = new Copy();
      db.watch({}, copy.take, { initial: true });
      return copy;
    });
    const [one] = dbs as [Store, Store];
    for (let step = 0; step < 14; step++) {
      const kind = from.below(10);
      begin({ kind: ['merge of a draft', 'undone'][kind] ?? 'change', rows });
      if (kind === 0) {
        // A draft that changes other keys than the main branch.
        const draft = await one.branches.open(`draft ${step}`);
        const drafted = copyOf(rows);
        for (let edit = 0; edit < 3; edit++) await change(draft, drafted, from);
        await check(draft, drafted);
        await change(one, rows, from);
        const base: Rows = new Map(rows);
        const choice = from.pick(['ours', 'theirs'] as const);
        const asked: Rows = new Map();
        await one.branches.merge(draft, {
          onConflict: (conflict) => {
            asked.set(conflict.key, conflict[choice]);
            return conflict[choice];
          },
        });
        // The model takes the rows of the merge; `merge-random.test.ts` has a model of merges.
        const merged = new Map(await all(one));
        for (const [key, value] of asked) expect(merged.get(key)).toEqual(value);
        for (const [key, value] of merged) {
          expect([base.get(key), drafted.get(key)]).toContainEqual(value);
        }
        rows.clear();
        for (const [key, value] of merged) rows.set(key, value);
        await draft.close();
        await one.branches.delete(`draft ${step}`);
      } else if (kind === 1) {
        // A snapshot undoes the change.
        const before = one.snapshot();
        await change(one, copyOf(rows), from);
        expectSame(await before.scan().toArray(), sorted(rows), 'the snapshot');
        await one.branches.reset(before);
        before.close();
      } else {
        const db = from.pick(dbs);
        await change(db, rows, from);
      }
      const root = one.root;
      // The other handle follows in its own time.
      await until(() =>
        dbs.every((db) => db.root === dbs[0]?.root && (kind > 1 || db.root === root)),
      );
      await check(one, rows);
      // The root stands for all rows; the other handle still reads through its own caches.
      for (const db of dbs.slice(1)) await checkReads(db, rows);
      for (const copy of copies) {
        const isThere = () => isDeepStrictEqual(sorted(copy.rows), sorted(rows));
        await until(isThere).catch(() => expectSame(sorted(copy.rows), sorted(rows), 'a copy'));
      }
      if (from.below(4) === 0) await one.health.compact();
    }
    await Promise.all(dbs.map((db) => db.close()));
  });
});
