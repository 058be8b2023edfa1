/** Remotes of both suites that lie: each lie is a typed error, and devices accept only objects made with the key. */
import { describe, expect, it } from 'vitest';
import { concatBytes } from '../../../src/base/bytes.js';
import { hex } from '../../../src/base/hex.js';
import { HedgerowError } from '../../../src/index.js';
import { remoteKeys } from '../../../src/sync/encryption/index.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import {
  PLAIN_SCOPE,
  type RemoteEncryption,
  type Scope,
} from '../../../src/sync/remote/format/cipher-suite.js';
import { inflate } from '../../../src/sync/remote/format/deflate.js';
import { decodeDeltaObject } from '../../../src/sync/remote/format/delta-object.js';
import { decodeHead, encodeHead } from '../../../src/sync/remote/format/head-codec.js';
import { decodeDirectory } from '../../../src/sync/remote/format/layer-directory.js';
import { decodePack } from '../../../src/sync/remote/format/pack-read.js';
import { decodeBlock } from '../../../src/sync/remote/format/push-history-block.js';
import { decodeRepository } from '../../../src/sync/remote/format/repository-file.js';
import { decodeLog } from '../../../src/sync/remote/format/tail-log-object.js';
import { memoryRemote, type Remote } from '../../../src/sync/remote/index.js';
import { flipped, forFlips } from '../../support/damaged-bytes.js';
import { kindOf } from '../../support/error-kind.js';
import { longRows } from '../../support/long-rows.js';
import { failure } from '../../support/models/store-model.js';
import { isDeep } from '../../support/property.js';
import { random } from '../../support/random.js';
import { encodePack, hash } from '../../support/remote-samples.js';
import { keyOf, sealedScope } from '../../support/remote-scopes.js';
import { device, many, rowsOf } from '../../support/worlds/sync-devices.js';

const encryption = remoteKeys({ place: 'room', keys: keyOf });
const encode = (text: string) => new TextEncoder().encode(text);

/** The branch of a remote with few short objects, one of each kind behind the checkpoint. */
async function small(options: { encryption?: RemoteEncryption }) {
  const remote = memoryRemote();
  const a = await device(remote, options);
  // Pushes until a checkpoint is due, then until there is a log behind it.
  for (let nth = 0; nth < 76; nth++) {
    await a.db.put('n', nth);
    await a.link.push();
  }
  await a.db.putMany(many(70, 'long'));
  await a.link.push();
  return { remote, a };
}

const DECODERS: Record<string, (bytes: Uint8Array, scope: Scope) => Promise<unknown>> = {
  HDGC: decodeRepository,
  HDGR: decodeHead,
  HDGL: decodeLog,
  HDGH: decodeBlock,
  HDGE: decodeDeltaObject,
  HDGI: (bytes, scope) => decodeDirectory(bytes, inflate, scope),
  async HDGP(bytes, scope) {
    for await (const delta of decodePack(bytes, inflate, scope)) {
      for await (const part of delta) expect(part.length).toBeGreaterThan(0);
    }
  },
};

/** Returns all objects of a branch by their names. */
async function objectsOf(remote: Remote, branch = 'main'): Promise<Map<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>();
  found.set('hedgerow', (await remote.get('hedgerow')) as Uint8Array);
  for (const prefix of ['p/', 'd/'] as const) {
    for (const { name } of await remote.list(prefix)) {
      found.set(name, (await remote.get(name)) as Uint8Array);
    }
  }
  found.set(`h/${branch}`, (await remote.readHead(branch))?.bytes as Uint8Array);
  return found;
}

/** A remote with other bytes in one object. */
function changed(inner: Remote, name: string, bytes: Uint8Array): Remote {
  if (!name.startsWith('h/')) {
    return { ...inner, get: async (...call) => (call[0] === name ? bytes : inner.get(...call)) };
  }
  const head = async () => ({ bytes, token: '"x"', modifiedMs: undefined });
  return { ...inner, readHead: head, readHeadSince: head };
}

const isRefusal = (cause: unknown) =>
  cause instanceof HedgerowError && ['remote/data', 'newer-version/format'].includes(kindOf(cause));

