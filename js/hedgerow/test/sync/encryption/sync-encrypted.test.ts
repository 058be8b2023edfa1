/** Encrypted remotes: the view of devices with the key, and the view of others. */
import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { hex } from '../../../src/base/hex.js';
import { clone, type HedgerowError, memory } from '../../../src/index.js';
import {
  generateKey,
  importKey,
  passphraseKey,
  remoteKeys,
} from '../../../src/sync/encryption/index.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import type { RemoteEncryption } from '../../../src/sync/remote/format/cipher-suite.js';
import { memoryRemote, type Remote } from '../../../src/sync/remote/index.js';
import { failure } from '../../support/models/store-model.js';
import { isDeep } from '../../support/property.js';
import { random } from '../../support/random.js';
import { objectsOf } from '../../support/remote-objects.js';
import { keyOf } from '../../support/remote-scopes.js';
import { cost, device, many, rowsOf } from '../../support/worlds/sync-devices.js';

const encryption = remoteKeys({ place: 'room', keys: keyOf });
const other = remoteKeys({ place: 'room', keys: () => new Uint8Array(32) });

/** All objects except the collection objects begin with these bytes. */
const KINDS = ['HDGC', 'HDGE', 'HDGH', 'HDGI', 'HDGL', 'HDGN', 'HDGP', 'HDGR'];
const letters = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes?.subarray(0, 4));

