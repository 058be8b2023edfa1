/** Devices over a remote with signed heads, plain and encrypted: holders of the private key write, all others read. */
import { describe, expect, it } from 'vitest';
import { concatBytes } from '../../../src/base/bytes.js';
import { clone, type HedgerowError, memory, open } from '../../../src/index.js';
import { remoteKeys } from '../../../src/sync/encryption/index.js';
import type { BucketOptions } from '../../../src/sync/index.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import { PLAIN_SCOPE } from '../../../src/sync/remote/format/cipher-suite.js';
import { MAX_UNSIGNED_HEAD_BYTES } from '../../../src/sync/remote/format/format-limits.js';
import { decodeHead, encodeHead, headLength } from '../../../src/sync/remote/format/head-codec.js';
import { memoryRemote, type Remote } from '../../../src/sync/remote/index.js';
import { Clock, liveNames, objectsOf } from '../../support/doubles/collected-remote.js';
import { longRows } from '../../support/long-rows.js';
import { failure } from '../../support/models/store-model.js';
import { isDeep } from '../../support/property.js';
import { random } from '../../support/random.js';
import {
  appended,
  authorOf,
  checkpointed,
  emptyHead,
  inline,
  rowsOf as treeOf,
} from '../../support/remote-branch.js';
import { keyOf as keyOfEpoch } from '../../support/remote-scopes.js';
import {
  OTHER_PRIVATE,
  OTHER_PUBLIC,
  PRIVATE,
  PUBLIC,
  signedBy,
} from '../../support/signed-keys.js';
import { collectAll, pushLong, pushMany } from '../../support/worlds/collecting-devices.js';
import { caught, keyOf, lazy, rowOf } from '../../support/worlds/lazy-devices.js';
import { cost, device, many, rowsOf } from '../../support/worlds/sync-devices.js';

/** So many bytes travel as packs. */
const FIRST = isDeep ? many(20_000, 'first') : longRows(1500, 'first');

const BOTH = { publicKeys: [PUBLIC, OTHER_PUBLIC] };
const writes = signedBy(PRIVATE);
const reads = signedBy(undefined);

const INVALID = failure('remote/data', { object: 'head' });
const READ_ONLY = failure('unauthorized');

/** A remote that shows another head of `main`. */
const showing = (inner: Remote, bytes: Uint8Array): Remote => {
  const head = async () => ({ bytes: bytes.slice(), token: '"x"', modifiedMs: undefined });
  return { ...inner, readHead: head, readHeadSince: head };
};

/** Returns the bytes of a head as the remote stores it. */
const stored = async (inner: Remote, branch = 'main') =>
  (await inner.readHead(branch))?.bytes as Uint8Array;

const SUITES: [string, BucketOptions][] = [
  ['that is not encrypted', {}],
  ['that is encrypted', { encryption: remoteKeys({ place: 'room', keys: keyOfEpoch }) }],
];

