/** Damage to sum trees is found, distinguished from damage to rows, and repaired if the tree follows rows. */
import { beforeEach, describe, expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import { type WatchedStorage, watched } from '../../support/doubles/watched-storage.js';
import { all, type Entry, expectSame, sorted } from '../../support/models/store-model.js';
import { chunksOfKind, damage as damageIn } from '../../support/stored-chunks.js';

const SUMS = { cents: { sum: '/cents' } };
const ROWS = sorted(
  Array.from({ length: 300 }, (_, n): Entry => [`k${n}`, { cents: n, text: `${n}`.repeat(9) }]),
);
const PIECE = 0xd0;
const TOP = 0xd1;

let storage: WatchedStorage;

beforeEach(() => {
  storage = watched(memory());
});

/** Flips a bit in the middle of the first chunk of a kind, at each read. */
function damage(kind: number): void {
  const [first] = chunksOfKind(storage.stored.values(), kind);
  if (first === undefined) throw new Error('there is no such chunk');
  damageIn(storage, first);
}

const reopened = (sums?: typeof SUMS) =>
  open('test', { storage, ...(sums && { advanced: { sums } }) });

describe('a sum tree that follows rows', () => {
  for (const kind of [PIECE, TOP]) {
    it(`is built again when a chunk of kind ${kind.toString(16)} is damaged`, async () => {
      const db = await reopened(SUMS);
      await db.putMany(ROWS);
      const { root } = db.sumTree('cents');
      expect(await db.health.verify()).toMatchObject({ ok: true, faults: [] });
      await db.close();
      damage(kind);
      const damaged = await reopened();
      await expect(damaged.sumTree('cents').entries().toArray()).rejects.toMatchObject({
        code: 'corrupt-chunk',
      });
      const found = await damaged.health.verify();
      expect(found.ok).toBe(false);
      const fault = { code: 'corrupt-chunk', kind: 'sum', tree: 'cents', follows: true };
      expect(found.faults).toMatchObject([fault]);
      const done = await damaged.health.repair();
      expect(done).toMatchObject({ lost: [], rowsLost: 0, commitsDropped: 0 });
      expectSame(await all(damaged), ROWS);
      expect(await damaged.health.verify()).toMatchObject({ ok: true });
      await damaged.close();
      const mended = await reopened(SUMS);
      await mended.sumTree('cents').get('k1');
      expect(mended.sumTree('cents').root).toEqual(root);
      expect(await mended.health.verify()).toMatchObject({ ok: true });
      await mended.close();
    });
  }
});

describe('a sum tree written by hand', () => {
  it('is dropped only by a salvage, which drops no other tree', async () => {
    const db = await reopened();
    const value = new Uint8Array(20);
    const leaves = Array.from({ length: 200 }, (_, n) => ({ key: `k${n}`, value, sum: 1n }));
    await db.sumTree('sound').put('a', { value, sum: 7n });
    await db.sumTree('hand').putMany(leaves);
    await db.close();
    damage(PIECE);
    // Earlier commits do not help: they have the same chunk, or no rows.
    const damaged = await reopened();
    await damaged.putMany(ROWS);
    const found = await damaged.health.verify();
    expect(found.faults).toMatchObject([{ kind: 'sum', tree: 'hand', follows: false }]);
    const done = await damaged.health.repair({ salvage: true });
    expect(done.lost).toEqual([]);
    if (done.commitsDropped === 0) expectSame(await all(damaged), ROWS);
    expect(damaged.sumTree('sound').root.sum).toBe(7n);
    expect(await damaged.health.verify()).toMatchObject({ ok: true });
    await damaged.close();
  });
});