describe('an encrypted remote', () => {
  it('has packs, deltas and logs, and devices with the key end equal', async () => {
    const remote = memoryRemote();
    const a = await device(remote, { encryption });
    await a.db.putMany(many(isDeep ? 60_000 : 30_000, 'first'));
    await a.link.push();
    const b = await device(remote, { encryption: remoteKeys({ place: 'room', keys: keyOf }) });
    expect(await cost(b.link, () => b.link.pull())).toMatchObject({ requests: isDeep ? 4 : 3 });
    expect(b.db.root).toBe(a.db.root);
    const late = await device(remote, { encryption });
    for (let nth = 0; nth < 20; nth++) {
      await a.db.putMany(many(nth % 4 === 3 ? 200 : 5, `change ${nth}`));
      await a.link.push();
      if (nth < 10) await b.link.pull();
      await b.db.put('b', nth);
      await b.link.push();
      await a.link.pull();
    }
    await b.link.pull();
    await late.link.pull();
    for (const { db } of [b, late]) expect(await rowsOf(db)).toEqual(await rowsOf(a.db));
    const kinds = [...(await objectsOf(remote)).values()].map(letters);
    expect([...new Set(kinds)].sort()).toEqual(KINDS);
  });

  it('shows no keys, values, roots or format words in any object', async () => {
    const remote = memoryRemote();
    const a = await device(remote, { encryption });
    // Long values of letters, which barely deflate, in a delta, a log, packs and the head.
    const word = 'UniqueWordOfAValue';
    const rows = (count: number, from: number): [string, unknown][] =>
      Array.from({ length: count }, (_, nth) => [
        `UniqueWordOfAKey${from + nth}`,
        { word, noise: hex(random(from + nth).bytes(40)) },
      ]);
    await a.db.putMany(rows(30_000, 0));
    await a.link.push();
    await a.db.putMany(rows(200, 50_000));
    await a.link.push();
    const roots = [a.db.root];
    for (let nth = 0; nth < 12; nth++) {
      await a.db.putMany(rows(3, 60_000 + 10 * nth));
      await a.link.push();
      roots.push(a.db.root);
    }
    const objects = await objectsOf(remote);
    expect([...new Set([...objects.values()].map(letters))].sort()).toEqual(KINDS);
    const names = [...objects.keys()].filter((name) => /^[pd]\//.test(name));
    const secrets = [
      ...[word, 'UniqueWordOfAKey', 'HDGD\u0001', '"noise"'].map((text) => Buffer.from(text)),
      ...[...roots, ...names.map((name) => name.slice(2))].map((text) => Buffer.from(text, 'hex')),
    ];
    expect(secrets.length).toBeGreaterThan(17);
    for (const [name, bytes] of objects) {
      for (const secret of secrets) {
        expect(Buffer.from(bytes).includes(secret), `${name}: ${secret}`).toBe(false);
      }
      // Bytes that deflate have a pattern.
      if (name === 'hedgerow') continue;
      expect(deflateRawSync(bytes).length, name).toBeGreaterThanOrEqual(bytes.length);
    }
  });

  it('is padded: a value that is some bytes longer does not change the length of the head', async () => {
    const lengths = new Set<number | undefined>();
    for (let length = 0; length < 60; length++) {
      const remote = memoryRemote();
      const a = await device(remote, { encryption });
      await a.db.put('key', hex(random(1).bytes(length)));
      await a.link.push();
      lengths.add((await remote.readHead('main'))?.bytes.length);
    }
    expect([...lengths]).toEqual([32 + 1024 + 16]);
  });

  it('shows by its sizes that it has known rows: sizes do not depend on the key', async () => {
    const sizes: number[][] = [];
    for (const nth of [1, 2]) {
      const remote = memoryRemote();
      const own = remoteKeys({ place: 'room', keys: () => random(nth).bytes(32) });
      const a = await device(remote, { encryption: own });
      await a.db.putMany(many(20_000, 'known'));
      await a.link.push();
      const objects = [...(await objectsOf(remote)).values()];
      sizes.push(objects.map(({ length }) => length).sort());
    }
    expect(sizes[0]).toEqual(sizes[1]);
  });

  it('is cloned with the key', async () => {
    const remote = memoryRemote();
    const a = await device(remote, { encryption });
    await a.db.putMany(many(100, 'first'));
    await a.link.push();
    const place = bucket(remote, { probe: false, encryption });
    const { db } = await clone('clone', place, { storage: memory() });
    expect(await rowsOf(db)).toEqual(await rowsOf(a.db));
    const without = bucket(remote, { probe: false });
    await expect(clone('other', without, { storage: memory() })).rejects.toEqual(
      failure('wrong-key'),
    );
  });

  it('takes keys as bytes, as CryptoKey, from a passphrase and later', async () => {
    const bytes = generateKey();
    const salt = 'https://example.org/rooms/7/';
    const made: [RemoteEncryption, RemoteEncryption][] = [
      [
        remoteKeys({ place: 'room', keys: () => bytes }),
        remoteKeys({ place: 'room', keys: async () => importKey(bytes) }),
      ],
      [
        remoteKeys({ place: 'room', keys: () => passphraseKey('correct horse', salt) }),
        remoteKeys({ place: 'room', keys: () => passphraseKey('correct horse', salt) }),
      ],
    ];
    for (const [mine, theirs] of made) {
      const remote = memoryRemote();
      const a = await device(remote, { encryption: mine });
      await a.db.put('a', 1);
      await a.link.push();
      const b = await device(remote, { encryption: theirs });
      expect(await b.link.pull()).toMatchObject({ rows: 1 });
    }
  });

  it('asks for each key once', async () => {
    const asked: number[] = [];
    const counting = remoteKeys({
      place: 'room',
      keys: (epoch) => {
        asked.push(epoch);
        return keyOf(epoch);
      },
    });
    const remote = memoryRemote();
    const a = await device(remote, { encryption: counting });
    for (let nth = 0; nth < 3; nth++) {
      await a.db.put('n', nth);
      await a.link.push();
    }
    const b = await device(remote, { encryption: counting });
    await b.link.pull();
    expect(asked).toEqual([1]);
  });
});

describe('places with one key', () => {
  it('cannot be swapped: bytes of one place open in no other', async () => {
    const rooms = ['rooms/1', 'rooms/2'].map((place) => ({
      place,
      remote: memoryRemote(),
      encryption: remoteKeys({ place, keys: keyOf }),
    }));
    for (const { place, remote, encryption } of rooms) {
      const a = await device(remote, { encryption });
      await a.db.putMany(many(20_000, place));
      await a.link.push();
    }
    const [one, two] = rooms as [(typeof rooms)[0], (typeof rooms)[0]];
    const place = bucket(one.remote, { probe: false, encryption: two.encryption });
    await expect(clone('swapped', place, { storage: memory() })).rejects.toEqual(
      failure('wrong-key'),
    );
    const b = await device(two.remote, { encryption: two.encryption });
    await b.link.pull();
    const before = await objectsOf(one.remote);
    const swapped = await b.db.connect(
      bucket(one.remote, { probe: false, encryption: two.encryption }),
    );
    await b.db.put('for room 2 only', 1);
    for (const call of [() => swapped.pull(), () => swapped.push()]) {
      await expect(call()).rejects.toEqual(failure('wrong-key'));
    }
    expect(await objectsOf(one.remote)).toEqual(before);
  });
});

describe('a wrong key', () => {
  /** Calls that must be refused, and change neither side. */
  async function refuses(remote: Remote, options: { encryption?: RemoteEncryption }, what: RegExp) {
    const before = await objectsOf(remote);
    const b = await device(remote, options);
    await b.db.put('own', 1);
    const { root } = b.db;
    for (const call of [() => b.link.pull(), () => b.link.push()]) {
      const error: HedgerowError = await call().then(
        () => undefined,
        (cause) => cause,
      );
      expect(error).toEqual(failure('wrong-key'));
      expect(error.message).toMatch(what);
      expect(error.retryable).toBe(false);
    }
    expect(b.db.root).toBe(root);
    expect(await objectsOf(remote)).toEqual(before);
  }

  async function filled(options: { encryption?: RemoteEncryption }): Promise<Remote> {
    const remote = memoryRemote();
    const a = await device(remote, options);
    await a.db.put('a', 1);
    await a.link.push();
    return remote;
  }

  /** A remote whose first push was cut off: only its repository file is there. */
  async function begun(options: { encryption?: RemoteEncryption }): Promise<Remote> {
    const inner = memoryRemote();
    const full = await filled(options);
    await inner.put('hedgerow', (await full.get('hedgerow')) as Uint8Array);
    return inner;
  }

  const none = remoteKeys({ place: 'room', keys: () => undefined });

  it.each([
    ['no encryption', {}, /is encrypted: give `encryption`/],
    ['another key', { encryption: other }, /key of epoch 1 is not the one/],
    ['no key', { encryption: none }, /no key of epoch 1/],
  ])('is found at once: %s', async (_, options, what) => {
    await refuses(await filled({ encryption }), options, what);
  });

  it('is found at once where a plain remote is', async () => {
    await refuses(await filled({}), { encryption }, /is not encrypted/);
  });

  it.each([
    ['of an encrypted remote', { encryption }, {}, /is encrypted/],
    ['of another key', { encryption }, { encryption: other }, /not the one/],
    ['of a plain remote', {}, { encryption }, /is not encrypted/],
  ])(
    'is found by a push to a remote with only a repository file, %s',
    async (_, theirs, own, what) => {
      const remote = await begun(theirs);
      const before = await objectsOf(remote);
      const b = await device(remote, own);
      await b.db.put('own', 1);
      const error = await b.link.push().catch((cause) => cause);
      expect(error).toEqual(failure('wrong-key'));
      expect(error.message).toMatch(what);
      expect(await objectsOf(remote)).toEqual(before);
      // A device with the right key goes on.
      const a = await device(remote, theirs);
      await a.db.put('own', 2);
      expect(await a.link.push()).toMatchObject({ isPushed: true });
    },
  );

  it('may be mended: the next call asks again', async () => {
    const remote = await filled({ encryption });
    let isThere = false;
    const late = remoteKeys({
      place: 'room',
      keys: (epoch) => (isThere ? keyOf(epoch) : undefined),
    });
    const b = await device(remote, { encryption: late });
    await expect(b.link.pull()).rejects.toEqual(failure('wrong-key'));
    isThere = true;
    expect(await b.link.pull()).toMatchObject({ rows: 1 });
  });

  it('is unauthorized with the error of keys() as its cause, and invalid-argument if it is malformed', async () => {
    const remote = await filled({ encryption });
    const locked = new Error('the key store is locked');
    const failing = remoteKeys({ place: 'room', keys: () => Promise.reject(locked) });
    const b = await device(remote, { encryption: failing });
    await expect(b.link.pull()).rejects.toMatchObject({ code: 'unauthorized', cause: locked });
    const wrong = remoteKeys({ place: 'room', keys: () => new Uint8Array(31) });
    const c = await device(remote, { encryption: wrong });
    await expect(c.link.pull()).rejects.toEqual(failure('invalid-argument'));
  });

  it('wrong options of remoteKeys and of remote() are refused', async () => {
    const [keys, place] = [keyOf, 'room'];
    for (const options of [
      {},
      { place, keys: generateKey() },
      { place, keys, epoch: 0 },
      { place, keys, epoch: 65_536 },
      { place, keys, epoch: 1.5 },
      { place, keys, epochs: 1 },
    ]) {
      expect(() => remoteKeys(options as never)).toThrow(failure('invalid-argument'));
    }
    for (const wrong of [undefined, '', 7, 'a'.repeat(257), 'é'.repeat(129), '\ud800']) {
      const call = () => remoteKeys({ keys, place: wrong as never });
      expect(call, `${wrong}`).toThrow(/place is well-formed text of 1 to 256 bytes/);
    }
    expect(remoteKeys({ keys, place: 'é'.repeat(128) })).toMatchObject({ epoch: 1 });
    for (const wrong of [generateKey(), 'key', { keys }]) {
      const call = device(memoryRemote(), { encryption: wrong as never });
      await expect(call).rejects.toEqual(failure('invalid-argument'));
    }
  });
});
