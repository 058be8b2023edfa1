/** Proofs as users make and verify them; `crate/tests/proof.rs` and `forged.rs` try them in depth. */
import '../../support/trapping.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { type KeyRange, memory, open, type Store } from '../../../src/index.js';
import { verifyProof } from '../../../src/store/verify-row-proof.js';
import {
  type Entry,
  expectSame,
  failure,
  select,
  sorted,
  storeOf,
} from '../../support/models/store-model.js';
import { forSeeds } from '../../support/property.js';

import { isPending, trapIn } from '../../support/trapping.js';

const entries = sorted(
  Array.from({ length: 3000 }, (_, at): Entry => {
    const key = `${['city', '\uff5e', '😀'][at % 3]}/${String(at).padStart(5, '0')}`;
    if (at % 500 === 7) return [key, new Uint8Array(100_000).fill(at)];
    return [key, at % 10 === 0 ? Uint8Array.of(at, at >> 8) : { at, text: 'é'.repeat(at % 50) }];
  }),
);

describe('proofs of a store of several leaves', () => {
  let db: Store;
  beforeAll(async () => {
    db = await storeOf(entries);
  });

  it('prove each value, and the absence of keys', async () => {
    for (const [key, value] of entries.filter((_, at) => at % 97 === 0)) {
      expectSame(await verifyProof(db.root, key, await db.prove(key)), { value }, key);
      const beside = `${key}!`;
      expectSame(await verifyProof(db.root, beside, await db.prove(beside)), { absent: true });
    }
    for (const key of ['', 'city', '\u{10ffff}']) {
      expect(await verifyProof(db.root, key, await db.prove(key))).toEqual({ absent: true });
    }
  });

  it('prove all rows of a range', async () => {
    const ranges: KeyRange[] = [
      {},
      { prefix: 'city/' },
      { prefix: '😀/0001' },
      { prefix: 'none' },
      { gt: 'city/00999', lte: '\uff5e/00001' },
      { gte: 'z' },
      { lt: 'a' },
      { gte: 'z', lt: 'a' },
    ];
    for (const range of ranges) {
      const proof = await db.prove(range);
      const message = JSON.stringify(range);
      const proved = await verifyProof(db.root, range, proof);
      expectSame(proved, { entries: select(entries, range) }, message);
    }
  });

  it('contain the nodes on the way and no other nodes', async () => {
    const { levels } = await db.health.stats();
    const most = levels.reduce((sum, { maxBytes }) => sum + maxBytes + 4, 100);
    expect((await db.prove('city/00300')).length).toBeLessThan(most);
  });

  it('hold for the root at the time of the call', async () => {
    const before = db.root;
    const proving = db.prove('new');
    await db.put('new', 1);
    const proof = await proving;
    expect(await verifyProof(before, 'new', proof)).toEqual({ absent: true });
    await expect(verifyProof(db.root, 'new', proof)).rejects.toThrow(failure('invalid-data/proof'));
    await db.delete('new');
  });

  it('fail after any change, cut or addition', async () => {
    const [key] = entries[1000] as Entry;
    const good = await db.prove(key);
    await forSeeds(300, async (random, _, begin) => {
      const bad = good.slice();
      // A changed version of the proof is refused as a later format.
      const at = 2 + random.below(bad.length - 2);
      bad[at] = (bad[at] ?? 0) ^ (1 << random.below(8));
      const how = random.below(3);
      begin({ at, way: ['a changed bit', 'cut off', 'a byte more'][how] });
      const forged = [bad, good.slice(0, at), new Uint8Array([...good, at])][how] as Uint8Array;
      await expect(verifyProof(db.root, key, forged)).rejects.toThrow(
        failure('invalid-data/proof'),
      );
    });
    const later = Uint8Array.of(0xf0, 2, ...good.slice(2));
    await expect(verifyProof(db.root, key, later)).rejects.toThrow(failure('newer-version/format'));
    for (const other of [new Uint8Array(), new Uint8Array(1000).fill(0xff), Uint8Array.of(0xf0)]) {
      await expect(verifyProof(db.root, key, other)).rejects.toThrow(failure('invalid-data/proof'));
    }
    const other = `${'0'.repeat(63)}1`;
    await expect(verifyProof(other, key, good)).rejects.toThrow(failure('invalid-data/proof'));
    const elsewhere = (entries[2999] as Entry)[0];
    await expect(verifyProof(db.root, elsewhere, good)).rejects.toThrow(
      failure('invalid-data/proof'),
    );
    await expect(verifyProof(db.root, {}, good)).rejects.toThrow(failure('invalid-data/proof'));
  });
});

describe('proofs', () => {
  it('show that an empty store is empty', async () => {
    const db = await open('empty', { storage: memory() });
    const proof = await db.prove({});
    expect(proof).toEqual(Uint8Array.of(0xf0, 1));
    expect(await verifyProof(db.root, {}, proof)).toEqual({ entries: [] });
    expect(await verifyProof('0'.repeat(64), 'k', await db.prove('k'))).toEqual({ absent: true });
  });

  it('outlive their store, and verify many times at once', async () => {
    const db = await storeOf(entries);
    const { root } = db;
    const range = { prefix: 'city/' };
    const [proof, one] = await Promise.all([db.prove(range), db.prove('city/00000')]);
    await db.close();
    const expected = { entries: select(entries, range) };
    const all = await Promise.all(Array.from({ length: 5 }, () => verifyProof(root, range, proof)));
    for (const proved of all) expectSame(proved, expected);
    expect(await verifyProof(root, 'city/00000', one)).toEqual({ value: entries[0]?.[1] });
    await expect(db.prove('k')).rejects.toThrow(failure('closed'));
  });

  it('refuse malformed arguments', async () => {
    const db = await storeOf(entries.slice(0, 3));
    for (const bad of [undefined, null, 1]) {
      const argument = bad as unknown as string;
      await expect(db.prove(argument)).rejects.toThrow(failure('invalid-argument'));
      const verifying = verifyProof(db.root, argument, new Uint8Array());
      await expect(verifying).rejects.toThrow(failure('invalid-argument'));
      const root = verifyProof(argument, 'k', new Uint8Array());
      await expect(root).rejects.toThrow(failure('invalid-argument'));
      const proof = verifyProof(db.root, 'k', bad as unknown as Uint8Array);
      await expect(proof).rejects.toThrow(failure('invalid-data/proof'));
    }
    await expect(db.prove('\ud800')).rejects.toThrow(failure('invalid-argument/key'));
    await expect(verifyProof(db.root, '\ud800', new Uint8Array())).rejects.toThrow(
      failure('invalid-argument/key'),
    );
  });

  it('verify again after a trap of the core', async () => {
    const db = await storeOf(entries.slice(0, 100));
    const [key, value] = entries[5] as Entry;
    const proof = await db.prove(key);
    for (const name of ['check_verify_proof', 'check_step']) {
      trapIn(1, name);
      await expect(verifyProof(db.root, key, proof)).rejects.toThrow(
        failure('unavailable/crashed'),
      );
      expect(isPending()).toBe(false);
      expectSame(await verifyProof(db.root, key, proof), { value });
    }
    trapIn(1, 'check_prove');
    await expect(db.prove(key)).rejects.toThrow(failure('unavailable/crashed'));
    expectSame(await verifyProof(db.root, key, await db.prove(key)), { value });
  });
});
