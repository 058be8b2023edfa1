/** A new key for an encrypted store. */
import { describe, expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import type { Storage } from '../../../src/storage/segment-store.js';
import { type AtRestKey, atRest, rotateKey } from '../../../src/sync/encryption/index.js';
import { faulty } from '../../support/doubles/faulty-storage.js';
import { type Entry, expectSame, failure } from '../../support/models/store-model.js';
import { random } from '../../support/random.js';
import { dumpOf } from './at-rest-dump.js';

const [from, to, third] = [1, 2, 3].map((seed): AtRestKey => ({ key: random(seed).bytes(32) })) as [
  AtRestKey,
  AtRestKey,
  AtRestKey,
];
const rows = Array.from({ length: 2000 }, (_, at): Entry => [`key ${at}`, { at }]);

async function made(): Promise<Storage> {
  const storage = memory();
  const db = await open('test', { storage, encryption: atRest(from) });
  await db.putMany(rows);
  await db.branches.open('draft').then((draft) => draft.put('a', 1));
  await db.close();
  return storage;
}

/** Returns which of the keys open the store and find its rows. */
async function openedBy(storage: Storage, ...keys: readonly AtRestKey[]): Promise<boolean[]> {
  const tried = keys.map(async (key) => {
    const opening = open('test', { storage, encryption: atRest(key) });
    const db = await opening.catch((cause: unknown) => {
      expect(cause).toEqual(failure('wrong-key'));
    });
    if (db === undefined) return false;
    expect(await db.count()).toBe(rows.length);
    await db.close();
    return true;
  });
  return Promise.all(tried);
}

const segmentsOf = async (storage: Storage) => (await dumpOf(storage)).segments;

describe('rotateKey', () => {
  it('makes the new key open the store in place of the old one, and rewrites no segment', async () => {
    const storage = await made();
    const before = await segmentsOf(storage);
    for (let round = 0; round < 3; round++) {
      const [old, next] = round % 2 === 0 ? [from, to] : [to, from];
      await rotateKey('test', { from: old, to: next, storage });
      expect(await openedBy(storage, old, next)).toEqual([false, true]);
    }
    expectSame(await segmentsOf(storage), before);
    // The old key opens no ref any more, and no history of a ref.
    const names = (await dumpOf(storage)).refs.flat().map(({ name }) => name);
    const numbers = names
      .filter((name) => name.startsWith('encryption/'))
      .map((name) => name.split('/')[1]);
    expect(new Set(numbers)).toEqual(new Set(['4']));
  });

  it('replaces a key by a passphrase, and a passphrase by a key', async () => {
    const storage = await made();
    const words = { passphrase: 'correct horse battery staple' };
    await rotateKey('test', { from, to: words, storage });
    expect(await openedBy(storage, from, words)).toEqual([false, true]);
    const other = { passphrase: 'correct horse battery' };
    await expect(rotateKey('test', { from: other, to, storage })).rejects.toEqual(
      failure('wrong-key'),
    );
    await rotateKey('test', { from: words, to, storage });
    expect(await openedBy(storage, words, to)).toEqual([false, true]);
  });

  it('keeps open handles at work', async () => {
    const storage = await made();
    const db = await open('test', { storage, encryption: atRest(from) });
    await rotateKey('test', { from, to, storage });
    await db.put('after', 1);
    await db.putMany(rows);
    await db.health.compact();
    expect(await db.get('key 7')).toEqual({ at: 7 });
    const next = await open('test', { storage, encryption: atRest(to) });
    expect(await next.get('after')).toBe(1);
    await next.put('more', 2);
    await expect.poll(() => db.get('more')).toBe(2);
  });

  it('can run again, and refuses a key that the store never had', async () => {
    const storage = await made();
    await rotateKey('test', { from, to, storage });
    const before = await dumpOf(storage);
    await rotateKey('test', { from, to, storage });
    await expect(rotateKey('test', { from, to: third, storage })).rejects.toEqual(
      failure('wrong-key'),
    );
    expectSame(await dumpOf(storage), before);
  });

  it('succeeds once and is refused once if two run at the same time', async () => {
    for (let round = 0; round < 20; round++) {
      const storage = await made();
      const calls = [to, third].map((next) => rotateKey('test', { from, to: next, storage }));
      const states = (await Promise.allSettled(calls)).map(({ status }) => status === 'fulfilled');
      expect(states.filter(Boolean)).toHaveLength(1);
      expect(await openedBy(storage, from, to, third)).toEqual([false, ...states]);
    }
  });

  it('leaves one key that opens the store if any call of storage fails before or after its effect', async () => {
    const counted = faulty(await made());
    await rotateKey('test', { from, to, storage: counted });
    const error = failure('unavailable/disconnected');
    for (const when of ['before', 'after'] as const) {
      let moved = 0;
      for (let at = 1; at <= counted.calls(); at++) {
        const inner = await made();
        const storage = faulty(inner, { at, when, error });
        await expect(rotateKey('test', { from, to, storage })).rejects.toBe(error);
        const [old, next] = await openedBy(inner, from, to);
        expect(old).toBe(!next);
        if (next) moved += 1;
        await rotateKey('test', { from, to, storage: inner });
        expect(await openedBy(inner, from, to)).toEqual([false, true]);
      }
      // The write takes effect, and its answer or the answer of the close is lost.
      expect(moved).toBe(when === 'after' ? 2 : 1);
    }
  });

  it('refuses wrong arguments', async () => {
    const storage = await made();
    const missing = rotateKey('none', { from, to, storage });
    await expect(missing).rejects.toEqual(failure('not-found/store'));
    for (const given of [{}, { from }, { to }, { from: {}, to }, { from, to, key: 1 }]) {
      const call = rotateKey('test', { storage, ...given } as never);
      await expect(call).rejects.toEqual(failure('invalid-argument'));
    }
    expect(await openedBy(storage, from)).toEqual([true]);
  });
});