describe.each([
  ['is not encrypted', undefined],
  ['is encrypted', encryption],
])('of a small remote that %s', (_, own) => {
  const options = own ? { encryption: own } : {};
  let sharedRemote: ReturnType<typeof small> | undefined;
  /** Shared by both tests, which do not change the remote. */
  const shared = () => {
    sharedRemote ??= small(options);
    return sharedRemote;
  };

  it('each flipped bit is refused by the decoder of the object alone', async () => {
    const { remote } = await shared();
    const id = (await remote.get('hedgerow'))?.slice(8, 24) as Uint8Array;
    const kinds = new Set<string>();
    let bits = 0;
    for (const [name, bytes] of await objectsOf(remote)) {
      const contextBytes = name.startsWith('h/') ? encode('main') : id;
      const scope: Scope = { ...PLAIN_SCOPE, ...own, contextBytes };
      const kind = new TextDecoder().decode(bytes.subarray(0, 4));
      // One object of each kind is enough.
      if (kinds.has(kind)) continue;
      kinds.add(kind);
      const decode = DECODERS[kind] as (typeof DECODERS)[string];
      await decode(bytes, scope);
      bits += 8 * bytes.length;
      await forFlips(bytes, async (changed) => {
        const error = await decode(changed, scope).then(
          () => undefined,
          (cause: unknown) => cause,
        );
        if (!isRefusal(error)) throw new Error(`${name}: ${error}`);
      });
    }
    // One leaf has no nodes: `lazy-encrypted.test.ts` tests nodes.
    expect(kinds.size).toBe(7);
    expect(bits).toBeGreaterThan(50_000);
  });

  it('flipped bits, truncations and swapped objects change no row', async () => {
    const { remote, a } = await shared();
    const from = random(1);
    const objects = [...(await objectsOf(remote))].filter(([name]) => name !== 'hedgerow');
    const b = await device(remote, options);
    await b.db.put('own', 1);
    const before = b.db.root;
    const read = new Set<string>();
    const counted: Remote = {
      ...remote,
      get: (...call) => {
        read.add(call[0]);
        return remote.get(...call);
      },
    };
    const c = await device(counted, options);
    await c.link.pull();
    expect(c.db.root).toBe(a.db.root);
    let pulls = 0;
    for (const [name, bytes] of objects) {
      // The device does not read objects that it does not need.
      if (!name.startsWith('h/') && !read.has(name)) continue;
      const others = objects.filter(([one]) => one[0] === name[0] && one !== name);
      const lies = [
        ...Array.from({ length: isDeep ? 40 : 10 }, () =>
          flipped(bytes, from.below(8 * bytes.length)),
        ),
        ...Array.from({ length: isDeep ? 20 : 5 }, () => bytes.slice(0, from.below(bytes.length))),
        concatBytes([bytes, new Uint8Array(1)]),
        new Uint8Array(),
        ...others.map(([, other]) => other),
      ];
      for (const lie of lies) {
        const link = await b.db.connect(
          bucket(changed(remote, name, lie), { probe: false, ...options }),
        );
        const error = await link.pull().catch((cause) => cause);
        if (!isRefusal(error)) throw new Error(`${name}: ${error}`);
        expect(b.db.root).toBe(before);
        await link.close();
        pulls += 1;
      }
    }
    expect(pulls).toBeGreaterThan(isDeep ? 200 : 60);
    // It goes on with the sound remote.
    await b.link.pull();
    await a.db.put('own', 1);
    expect(await rowsOf(b.db)).toEqual(await rowsOf(a.db));
  });
});

