/** Stores that are encrypted in their storage: their contents, and the keys that open them. */
import { describe, expect, it, vi } from 'vitest';
import {
  destroy,
  importStore,
  memory,
  type OpenOptions,
  open,
  repairStore,
  type Store,
  verifyStore,
} from '../../../src/index.js';
import {
  atRest,
  importKey,
  passphraseKey,
  remoteKeys,
  rotateKey,
} from '../../../src/sync/encryption/index.js';
import { kindOf } from '../../support/error-kind.js';
import { all, type Entry, expectSame, failure, SOON } from '../../support/models/store-model.js';
import { random } from '../../support/random.js';
import { dumpOf } from './at-rest-dump.js';

const key = random(1).bytes(32);
const encryption = atRest({ key });
const other = atRest({ key: random(2).bytes(32) });
const rows = Array.from(
  { length: 3000 },
  (_, at): Entry => [`key ${at}`, { at, text: 'x'.repeat(at % 99) }],
);
const large: Entry = ['large', random(3).bytes(300_000)];
const indexes = { byAt: { path: '/at' } };
const sums = { total: { sum: '/at', prefix: 'key ' } };

/** Makes changes of all kinds; returns the state of a store after each. */
async function work(db: Store): Promise<unknown[]> {
  const states: unknown[] = [];
  const note = async (of = db) => {
    states.push(of.root, await of.count(), (await of.scan({ limit: 50 }).toArray()).length);
  };
  await db.putMany([...rows, large]);
  await note();
  await db.put('key 1', { at: 1, text: 'new' });
  await db.delete('key 2');
  const draft = await db.branches.open('a draft');
  await draft.putMany(rows.slice(0, 100).map(([name, value]) => [`${name}/draft`, value]));
  await note(draft);
  await db.put('key 3', { at: 3 });
  await db.branches.merge('a draft');
  await note();
  await db.deleteMany({ gte: 'key 20', lt: 'key 25' });
  await db.sumTree('by hand').put('leaf', { value: Uint8Array.of(1), sum: 5n });
  states.push(db.sumTree('total').root, db.sumTree('by hand').root);
  states.push(await db.scan({ index: 'byAt', gte: 2900 }).toArray());
  await db.health.compact();
  await note();
  const snapshot = db.snapshot();
  await db.clear();
  states.push(await snapshot.count(), await snapshot.get('large'));
  await db.branches.reset(snapshot);
  snapshot.close();
  await note();
  return states;
}