describe.each(SUITES)('a signed remote %s', (_, options) => {
  it('is written by holders of the key, and read by all others', async () => {
    const inner = memoryRemote();
    const a = await device(writes(inner), options);
    const b = await device(writes(inner), options);
    const follower = await device(reads(inner), options);
    await a.db.putMany(FIRST);
    await a.link.push();
    await follower.link.pull();
    // Deltas in heads, separate deltas, logs and a checkpoint; and races, which the second device loses.
    for (let nth = 0; nth < (isDeep ? 40 : 12); nth++) {
      await a.db.putMany(many(nth % 8 === 7 ? 300 : 3, `change ${nth}`));
      await b.db.put('b', nth);
      const [one, two] = await Promise.all([a.link.push(), b.link.push()]);
      expect(one.isPushed && two.isPushed).toBe(true);
      if (nth % 10 === 0) await follower.link.pull();
    }
    await a.link.pull();
    await follower.link.pull();
    expect(follower.db.root).toBe(a.db.root);
    const { db } = await clone('late', bucket(reads(inner), { probe: false, ...options }), {
      storage: memory(),
    });
    expect(db.root).toBe(a.db.root);
    const kinds = new Set<string>();
    for (const prefix of ['p/', 'd/'] as const) {
      for (const { name } of await inner.list(prefix)) {
        kinds.add(new TextDecoder().decode((await inner.get(name))?.subarray(0, 4)));
      }
    }
    expect([...kinds].sort()).toEqual(expect.arrayContaining(['HDGE', 'HDGL', 'HDGP']));
  });

  it('takes no push from a holder of the public key only, who still pulls all changes', async () => {
    const inner = memoryRemote();
    const a = await device(writes(inner), options);
    await a.db.put('a', 1);
    await pushLong(a, 'long');
    const before = [await stored(inner), await inner.list('d/')];
    expect(before[1]).toHaveLength(1);
    const follower = await device(reads(inner), options);
    await follower.db.put('mine', 1);
    for (let nth = 0; nth < 2; nth++) {
      await expect(follower.link.push()).rejects.toEqual(READ_ONLY);
      await expect(follower.link.collect()).rejects.toEqual(READ_ONLY);
    }
    expect([await stored(inner), await inner.list('d/')]).toEqual(before);
    // The rows came with the refused push.
    expect(await rowsOf(follower.db)).toEqual({ ...(await rowsOf(a.db)), mine: 1 });
    await a.db.put('a', 2);
    await a.link.push();
    await follower.link.pull();
    expect(await rowsOf(follower.db)).toMatchObject({ a: 2, mine: 1 });
    // With the key the device pushes the rows that waited.
    const promoted = await follower.db.connect(bucket(writes(inner), { probe: false, ...options }));
    await promoted.push();
    await a.link.pull();
    expect(await rowsOf(a.db)).toMatchObject({ a: 2, mine: 1 });
    const empty = await device(reads(memoryRemote()), { ...options, probe: true });
    await empty.db.put('a', 1);
    await expect(empty.link.push()).rejects.toEqual(READ_ONLY);
  });

  it('is read lazily', async () => {
    const inner = memoryRemote();
    const from = await open('from', { storage: memory() });
    const [count, bytes] = isDeep ? [30_000, 30] : [3000, 450];
    const rows = Array.from({ length: count }, (_unused, nth) => rowOf(nth, 'open', bytes));
    await from.putMany(rows);
    const link = await from.connect(bucket(writes(inner), { probe: false, ...options }));
    await link.push();
    const storage = memory();
    const follower = await lazy(reads(inner), storage, 'app', { link: options });
    expect(follower.link.traffic.requests).toBe(2);
    const [middle, late] = [keyOf(count / 2), keyOf((count * 2) / 3)];
    expect(await follower.db.get(middle)).toEqual(rows[count / 2]?.[1]);
    await from.put(late, 'changed');
    await link.push();
    await follower.link.pull();
    expect(await follower.db.get(late)).toBe('changed');
    expect(follower.db.root).toBe(from.root);
    await follower.db.put(keyOf(7), 'mine');
    await expect(follower.link.push()).rejects.toEqual(READ_ONLY);
    await follower.db.close();
    const other = signedBy(undefined, { place: 'elsewhere' })(inner);
    expect(await caught(lazy(other, memory(), 'app', { link: options }))).toEqual(INVALID);
  });

  it('costs no additional request, and 72 bytes of the head', async () => {
    const plain = memoryRemote();
    const inner = memoryRemote();
    const costs = [];
    for (const remote of [plain, writes(inner)]) {
      const a = await device(remote, options);
      const b = await device(remote, options);
      for (let nth = 0; nth < 3; nth++) {
        await a.db.put('a', nth);
        costs.push(await cost(a.link, () => a.link.push()));
        costs.push(await cost(b.link, () => b.link.pull()));
      }
      costs.push(await cost(b.link, () => b.link.pull()));
    }
    expect(costs.slice(7)).toEqual(costs.slice(0, 7));
    expect((await stored(inner)).length).toBe((await stored(plain)).length + 72);
  });

  it('is collected by holders of the key, and its record is signed', async () => {
    const clock = new Clock();
    const inner = memoryRemote({ now: clock.now });
    const one = await device(writes(inner), options);
    await pushMany(one, clock, isDeep ? 150 : 80);
    const before = (await objectsOf(inner)).size;
    await collectAll(one, clock);
    const scope = { ...PLAIN_SCOPE, ...options.encryption };
    const live = await liveNames(reads(inner), scope);
    expect(live.size).toBeLessThan(before);
    expect([...(await objectsOf(inner)).keys()].sort()).toEqual([...live].sort());
    const record = await stored(inner, '~collection');
    expect(new TextDecoder().decode(record.subarray(-72, -68))).toBe('HDGS');
    // An operator's own record cannot make devices delete live objects.
    const lie: Remote = {
      ...inner,
      readHead: async (branch, how) => {
        const head = await inner.readHead(branch, how);
        if (branch !== '~collection' || head === undefined) return head;
        return { ...head, bytes: head.bytes.slice(0, -72) };
      },
    };
    const collector = await one.db.connect(bucket(writes(lie), { probe: false, ...options }));
    await expect(collector.collect()).rejects.toEqual(INVALID);
  });

  it('refuses heads by writers who have no key or another one', async () => {
    const inner = memoryRemote();
    const a = await device(writes(inner), options);
    await a.db.put('a', 1);
    await a.link.push();
    const follower = await device(reads(inner), options);
    await follower.link.pull();
    const { root } = follower.db;
    const head = (await reads(inner).readHead('main'))?.bytes as Uint8Array;
    const signed = await stored(inner);
    // A writer with the encryption key makes the next head.
    const forger: Remote = { ...inner, ...showing(inner, head) };
    let forged = head;
    forger.swapHead = async (_branch, _token, bytes) => {
      forged = bytes;
      return { state: 'swapped', token: '"f"' };
    };
    const mallory = await device(forger, options);
    await mallory.link.pull();
    await mallory.db.put('a', 'forged');
    await mallory.link.push();
    expect(forged).not.toBe(head);
    const elsewhere = memoryRemote();
    const other = signedBy(OTHER_PRIVATE, { publicKeys: [OTHER_PUBLIC] })(elsewhere);
    await other.swapHead('main', undefined, forged);
    const lies: [string, Uint8Array][] = [
      ['unsigned', forged],
      ['with the signature of the one before', concatBytes([forged, signed.subarray(-72)])],
      ['signed by another key', await stored(elsewhere)],
      ['that stands, unsigned', head],
    ];
    for (const [name, lie] of lies) {
      const fresh = await device(reads(showing(inner, lie)), options);
      const link = await follower.db.connect(
        bucket(reads(showing(inner, lie)), {
          probe: false,
          ...options,
        }),
      );
      for (const call of [() => link.pull(), () => fresh.link.pull()]) {
        expect([name, await caught(call())]).toEqual([name, INVALID]);
      }
      // A writer does not build on it either.
      const writer = await device(writes(showing(inner, lie)), options);
      await writer.db.put('w', 1);
      expect([name, await caught(writer.link.push())]).toEqual([name, INVALID]);
      expect([name, follower.db.root, await fresh.db.count()]).toEqual([name, root, 0]);
    }
    // Without signatures, all holders of the encryption keys are writers.
    const naive = await device(showing(inner, forged), options);
    await naive.link.pull();
    expect(await rowsOf(naive.db)).toEqual({ a: 'forged' });
  });

  it('refuses the head of another branch, and of another place with the same key', async () => {
    const inner = memoryRemote();
    const a = await device(writes(inner), options);
    await a.db.put('a', 1);
    await a.link.push();
    const b = await device(writes(inner), { ...options, remoteBranch: 'b' });
    await b.db.put('b', 1);
    await b.link.push();
    const follower = await device(reads(showing(inner, await stored(inner, 'b'))), options);
    await expect(follower.link.pull()).rejects.toEqual(INVALID);
    const rooms = ['rooms/1', 'rooms/2'].map((place) => ({ place, inner: memoryRemote() }));
    for (const room of rooms) {
      const one = await device(signedBy(PRIVATE, room)(room.inner), options);
      await one.db.put('room', room.place);
      await one.link.push();
    }
    const [first, second] = rooms;
    if (!first || !second) throw new Error('there are two');
    const right = await device(signedBy(undefined, first)(first.inner), options);
    await right.link.pull();
    const wrong = await device(signedBy(undefined, first)(second.inner), options);
    await expect(wrong.link.pull()).rejects.toEqual(INVALID);
  });

  it('is refused after a rollback by devices that have seen more, and by no others', async () => {
    const inner = memoryRemote();
    const a = await device(writes(inner), options);
    const heads: Uint8Array[] = [];
    for (let nth = 0; nth < 3; nth++) {
      await a.db.put('n', nth);
      await a.link.push();
      heads.push(await stored(inner));
    }
    const follower = await device(reads(inner), options);
    await follower.link.pull();
    const old = showing(inner, heads[1] as Uint8Array);
    const again = await follower.db.connect(bucket(reads(old), { probe: false, ...options }));
    await expect(again.pull()).rejects.toEqual(failure('rollback'));
    // Another repository with the same key.
    const elsewhere = memoryRemote();
    const b = await device(writes(elsewhere), options);
    for (let nth = 0; nth < 4; nth++) {
      await b.db.put('n', nth);
      await b.link.push();
    }
    const moved = await follower.db.connect(bucket(reads(elsewhere), { probe: false, ...options }));
    await expect(moved.pull()).rejects.toEqual(failure('rollback'));
    // docs/encryption.md describes devices that begin again.
    const fresh = await device(reads(old), options);
    await fresh.link.pull();
    expect(await rowsOf(fresh.db)).toEqual({ n: 1 });
  });

  it('is unreadable without the wrapper, and the wrapper reads no unsigned head', async () => {
    const inner = memoryRemote();
    const a = await device(writes(inner), options);
    await a.db.put('a', 1);
    await a.link.push();
    const before = await stored(inner);
    const plain = await device(inner, options);
    await plain.db.put('b', 1);
    for (const call of [() => plain.link.pull(), () => plain.link.push()]) {
      const error: HedgerowError = await caught(call());
      expect(error).toEqual(INVALID);
      expect(error.message).toContain('signedRemote');
    }
    expect(await stored(inner)).toEqual(before);
    const unsigned = memoryRemote();
    const b = await device(unsigned, options);
    await b.db.put('a', 1);
    await b.link.push();
    const writer = await device(writes(unsigned), options);
    await writer.db.put('b', 1);
    for (const call of [() => writer.link.pull(), () => writer.link.push()]) {
      expect(await caught(call())).toEqual(INVALID);
    }
  });

  it('changes its key: readers have both, then writers sign with the new one', async () => {
    const inner = memoryRemote();
    const a = await device(writes(inner), options);
    await a.db.put('a', 1);
    await a.link.push();
    const follower = await device(signedBy(undefined, BOTH)(inner), options);
    await follower.link.pull();
    const turned = await a.db.connect(
      bucket(signedBy(OTHER_PRIVATE, BOTH)(inner), {
        probe: false,
        ...options,
      }),
    );
    await a.db.put('a', 2);
    await turned.push();
    await follower.link.pull();
    expect(await rowsOf(follower.db)).toEqual({ a: 2 });
    const late = await device(reads(inner), options);
    await expect(late.link.pull()).rejects.toEqual(INVALID);
  });
});