describe('an encrypted remote', () => {
  it('refuses the head of another branch, and the head of another repository', async () => {
    const remote = memoryRemote();
    const a = await device(remote, { encryption });
    await a.db.put('a', 1);
    await a.link.push();
    const other = await device(remote, { encryption, remoteBranch: 'other' });
    await other.db.put('b', 1);
    await other.link.push();
    const swapped: Remote = {
      ...remote,
      readHead: (branch, options) => remote.readHead(branch === 'main' ? 'other' : 'main', options),
    };
    for (const remoteBranch of ['main', 'other']) {
      const b = await device(swapped, { encryption, remoteBranch });
      await expect(b.link.pull()).rejects.toEqual(failure('remote/data', { object: 'head' }));
    }
    // A repository with the same key and a branch of the same name.
    const elsewhere = memoryRemote();
    const c = await device(elsewhere, { encryption });
    for (let nth = 0; nth < 3; nth++) {
      await c.db.put('c', nth);
      await c.link.push();
    }
    const moved = await a.db.connect(bucket(elsewhere, { probe: false, encryption }));
    await expect(moved.pull()).rejects.toEqual(failure('rollback'));
    expect(await rowsOf(a.db)).toEqual({ a: 1 });
  });

  it('refuses packs and deltas of another repository, and packs with changed frames', async () => {
    const fill = async (remote: Remote) => {
      const a = await device(remote, { encryption });
      await a.db.putMany(isDeep ? many(30_000, 'first') : longRows(1500, 'first'));
      await a.link.push();
      return a;
    };
    const [inner, other] = [memoryRemote(), memoryRemote()];
    await fill(inner);
    await fill(other);
    const [pack = { name: '' }] = await inner.list('p/');
    const [foreign = { name: '' }] = await other.list('p/');
    const theirs = (await other.get(foreign.name)) as Uint8Array;
    const b = await device(changed(inner, pack.name, theirs), { encryption });
    await expect(b.link.pull()).rejects.toEqual(failure('remote/data', { object: 'pack' }));
    // Without the check of the name, the repository id in each part refuses it.
    const id = (await inner.get('hedgerow'))?.slice(8, 24) as Uint8Array;
    const scope: Scope = { ...encryption, contextBytes: id };
    const reading = (async () => {
      for await (const delta of decodePack(theirs, inflate, scope)) expect(delta).toBeDefined();
    })();
    await expect(reading).rejects.toEqual(failure('remote/data', { object: 'pack' }));
  });

  it('refuses a head by a holder of the old key only, in the next session, too', async () => {
    const remote = memoryRemote();
    const at = (epoch: number) => remoteKeys({ place: 'room', keys: keyOf, epoch });
    const a = await device(remote, { encryption: at(1) });
    await a.db.put('a', 1);
    await a.link.push();
    const turned = await a.db.connect(bucket(remote, { probe: false, encryption: at(2) }));
    await a.db.put('a', 2);
    await turned.push();
    const b = await device(remote, { encryption: at(1) });
    await b.link.pull();
    // A device that was shut out can write to the bucket, knows the hash of each head, and may know the rows of this
    // one.
    const standing = await remote.readHead('main');
    const head = await decodeHead(standing?.bytes as Uint8Array, sealedScope(2));
    const forged = {
      ...head,
      ...{ epoch: 1, seq: 3, previousBytes: hash(standing?.bytes as Uint8Array) },
      ...{ nonceBytes: random(5).bytes(16), tail: head.tail.slice(0, 1) },
      rows: head.tail[0]?.rows ?? head.base,
    };
    const bytes = await encodeHead(forged, random(6).bytes(16), sealedScope(1));
    expect(await remote.swapHead('main', standing?.token, bytes)).toMatchObject({
      state: 'swapped',
    });
    for (const { db } of [a, b]) {
      const link = await db.connect(bucket(remote, { probe: false, encryption: at(2) }));
      const { root } = db;
      const error = await link.pull().catch((cause) => cause);
      expect(error).toEqual(failure('rollback'));
      expect(error.message).toContain('key 1, after key 2');
      await db.put('more', 1);
      await expect(link.push()).rejects.toEqual(failure('rollback'));
      expect(db.root).not.toBe(root);
    }
  });

  it('refuses heads that go back', async () => {
    const remote = memoryRemote();
    const a = await device(remote, { encryption });
    const heads = [];
    for (let nth = 0; nth < 3; nth++) {
      await a.db.put('n', nth);
      await a.link.push();
      heads.push((await remote.readHead('main'))?.bytes as Uint8Array);
    }
    for (const old of heads.slice(0, 2)) {
      const link = await a.db.connect(
        bucket(changed(remote, 'h/main', old), { probe: false, encryption }),
      );
      await expect(link.pull()).rejects.toEqual(failure('rollback'));
    }
  });

  it('makes no object twice: a repeated push has another salt, and another key', async () => {
    const inner = memoryRemote();
    const sent: Uint8Array[] = [];
    let isLost = false;
    const remote: Remote = {
      ...inner,
      async swapHead(branch, token, bytes, options) {
        if (isLost) sent.push(bytes);
        if (!isLost || sent.length > 2) return inner.swapHead(branch, token, bytes, options);
        return { state: 'unknown', cause: new HedgerowError('offline', 'no answer') };
      },
    };
    const a = await device(remote, { encryption });
    await a.db.put('a', 1);
    await a.link.push();
    isLost = true;
    await a.db.put('a', 2);
    await a.link.push();
    expect(sent).toHaveLength(3);
    const salts = sent.map((bytes) => hex(bytes.subarray(8, 24)));
    expect(new Set(salts).size).toBe(sent.length);
    const nonces = await Promise.all(
      sent.map(async (bytes) => hex((await decodeHead(bytes, sealedScope(1))).nonceBytes)),
    );
    // So the device finds it in the remote, whichever push arrived.
    expect(new Set(nonces).size).toBe(1);
  });
});

it('a pack has one key, and each of its frames has its own nonce', async () => {
  const seen: string[] = [];
  const scope = sealedScope();
  const counting: Scope = {
    ...scope,
    suite: {
      ...scope.suite,
      async toWrite(...call) {
        const seal = await scope.suite.toWrite(...call);
        return {
          ...seal,
          close: (number, parts, bytes) => {
            seen.push(`${number}/${parts}`);
            return seal.close(number, parts, bytes);
          },
        };
      },
    },
  };
  const deltas = Array.from({ length: 5 }, (_, nth) => random(nth).bytes(100));
  await encodePack(deltas, random(1).bytes(16), async (bytes) => bytes, counting);
  expect(seen.sort()).toEqual(['0/6', '1/6', '2/6', '3/6', '4/6', '5/6']);
});