describe('an encrypted store', () => {
  it('has the rows and roots of a plain store, before and after it is opened again', async () => {
    const [plain, sealed] = [memory(), memory()];
    const options = { indexes, advanced: { sums } };
    const one = await open('test', { ...options, storage: plain });
    const two = await open('test', { ...options, storage: sealed, encryption });
    expectSame(await work(two), await work(one));
    const held = await all(one);
    expectSame(await all(two), held);
    expect((await two.health.verify({ checkIndexes: true })).ok).toBe(true);
    await two.close();
    const again = await open('test', {
      ...options,
      storage: sealed,
      encryption,
      advanced: { sums, cacheBytes: 0 },
    });
    expect(again.root).toBe(one.root);
    for (const [name, value] of held.filter((_, at) => at % 50 === 0)) {
      expectSame(await again.get(name), value, name);
    }
    expectSame(await again.get('large'), large[1]);
    expectSame(await all(again), held);
    expect((await again.branches.list()).map(({ name, root }) => [name, root])).toEqual(
      (await one.branches.list()).map(({ name, root }) => [name, root]),
    );
  });

  it('hears the commits of its other handles', async () => {
    const storage = memory();
    const [one, two] = [
      await open('test', { storage, encryption }),
      await open('test', { storage, encryption: atRest({ key }) }),
    ];
    const seen = vi.fn();
    two.watch({}, seen);
    await one.put('a', 1);
    await vi.waitFor(() => expect(seen).toHaveBeenCalled(), SOON);
    await two.put('b', 2);
    await vi.waitFor(async () => expect(await one.get('b')).toBe(2), SOON);
  });

  it('is exported and imported as a plain store', async () => {
    const storage = memory();
    const db = await open('test', { storage, encryption, indexes });
    await work(db);
    const exported = await db.backup.export();
    const bytes = new Uint8Array(await new Response(exported.stream()).arrayBuffer());
    const plain = memory();
    await importStore('test', bytes, { storage: plain });
    const copy = await open('test', { storage: plain, indexes });
    expect(copy.root).toBe(db.root);
    expectSame(await all(copy), await all(db));
    const sealed = memory();
    await importStore('test', bytes, { storage: sealed, encryption: other });
    const again = await open('test', { storage: sealed, encryption: other, indexes });
    expectSame(await all(again), await all(db));
    expect((await verifyStore('test', { storage: sealed, encryption: other })).ok).toBe(true);
  });

  it('can be deleted without its key, and is then another store', async () => {
    const storage = memory();
    const db = await open('test', { storage, encryption });
    await db.put('a', 1);
    await db.close();
    await destroy('test', { storage });
    const next = await open('test', { storage, encryption: other });
    expect(await all(next)).toEqual([]);
  });

  it('gets one key if several handles open it at once', async () => {
    for (let round = 0; round < 20; round++) {
      const storage = memory();
      const opening = Array.from({ length: 6 }, () => open('test', { storage, encryption }));
      const handles = await Promise.all(opening);
      for (const [at, db] of handles.entries()) await db.put(`${at}`, at);
      const fresh = await open('test', { storage, encryption });
      expect(await fresh.count()).toBe(handles.length);
      for (const db of [...handles, fresh]) await db.close();
    }
  });

  it('belongs to one of two keys if both open it at once', async () => {
    for (let round = 0; round < 20; round++) {
      const storage = memory();
      const opening = [encryption, other, encryption, other].map((wanted) =>
        open('test', { storage, encryption: wanted }),
      );
      const codes = (await Promise.allSettled(opening)).map((one) =>
        one.status === 'fulfilled' ? 'open' : kindOf(one.reason),
      );
      expect(codes.filter((code) => code === 'open')).toHaveLength(2);
      expect(codes.filter((code) => code === 'wrong-key')).toHaveLength(2);
      expect(codes[0]).toBe(codes[2]);
    }
  });
});

describe('a wrong key', () => {
  const refusals: readonly [string, Partial<OpenOptions>][] = [
    ['another key', { encryption: other }],
    ['a passphrase', { encryption: atRest({ passphrase: 'open sesame' }) }],
    ['no key', {}],
  ];

  it.each(refusals)('opens no store and changes no bytes: %s', async (_, given) => {
    const storage = memory();
    const db = await open('test', { storage, encryption });
    await db.putMany(rows);
    const exported = await db.backup.export();
    const bytes = new Uint8Array(await new Response(exported.stream()).arrayBuffer());
    await db.close();
    const before = await dumpOf(storage);
    const options = { storage, ...given };
    const fallback = memory();
    const wrong = failure('wrong-key', { retryable: false });
    await expect(
      open('test', { ...options, advanced: { fallback, sums }, indexes }),
    ).rejects.toEqual(wrong);
    await expect(verifyStore('test', options)).rejects.toEqual(wrong);
    await expect(repairStore('test', { ...options, salvage: true })).rejects.toEqual(wrong);
    await expect(importStore('test', bytes, options)).rejects.toEqual(wrong);
    expectSame(await dumpOf(storage), before);
    const again = await open('test', { storage, encryption });
    expect(await again.count()).toBe(rows.length);
  });

  it('is refused for a plain store, which does not change', async () => {
    const storage = memory();
    const db = await open('test', { storage });
    await db.put('a', 1);
    await db.close();
    const before = await dumpOf(storage);
    const wrong = failure('wrong-key', { message: expect.stringContaining('is not encrypted') });
    await expect(open('test', { storage, encryption })).rejects.toEqual(wrong);
    await expect(verifyStore('test', { storage, encryption })).rejects.toEqual(wrong);
    await expect(repairStore('test', { storage, encryption })).rejects.toEqual(wrong);
    const to = { key: random(4).bytes(32) };
    await expect(rotateKey('test', { storage, from: { key }, to })).rejects.toEqual(wrong);
    expectSame(await dumpOf(storage), before);
    expect(await (await open('test', { storage })).get('a')).toBe(1);
  });

  it('stays in force against a handle that was open before the store had a key', async () => {
    const storage = memory();
    const plain = await open('test', { storage });
    const sealed = await open('test', { storage, encryption });
    await expect(plain.put('a', 1)).rejects.toEqual(failure('wrong-key'));
    await sealed.put('b', 2);
    await expect(plain.putMany([['a', 1]])).rejects.toEqual(failure('wrong-key'));
    expect(await all(sealed)).toEqual([['b', 2]]);
    const fresh = await open('test', { storage, encryption });
    expect(await all(fresh)).toEqual([['b', 2]]);
  });
});

