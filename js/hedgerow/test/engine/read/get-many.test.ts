/** Reads of so many keys that they do not fit in a slice. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { memory, open, type Store } from '../../../src/index.js';
import { failure } from '../../support/models/store-model.js';
import { noise } from '../../support/noise.js';
import { isDeep } from '../../support/property.js';

const COUNT = isDeep ? 30_000 : 12_000;
const READS = isDeep ? 6 : 3;
const keyOf = (at: number) => `row/${String((at * 7919) % COUNT).padStart(6, '0')}`;
const KEYS = Array.from({ length: COUNT }, (_, at) => keyOf(at));

/** Returns a store in which all rows have the same number. */
async function storeAt(round: number): Promise<Store> {
  // Short slices, so that a fast machine reads the keys in many parts, too.
  const db = await open('many', { storage: memory(), advanced: { sliceMs: 2 } });
  await putAll(db, round);
  return db;
}

async function putAll(db: Store, round: number): Promise<void> {
  const rowOf = (key: string, at: number) => ({ key, round, text: noise(at * 1000 + round, 20) });
  await db.putMany(KEYS.map((key, at): [string, unknown] => [key, rowOf(key, at)]));
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a read of many keys', () => {
  it('is answered in parts, in the order of the keys', async () => {
    const db = await storeAt(1);
    const parse = vi.spyOn(JSON, 'parse');
    const wanted = ['none', ...KEYS, KEYS[7] as string, 'no other'];
    const values = await db.getMany<{ key: string }>(wanted);
    const lengths = parse.mock.calls.map(([text]) => String(text).length);
    const all = lengths.reduce((sum, length) => sum + length, 0);
    expect(all).toBeGreaterThan(COUNT * 20);
    expect(Math.max(...lengths)).toBeLessThan(all / 3);
    expect(values.map((value) => value?.key)).toEqual([undefined, ...KEYS, KEYS[7], undefined]);
    await db.close();
  });

  it('reads one commit, during writes and collections', async () => {
    const db = await storeAt(0);
    const snapshot = db.snapshot();
    let isOver = false;
    const writing = (async () => {
      for (let round = 1; !isOver; round++) {
        await putAll(db, round);
        await db.health.compact();
      }
    })();
    for (let read = 0; read < READS; read++) {
      const values = await db.getMany<{ round: number }>(KEYS);
      expect(new Set(values.map((value) => value?.round)).size).toBe(1);
    }
    const held = await snapshot.getMany<{ round: number }>(KEYS);
    expect(new Set(held.map((value) => value?.round))).toEqual(new Set([0]));
    isOver = true;
    await writing;
    await db.close();
  });

  it('reads the commit and the own edits of its transaction', async () => {
    const db = await storeAt(1);
    const rounds = await db.transaction(async (tx) => {
      tx.put(KEYS[0] as string, { round: 2 });
      tx.delete(KEYS[9] as string);
      const parse = vi.spyOn(JSON, 'parse');
      const values = await tx.getMany<{ round: number }>(KEYS);
      const lengths = parse.mock.calls.map(([text]) => String(text).length);
      expect(Math.max(...lengths)).toBeLessThan(lengths.reduce((sum, length) => sum + length) / 3);
      return values.map((value) => value?.round);
    });
    const expected = KEYS.map((_, at) => (at === 0 ? 2 : at === 9 ? undefined : 1));
    expect(rounds).toEqual(expected);
    await db.close();
  });

  it('refuses a bad key at any position, and a store that closes in the meantime', async () => {
    const db = await storeAt(1);
    await expect(db.getMany([...KEYS, '\ud800'])).rejects.toEqual(
      failure('invalid-argument/key', { row: COUNT }),
    );
    const reading = expect(db.getMany(KEYS)).rejects.toEqual(failure('closed'));
    await db.close();
    await reading;
  });
});