it('the longest head has room for its signature, and no writer makes a longer one', async () => {
  const from = random(1);
  const inner = memoryRemote();
  const first = emptyHead(from);
  const second = appended(first, treeOf(from), inline(from, 9), authorOf(from, first));
  const base = checkpointed(from, second);
  const longer = (packs: number, name: number) => {
    const [layer] = base.checkpoint.layers;
    const one = layer?.packs[0];
    if (!layer || !one) throw new Error('there is a pack');
    const all = Array.from({ length: packs }, () => ({ ...one, nameBytes: from.bytes(32) }));
    const checkpoint = { ...base.checkpoint, layers: [{ ...layer, packs: all }] };
    const sums = [{ name: 's'.repeat(name), rootBytes: from.bytes(32), sum: 1n }];
    return { ...base, checkpoint, sums };
  };
  const lengthOf = (packs: number) => headLength(longer(packs, 1), PLAIN_SCOPE);
  let packs = 1;
  for (let step = 1024; step >= 1; step /= 2) {
    while (lengthOf(packs + step) <= MAX_UNSIGNED_HEAD_BYTES) packs += step;
  }
  const name = 1 + MAX_UNSIGNED_HEAD_BYTES - lengthOf(packs);
  const bytes = await encodeHead(longer(packs, name), from.bytes(16), PLAIN_SCOPE);
  expect(bytes).toHaveLength(MAX_UNSIGNED_HEAD_BYTES);
  await writes(inner).swapHead('main', undefined, bytes);
  expect(await stored(inner)).toHaveLength(65_536);
  const read = await reads(inner).readHead('main');
  expect(read?.bytes).toEqual(bytes);
  expect((await decodeHead(bytes, PLAIN_SCOPE)).checkpoint.layers[0]?.packs).toHaveLength(packs);
  const salt = from.bytes(16);
  await expect(encodeHead(longer(packs, name + 1), salt, PLAIN_SCOPE)).rejects.toEqual(
    failure('invalid-argument'),
  );
});
