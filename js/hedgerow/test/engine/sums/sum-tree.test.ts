/** Sum trees of a store: written by hand, next to rows, and following rows. */
import { describe, expect, it } from 'vitest';
import type { SumItem, SumLeaf } from '../../../src/core/sum-tree-types.js';
import { memory, open } from '../../../src/index.js';
import type { Store } from '../../../src/store/store.js';
import { ofKind } from '../../support/error-kind.js';
import { failure } from '../../support/models/store-model.js';
import { random } from '../../support/random.js';

const EMPTY = {
  hash: 'b1e8e8f2dc3b266452988cfe169aa73be25405eeead02ab5dd6b3c6fd0ca8d67',
  sum: 0n,
};
const encoder = new TextEncoder();
const bytes = (text: string) => encoder.encode(text);
const keyOf = (n: number) =>
  Uint8Array.from({ length: 32 }, (_, at) => (n >> (at % 2 ? 0 : 8)) & 0xff);
const item = (n: number): SumItem => ({ key: keyOf(n), value: bytes(`v${n}`), sum: BigInt(n) });
const sorted = (leaves: SumLeaf[]) =>
  leaves
    .map(({ key, value, sum }) => [hexOf(key), new TextDecoder().decode(value), sum] as const)
    .sort();
const hexOf = (key: Uint8Array) => Buffer.from(key).toString('hex');
const plain = (items: SumItem[]) =>
  sorted(items.map((one) => ({ ...one, key: one.key as Uint8Array })));

describe('by hand', () => {
  it('is empty before the first put', async () => {
    const db = await open('s', { storage: memory() });
    const sums = db.sumTree('balances');
    expect(sums.root).toEqual(EMPTY);
    expect(await sums.get(keyOf(1))).toBeUndefined();
    expect(await sums.entries().toArray()).toEqual([]);
    expect((await sums.deleteMany([keyOf(1), 'x'])).root).toEqual(EMPTY);
    expect(db.root).toBe('0'.repeat(64));
    await db.close();
  });

  it('puts, reads, deletes, and is empty again', async () => {
    const storage = memory();
    const db = await open('s', { storage });
    const sums = db.sumTree('balances');
    const items = Array.from({ length: 200 }, (_, n) => item(n + 1));
    const done = await sums.putMany(items);
    expect(done.leaves).toBe(200);
    expect(sums.root.sum).toBe(20_100n);
    expect(done.root).toEqual(sums.root);
    expect(sorted(await sums.entries().toArray())).toEqual(plain(items));
    const some = await sums.getMany([keyOf(7), keyOf(999), keyOf(200)]);
    expect(some.map((leaf) => leaf?.sum)).toEqual([7n, undefined, 200n]);
    await db.put('row', 1);
    const { root } = sums;
    await db.close();
    const again = await open('s', { storage });
    expect(again.sumTree('balances').root).toEqual(root);
    expect(await again.get('row')).toBe(1);
    await again.sumTree('balances').deleteMany(items.map(({ key }) => key));
    expect(again.sumTree('balances').root).toEqual(EMPTY);
    await again.delete('row');
    expect(again.root).toBe('0'.repeat(64));
    await again.close();
  });

  it('has one root for the same leaves, in any order, in any parts, in any store', async () => {
    const from = random(7);
    const items = Array.from({ length: 300 }, (_, n) => item(n + 1));
    const one = await open('one', { storage: memory() });
    await one.sumTree('t').putMany(items);
    const other = await open('other', { storage: memory() });
    const tree = other.sumTree('t');
    await tree.putMany(items.map((given) => ({ ...given, sum: 3n })));
    const shuffled = items
      .map((given) => [from.next(), given] as const)
      .sort((a, b) => a[0] - b[0]);
    for (let at = 0; at < 300; at += 50) {
      await tree.putMany(shuffled.slice(at, at + 50).map(([, given]) => given));
    }
    expect(tree.root).toEqual(one.sumTree('t').root);
    expect(other.root).toBe(one.root);
    await Promise.all([one.close(), other.close()]);
  });

  it('refuses malformed leaves and a sum that does not fit, and stays unchanged', async () => {
    const db = await open('s', { storage: memory() });
    const sums = db.sumTree('t');
    await sums.put('a', { value: bytes('a'), sum: 2n ** 64n - 2n });
    const before = [db.root, sums.root];
    const value = bytes('b');
    const refused: [SumItem, string][] = [
      [{ key: 'b', value, sum: 2n }, 'invalid-argument/sum-overflow'],
      [{ key: 'b', value, sum: 2n ** 64n }, 'invalid-argument/value'],
      [{ key: 'b', value, sum: -1n }, 'invalid-argument/value'],
      [{ key: 'b', value, sum: 1 as never }, 'invalid-argument/value'],
      [{ key: 'b', value: 'x' as never, sum: 1n }, 'invalid-argument/value'],
      [{ key: new Uint8Array(31), value, sum: 1n }, 'invalid-argument/key'],
      [{ key: '\ud800', value, sum: 1n }, 'invalid-argument/key'],
    ];
    for (const [bad, code] of refused) {
      await expect(sums.putMany([item(1), bad]), code).rejects.toMatchObject(ofKind(code));
      expect([db.root, sums.root]).toEqual(before);
    }
    // For a replaced leaf only the difference counts.
    await sums.put('a', { value: bytes('a'), sum: 2n ** 64n - 1n });
    expect(sums.root.sum).toBe(2n ** 64n - 1n);
    await db.close();
  });

  it('cannot be written in a snapshot, which does not change', async () => {
    const db = await open('s', { storage: memory() });
    await db.sumTree('t').put('a', { value: bytes('a'), sum: 1n });
    const snap = db.snapshot();
    await db.sumTree('t').put('b', { value: bytes('b'), sum: 2n });
    expect(snap.sumTree('t').root.sum).toBe(1n);
    expect((await snap.sumTree('t').entries().toArray()).length).toBe(1);
    const write = snap.sumTree('t').put('c', { value: bytes('c'), sum: 1n });
    await expect(write).rejects.toMatchObject(ofKind('invalid-argument'));
    const changes = await db.sumTree('t').diff(snap.root).toArray();
    expect(changes.map(({ before, after }) => [before?.sum, after?.sum])).toEqual([
      [undefined, 2n],
    ]);
    snap.close();
    await db.close();
  });

  it('accepts rows with pointers, and leaves of another store', async () => {
    const db = await open('s', { storage: memory() });
    const rows = Array.from({ length: 10 }, (_, n) => ({ id: `k${n}`, balance: { cents: n } }));
    await db.sumTree('t').putMany(rows, { key: '/id', sum: '/balance/cents' });
    expect(db.sumTree('t').root.sum).toBe(45n);
    const leaf = await db.sumTree('t').get('k3');
    expect(JSON.parse(new TextDecoder().decode(leaf?.value))).toEqual(rows[3]);
    const other = await open('o', { storage: memory() });
    await other.sumTree('t').putMany(db.sumTree('t').entries());
    expect(other.sumTree('t').root).toEqual(db.sumTree('t').root);
    await Promise.all([db.close(), other.close()]);
  });

  it('has the changes of both handles', async () => {
    const storage = memory();
    const one = await open('s', { storage });
    const two = await open('s', { storage });
    const work: Promise<unknown>[] = [];
    for (let n = 1; n <= 20; n++) {
      work.push(one.sumTree('t').putMany([item(2 * n)]));
      work.push(two.sumTree('t').putMany([item(2 * n + 1)]));
      work.push((n % 2 === 0 ? one : two).put(`k${n}`, n));
    }
    await Promise.all(work);
    await one.put('last', 1);
    expect(one.sumTree('t').root.sum).toBe(BigInt((41 * 42) / 2 - 1));
    expect(await one.count()).toBe(21);
    await Promise.all([one.close(), two.close()]);
  });
});

