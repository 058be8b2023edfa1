/** Sum trees with other writers: races and collections. */
import { describe, expect, it } from 'vitest';
import { memory, open, type Store } from '../../../src/index.js';
import { watched } from '../../support/doubles/watched-storage.js';
import { hex, sha256 } from '../../support/models/sum-reference.js';
import { isDeep } from '../../support/property.js';
import { random } from '../../support/random.js';
import { accounts, leaves, pause, SUMS, sumsOf, value } from './sum-rows.js';

/** The number of rows in a bulk change, and the number of bulk changes. */
const BULK = isDeep ? 2000 : 700;
const ROUNDS = isDeep ? 6 : 3;
const COLLECTIONS = isDeep ? 8 : 4;

describe('races', () => {
  it('of many changes of one tree by two handles, some in bulk, lose no change', async () => {
    const storage = memory();
    const dbs = [await open('s', { storage }), await open('s', { storage })];
    const slowly = async function* (prefix: string) {
      for (const leaf of leaves(prefix, 300)) {
        if (leaf.key.toString().endsWith('7')) await pause();
        yield leaf;
      }
    };
    const work: Promise<unknown>[] = [];
    for (const [at, db] of dbs.entries()) {
      const tree = db.sumTree('t');
      work.push(tree.putMany(slowly(`slow ${at}/`)), tree.putMany(leaves(`bulk ${at}/`, BULK)));
      for (let n = 0; n < 15; n++) {
        work.push(tree.put(`one ${at}/${n}`, { value, sum: 1n }), db.put(`row ${at}/${n}`, n));
        work.push(db.sumTree('other').put(`${at}/${n}`, { value, sum: 2n }));
        await pause();
      }
    }
    await Promise.all(work);
    await dbs[0]!.put('last', 1);
    const [one] = dbs as [Store];
    expect(one.sumTree('t').root.sum).toBe(2n * BigInt(300 + BULK + 15));
    expect((await sumsOf(one)).size).toBe(2 * (300 + BULK + 15));
    expect(one.sumTree('other').root.sum).toBe(60n);
    expect(await one.count()).toBe(31);
    expect((await one.health.verify()).ok).toBe(true);
    await Promise.all(dbs.map((db) => db.close()));
  });

  it('of rows that a tree follows, in bulk and one by one, leave the tree correct', async () => {
    const storage = memory();
    const dbs = [
      await open('s', { storage, advanced: { sums: SUMS } }),
      await open('s', { storage, advanced: { sums: SUMS } }),
      await open('s', { storage }),
    ];
    await dbs[0]!.putMany(accounts(500));
    for (let round = 0; round < ROUNDS; round++) {
      const from = random(round);
      await Promise.all(
        dbs.flatMap((db, at) => [
          db.putMany(accounts(from.below(700), round + at)),
          db.put(`acct/${from.below(900)}`, { cents: 1000 }),
          db.deleteMany([`acct/${from.below(500)}`, `acct/${from.below(500)}`]),
          db.transaction(async (tx) => {
            const found = await tx.get<{ cents: number }>('acct/mine');
            tx.put('acct/mine', { cents: (found?.cents ?? 0) + 1 });
          }),
        ]),
      );
      await dbs[0]!.put('last', round);
      const rows = await dbs[0]!.scan<{ cents: number }>({ prefix: 'acct/' }).toArray();
      const total = rows.reduce((sum, [, { cents }]) => sum + cents, 0);
      expect(dbs[0]!.sumTree('balances').root.sum).toBe(BigInt(total));
      const sums = await sumsOf(dbs[0]!, 'balances');
      expect(sums.size).toBe(rows.length);
      for (const [key, { cents }] of rows) expect(sums.get(hex(sha256(key)))).toBe(BigInt(cents));
      const fresh = await open('fresh', { storage: memory(), advanced: { sums: SUMS } });
      await fresh.putMany(await dbs[0]!.scan().toArray());
      expect(fresh.root).toBe(dbs[0]!.root);
      await fresh.close();
    }
    expect(await dbs[0]!.get('acct/mine')).toEqual({ cents: 3 * ROUNDS });
    await Promise.all(dbs.map((db) => db.close()));
  });

  it('do not disturb reads', async () => {
    const db = await open('s', { storage: memory() });
    const tree = db.sumTree('t');
    await tree.putMany(leaves('a', 3000));
    const before = db.root;
    // A root without a hold may be collected at any time.
    const held = db.snapshot();
    const read = tree.entries()[Symbol.asyncIterator]();
    const [first, ...proofs] = await Promise.all([read.next(), tree.prove('a1'), tree.prove('b1')]);
    expect(first.done).toBe(false);
    let others = 0;
    const work = (async () => {
      for (; others < 10; others++) await tree.putMany(leaves(`b${others}/`, 50));
    })();
    let count = 1;
    while (!(await read.next()).done) count += 1;
    expect(count).toBe(3000);
    await work;
    const changes = await tree.diff(before).toArray();
    expect(changes.length).toBe(500);
    expect(changes.every(({ before, after }) => before === undefined && after?.sum === 1n)).toBe(
      true,
    );
    expect((await tree.diff(db.root, before).toArray()).every(({ after }) => after === undefined));
    expect(await tree.prove('a1')).not.toEqual(proofs[0]);
    held.close();
    await db.close();
  });
});

describe('collection', () => {
  it('during changes of sums loses no leaf and leaves no garbage', async () => {
    const storage = watched({ ...memory(), isShared: true });
    const db = await open('s', { storage, advanced: { sums: SUMS } });
    // The first change makes the trees that follow rows.
    await db.put('acct/first', { cents: 0 });
    const other = await open('s', { storage, advanced: { cacheBytes: 0 } });
    for (let round = 0; round < COLLECTIONS; round++) {
      await Promise.all([
        db.health.compact(),
        db.sumTree('t').putMany(leaves(`a${round % 3}/`, 400, BigInt(round))),
        db.putMany(accounts(300, round)),
        other.sumTree('t').put(`other ${round}`, { value, sum: 1n }),
        other.put(`acct/other ${round}`, { cents: round }),
        round % 2 === 0 ? other.health.compact() : db.deleteMany({ prefix: 'acct/1' }),
      ]);
    }
    await db.health.compact();
    await db.put('last', 1);
    const cold = await open('s', { storage, advanced: { cacheBytes: 0 } });
    expect((await cold.health.verify()).ok).toBe(true);
    const sums = await sumsOf(cold);
    expect(sums.size).toBe(3 * 400 + COLLECTIONS);
    expect(cold.sumTree('t').root.sum).toBe([...sums.values()].reduce((sum, one) => sum + one, 0n));
    const rows = await cold.scan<{ cents: number }>({ prefix: 'acct/' }).toArray();
    const total = rows.reduce((sum, [, { cents }]) => sum + cents, 0);
    expect(cold.sumTree('balances').root.sum).toBe(BigInt(total));
    await Promise.all([cold.close(), other.close()]);

    // Once all are deleted and collected, no chunk of the leaves is left.
    await db.sumTree('t').deleteMany((await keysOf(db)) as Uint8Array[]);
    await db.clear();
    expect(db.root).toBe('0'.repeat(64));
    for (let round = 0; round < 4; round++) await db.health.compact();
    const { storedBytes } = await db.health.stats();
    expect(storedBytes).toBeLessThan(4096);
    expect((await db.health.stats()).segments).toBe(storage.stored.size);
    await db.close();
  });

  const keysOf = async (db: Store) =>
    (await db.sumTree('t').entries().toArray()).map(({ key }) => key);
});