describe('a key of the app', () => {
  it('is 32 bytes, the CryptoKey that importKey makes of them, or a passphrase', async () => {
    const storage = memory();
    const db = await open('test', { storage, encryption: atRest({ key: await importKey(key) }) });
    await db.put('a', 1);
    await db.close();
    const own = new Uint8Array(key);
    const taken = atRest({ key: own });
    // The key is copied at the call.
    own.fill(0);
    const again = await open('test', { storage, encryption: taken });
    expect(await again.get('a')).toBe(1);
    const made = memory();
    const fromText = await passphraseKey('open sesame', 'ada@example.org');
    const first = await open('test', { storage: made, encryption: atRest({ key: fromText }) });
    await first.put('a', 1);
    await first.close();
    const same = await passphraseKey('open sesame', 'ada@example.org');
    const second = await open('test', { storage: made, encryption: atRest({ key: same }) });
    expect(await second.get('a')).toBe(1);
  });

  it('may be a passphrase, whose salt is in the store', async () => {
    const storage = memory();
    // The same text in another Unicode form.
    const [one, two] = ['caf\u00e9', 'cafe\u0301'];
    const db = await open('test', { storage, encryption: atRest({ passphrase: one }) });
    await db.put('a', 1);
    await db.close();
    const again = await open('test', { storage, encryption: atRest({ passphrase: two }) });
    expect(await again.get('a')).toBe(1);
    await again.close();
    const wrong = atRest({ passphrase: 'cafe' });
    await expect(open('test', { storage, encryption: wrong })).rejects.toEqual(
      failure('wrong-key'),
    );
    await expect(open('test', { storage, encryption })).rejects.toEqual(failure('wrong-key'));
  });

  it.each([
    ['nothing', {}],
    ['both', { key, passphrase: 'a' }],
    ['another option', { keys: key }],
    ['no object', key],
  ])('is refused at once if it is malformed: %s', (_, given) => {
    expect(() => atRest(given as never)).toThrow(failure('invalid-argument') as never);
  });

  it.each([
    ['too short', { key: key.subarray(1) }],
    ['text', { key: 'secret' }],
    ['an empty passphrase', { passphrase: '' }],
    ['a passphrase that is no text', { passphrase: 7 }],
  ])('is refused at the opening of a store if it is malformed: %s', async (_, given) => {
    const storage = memory();
    const bad = open('test', { storage, encryption: atRest(given as never) });
    await expect(bad).rejects.toEqual(failure('invalid-argument'));
    expect(await (await open('test', { storage })).count()).toBe(0);
  });

  it('cannot be a CryptoKey for another use', async () => {
    const aes = await crypto.subtle.importKey('raw', key as BufferSource, 'AES-GCM', false, [
      'encrypt',
      'decrypt',
    ]);
    const opening = open('test', { storage: memory(), encryption: atRest({ key: aes }) });
    await expect(opening).rejects.toEqual(failure('invalid-argument'));
  });

  it('needs WebCrypto: without it the store writes no bytes', async () => {
    // The test does not replace the global, which some platforms protect.
    Object.defineProperty(crypto, 'subtle', { value: undefined, configurable: true });
    try {
      const message = expect.stringContaining('crypto.subtle');
      expect(() => atRest({ key })).toThrow(failure('unsupported', { message }) as never);
    } finally {
      Reflect.deleteProperty(crypto, 'subtle');
    }
    expect(() => atRest({ key })).not.toThrow();
  });
});

it.each([
  ['nothing that encrypts', {}],
  ['a key', key],
  ['keys of a remote', remoteKeys({ place: 'room', keys: () => key })],
  ['no object', 'secret'],
])('open refuses a value that atRest has not made: %s', async (_, given) => {
  const storage = memory();
  const opening = open('test', { storage, encryption: given as never });
  await expect(opening).rejects.toEqual(failure('invalid-argument'));
  await expect(open('test', { storage, advanced: { mustExist: true } })).rejects.toEqual(
    failure('not-found/store'),
  );
});