type Row = { owner?: string; cents?: number | string | null };

/** Returns the expected leaves of rows. */
function leavesOf(rows: Map<string, Row>): Map<string, bigint> {
  const leaves = new Map<string, bigint>();
  for (const [key, { cents }] of rows) {
    if (key.startsWith('acct/') && cents !== undefined && cents !== null) {
      leaves.set(key, BigInt(cents));
    }
  }
  return leaves;
}

const SUMS = { balances: { sum: '/cents', prefix: 'acct/' } };

async function check(db: Store, rows: Map<string, Row>): Promise<void> {
  const sums = db.sumTree('balances');
  const leaves = leavesOf(rows);
  const found = await sums.getMany(leaves.keys());
  expect(found.map((leaf) => leaf?.sum)).toEqual([...leaves.values()]);
  const total = [...leaves.values()].reduce((sum, one) => sum + one, 0n);
  expect(sums.root.sum).toBe(total);
  expect((await sums.entries().toArray()).length).toBe(leaves.size);
}

describe('following rows', () => {
  it('exists after the first load, and follows every change', async () => {
    const storage = memory();
    const db = await open('f', { storage, advanced: { sums: SUMS } });
    const from = random(11);
    const rows = new Map<string, Row>();
    const row = (): Row => ({
      owner: from.text(5),
      cents: from.pick([from.below(1000), String(from.below(1000)), null, undefined]) as never,
    });
    for (let n = 0; n < 300; n++) rows.set(`${from.pick(['acct/', 'x/'])}${n}`, row());
    await db.putMany(rows);
    await check(db, rows);
    for (let round = 0; round < 15; round++) {
      const keys = [...rows.keys()];
      const puts = new Map<string, Row>();
      for (let n = 0; n < from.below(20); n++) puts.set(from.pick(keys), row());
      for (let n = 0; n < from.below(5); n++) puts.set(`acct/n${round}-${n}`, row());
      if (from.next() < 0.5) {
        await db.putMany(puts);
        for (const [key, value] of puts) rows.set(key, value);
      }
      const gone = keys.slice(from.below(keys.length)).slice(0, from.below(4));
      await db.transaction(async (tx) => {
        for (const key of gone) tx.delete(key);
      });
      for (const key of gone) rows.delete(key);
      const one = from.pick(keys);
      const value = row();
      await db.put(one, value);
      rows.set(one, value);
      await check(db, rows);
    }
    // A handle that does not name the tree updates it, too.
    const other = await open('f', { storage });
    await other.put('acct/other', { cents: 5 });
    rows.set('acct/other', { cents: 5 });
    await check(other, rows);
    await db.count();
    const fresh = await open('g', { storage: memory(), advanced: { sums: SUMS } });
    await fresh.putMany([...rows].map(([key, value]) => [key, value] as [string, Row]));
    expect(fresh.sumTree('balances').root).toEqual(other.sumTree('balances').root);
    expect(fresh.root).toBe(other.root);
    await db.clear();
    expect(db.root).toBe('0'.repeat(64));
    expect(db.sumTree('balances').root).toEqual(EMPTY);
    await db.putMany([['acct/1', { cents: 1 }]]);
    expect(db.sumTree('balances').root.sum).toBe(1n);
    await Promise.all([db.close(), other.close(), fresh.close()]);
  });

  it('is built from existing rows, changed and dropped at open', async () => {
    const storage = memory();
    const rows = new Map<string, Row>(
      Array.from({ length: 500 }, (_, n) => [`acct/${n}`, { owner: `o${n}`, cents: n }]),
    );
    const plainDb = await open('f', { storage });
    await plainDb.putMany(rows);
    const bare = plainDb.root;
    await plainDb.close();
    const db = await open('f', { storage, advanced: { sums: SUMS } });
    await check(db, rows);
    await db.close();
    const changed = { balances: { ...SUMS.balances, key: '/owner' } };
    const again = await open('f', { storage, advanced: { sums: changed } });
    expect((await again.sumTree('balances').get('o17'))?.sum).toBe(17n);
    expect(await again.sumTree('balances').get('acct/17')).toBeUndefined();
    await again.close();
    const none = await open('f', { storage, advanced: { sums: {} } });
    await none.sumTree('balances').get('x');
    expect(none.sumTree('balances').root).toEqual(EMPTY);
    expect(none.root).toBe(bare);
    await none.close();
  });

  it('does not replace a tree that was written by hand', async () => {
    for (const rows of [[], [['acct/1', { cents: 1 }]]] as [string, Row][][]) {
      const storage = memory();
      const before = await open('h', { storage });
      await before.sumTree('balances').putMany([item(1), item(2)]);
      await before.putMany(rows);
      const { root } = before.sumTree('balances');
      await before.close();
      const db = await open('h', { storage, advanced: { sums: SUMS } });
      await db.putMany([['acct/2', { cents: 2 }]]);
      await expect(db.sumTree('balances').get('acct/2')).rejects.toEqual(
        expect.objectContaining(ofKind('invalid-argument')),
      );
      expect(db.sumTree('balances').root).toEqual(root);
      await db.clear();
      await db.close();
      const after = await open('h', { storage });
      expect((await after.sumTree('balances').get(keyOf(2)))?.sum).toBe(2n);
      await after.close();
    }
  });

  it('refuses rows without a whole sum and two rows of one key, and does not change', async () => {
    const db = await open('f', {
      storage: memory(),
      advanced: { sums: { b: { key: '/id', sum: '/n' } } },
    });
    await db.putMany([['r1', { id: 'a', n: 1 }]]);
    const before = db.root;
    const bad = [
      { id: 'b', n: -1 },
      { id: 'b', n: 1.5 },
      { id: 'b', n: 'x' },
      { id: 'a', n: 1 },
    ];
    for (const row of bad) {
      await expect(db.put('r2', row)).rejects.toEqual(
        expect.objectContaining({ code: 'invalid-argument', detail: 'value' }),
      );
      expect(db.root).toBe(before);
    }
    // In one commit, one row gives up a key and another takes it.
    await db.putMany([
      ['r1', { id: 'c', n: 1 }],
      ['r2', { id: 'a', n: 2 }],
    ]);
    expect((await db.sumTree('b').getMany(['a', 'c'])).map((leaf) => leaf?.sum)).toEqual([2n, 1n]);
    await expect(db.sumTree('b').put('x', { value: bytes('x'), sum: 1n })).rejects.toMatchObject({
      ...ofKind('invalid-argument'),
    });
    await expect(
      open('g', { storage: memory(), advanced: { sums: { b: { sum: 'n' } } } }),
    ).rejects.toEqual(failure('invalid-argument'));
    await db.close();
  });
});
