/** Lazy clones of encrypted remotes, in stores that are encrypted in their storage. */
import { expect, it } from 'vitest';
import { type HedgerowError, memory, open, verifyStore } from '../../../src/index.js';
import { atRest, remoteKeys } from '../../../src/sync/encryption/index.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import {
  PLAIN_SCOPE,
  type RemoteEncryption,
  type Scope,
  scopeInside,
} from '../../../src/sync/remote/format/cipher-suite.js';
import { objectPath } from '../../../src/sync/remote/format/content-names.js';
import { inflate } from '../../../src/sync/remote/format/deflate.js';
import { decodeHead } from '../../../src/sync/remote/format/head-codec.js';
import type { HeadRecord } from '../../../src/sync/remote/format/head-record.js';
import { decodeDirectory } from '../../../src/sync/remote/format/layer-directory.js';
import { frameOpener, framesAt, readPackTable } from '../../../src/sync/remote/format/pack-read.js';
import { memoryRemote, type Remote, type RemoteHead } from '../../../src/sync/remote/index.js';
import { flipped, forFlips } from '../../support/damaged-bytes.js';
import { watched } from '../../support/doubles/watched-storage.js';
import { kindOf } from '../../support/error-kind.js';
import { forSeeds, hasAllSeeds, isDeep } from '../../support/property.js';
import { random } from '../../support/random.js';
import { keyOf as keyOfEpoch } from '../../support/remote-scopes.js';
import {
  asked,
  caught,
  keyOf,
  lazy,
  published,
  rowOf,
  rowsOf,
  switched,
} from '../../support/worlds/lazy-devices.js';

const ROWS = 30_000;
const keys = remoteKeys({ place: 'room', keys: keyOfEpoch });
const KEY = random(77).bytes(32);
const sealed = () => ({ encryption: atRest({ key: KEY }), link: { encryption: keys } });
const shared = published(ROWS, 30, { encryption: keys });

it('a clone opens with two requests, and reads on demand as from a plain remote', async () => {
  const { remote, from } = await shared;
  const { db, link } = await lazy(remote, memory(), 'app', sealed());
  expect(link.traffic.requests).toBe(2);
  expect(db.root).toBe(from.root);
  expect(await db.count()).toBe(ROWS);
  const first = await asked(link, () => db.get(keyOf(15_000)));
  expect(first).toMatchObject({ result: rowOf(15_000)[1], requests: 2 });
  const again = await asked(link, () => db.get(keyOf(15_000)));
  expect(again).toMatchObject({ result: rowOf(15_000)[1], requests: 0 });
  const scanned = await asked(link, () => db.scan({ gte: keyOf(15_000), limit: 100 }).toArray());
  expect(scanned.result).toEqual(Array.from({ length: 100 }, (_, nth) => rowOf(15_000 + nth)));
  expect(scanned.requests).toBeLessThanOrEqual(2);
  expect(link.traffic.receivedBytes).toBeLessThan(250_000);
  await db.close();
});

it('rows that were read are here after a restart without a network, sealed; another key does not open them', async () => {
  const { remote } = await shared;
  const net = switched(remote);
  const storage = watched(memory());
  const before = await lazy(net, storage, 'app', sealed());
  await before.link.prefetch({ gte: keyOf(1000), lt: keyOf(2000) });
  await before.db.close();
  for (const { segmentBytes, tableBytes } of storage.stored.values()) {
    for (const bytes of [segmentBytes, tableBytes]) {
      const text = Buffer.from(bytes);
      // With its version: random bytes have any four letters now and then.
      expect(text.includes('issue/') || text.includes('HDGT\u0001')).toBe(false);
    }
  }
  net.isOff = true;
  const { db } = await lazy(net, storage, 'app', sealed());
  const range = { gte: keyOf(1000), lt: keyOf(2000) };
  expect(await db.scan(range).toArray()).toHaveLength(1000);
  expect(await caught(db.get(keyOf(20_000)))).toMatchObject({ code: 'offline' });
  await db.put(keyOf(1500), 'mine');
  expect(await db.health.verify()).toMatchObject({ ok: true });
  await db.health.compact();
  net.isOff = false;
  expect(await db.get(keyOf(20_000))).toEqual(rowOf(20_000)[1]);
  await db.close();
  const { encryption } = sealed();
  // Without the remote, the store reads and verifies its local rows.
  const report = await verifyStore('app', { storage, encryption });
  expect(report).toMatchObject({ ok: true });
  expect(report.remoteRows).toBeGreaterThan(ROWS / 2);
  const alone = await open('app', { storage, encryption });
  expect(await alone.get(keyOf(1500))).toBe('mine');
  await alone.close();
  const other = { ...sealed(), encryption: atRest({ key: random(1).bytes(32) }) };
  expect(await caught(lazy(net, storage, 'app', other))).toMatchObject({ code: 'wrong-key' });
});

it('a wrong or missing key of the remote fails at once; a store asks for a late key again', async () => {
  const { remote } = await shared;
  const other = {
    link: { encryption: remoteKeys({ place: 'room', keys: () => random(3).bytes(32) }) },
  };
  for (const options of [other, {}]) {
    expect(await caught(lazy(remote, memory(), 'app', options))).toMatchObject({
      code: 'wrong-key',
    });
  }
  const plain = await published(5000);
  const wrong = { link: { encryption: keys } };
  expect(await caught(lazy(plain.remote, memory(), 'app', wrong))).toMatchObject({
    code: 'wrong-key',
  });
});

it('a clone reads layers of several keys, and asks for each key at its first use', async () => {
  const { remote, from, link } = await published(ROWS, 30, { encryption: keys });
  const turned = await from.connect(
    bucket(remote, {
      name: 'turned',
      probe: false,
      encryption: remoteKeys({ place: 'room', keys: keyOfEpoch, epoch: 2 }),
    }),
  );
  await link.close();
  const chance = random(4);
  await from.putMany(Array.from({ length: 20_000 }, () => rowOf(chance.below(ROWS), 'turned')));
  await turned.push();
  let hasOld = false;
  const late = remoteKeys({
    place: 'room',
    keys: (epoch) => (epoch === 2 || hasOld ? keyOfEpoch(epoch) : undefined),
    epoch: 2,
  });
  const options = { ...sealed(), link: { encryption: late } };
  const storage = memory();
  const early = await caught(lazy(remote, storage, 'app', options));
  expect(early).toMatchObject({ code: 'wrong-key' });
  hasOld = true;
  const { db, link: own } = await lazy(remote, storage, 'app', options);
  expect(await rowsOf(db)).toEqual(await rowsOf(from));
  await db.put(keyOf(1), 'mine');
  await own.push();
  await turned.pull();
  expect(await from.get(keyOf(1))).toBe('mine');
  await db.close();
});

/** How often a bit flips on the way. */
const SEEDS = 60;

const isRefusal = (cause: unknown) =>
  ['remote/data', 'newer-version/format'].includes(kindOf(cause) ?? '');

/** Returns all frames of a remote, as its directory leads to them. */
async function framesOf(remote: Remote, scope: Scope, head: HeadRecord) {
  const packs = head.checkpoint.layers.flatMap((one) => one.packs);
  const names = packs.map(({ nameBytes }) => objectPath('p', nameBytes));
  const directoryBytes = (await remote.get(names.at(-1) as `p/${string}`)) as Uint8Array;
  const directory = await decodeDirectory(directoryBytes, inflate, scope);
  const objects = [
    ...directory.packs.map((front) => ['pack', front] as const),
    ...directory.nodes.map((front) => ['nodes', front] as const),
  ];
  return { names, directoryBytes, objects };
}

/**
 * A remote whose checkpoint has short objects: its rows deflate well, and so many single pushes follow that the tail is
 * full.
 */
async function smallRemote(encryption: RemoteEncryption | undefined) {
  const remote = memoryRemote();
  const db = await open('from', { storage: memory() });
  const text = 'a sentence that is told again. '.repeat(9);
  const rows = Array.from({ length: 3000 }, (_, nth): [string, unknown] => [keyOf(nth), { text }]);
  await db.putMany(rows);
  const link = await db.connect(bucket(remote, { probe: false, encryption }));
  const headScope: Scope = {
    ...{ ...PLAIN_SCOPE, ...encryption },
    contextBytes: new TextEncoder().encode('main'),
  };
  for (let pushes = 0; ; pushes++) {
    await db.put(keyOf(pushes), { pushes });
    await link.push();
    const { bytes } = (await remote.readHead('main')) as RemoteHead;
    const head = await decodeHead(bytes, headScope);
    if (head.checkpoint.layers.length === 0) continue;
    await db.close();
    return { remote, head, scope: scopeInside(headScope, head) };
  }
}

it.each([
  ['is not encrypted', undefined],
  ['is encrypted', keys],
])('each flipped bit of a small remote that %s is refused', async (_, encryption) => {
  const { remote, head, scope } = await smallRemote(encryption);
  const { names, directoryBytes, objects } = await framesOf(remote, scope, head);
  expect(objects.map(([kind]) => kind)).toEqual(['pack', 'nodes']);
  let count = 0;
  const expectRefused = async (what: string, read: () => Promise<unknown>) => {
    count += 1;
    const error = await read().then(
      () => undefined,
      (cause: unknown) => cause,
    );
    if (!isRefusal(error)) throw new Error(`${what}: ${error}`);
  };
  const flips = async (
    what: string,
    bytes: Uint8Array,
    read: (changed: Uint8Array) => Promise<unknown>,
  ) => {
    await read(bytes);
    await forFlips(bytes, (changed) => expectRefused(what, () => read(changed)));
  };
  await flips('directory', directoryBytes, (bytes) => decodeDirectory(bytes, inflate, scope));
  // All frames have the same seal: it tests the first frame of each kind as the directory opens it.
  for (const [nth, [kind, front]] of objects.entries()) {
    const bytes = (await remote.get(names[nth] as `p/${string}`)) as Uint8Array;
    const { frames, end } = framesAt(kind, front, scope.suite);
    expect(end).toBe(bytes.length);
    const { at: begin, length } = frames[0] as (typeof frames)[number];
    // The bytes before the first frame, for a reader of the object alone.
    await flips(`front of ${kind}`, bytes.slice(0, begin), (changed) =>
      readPackTable(changed, scope, kind),
    );
    const opened = await frameOpener(kind, front, scope);
    const frame = bytes.slice(begin, begin + length);
    await flips(kind, frame, (changed) => opened(0, changed));
    for (const [other, place] of frames.entries()) {
      if (other === 0) continue;
      const elsewhere = bytes.subarray(place.at, place.at + place.length);
      await expectRefused(`${kind}, frame ${other}`, () => opened(0, elsewhere));
    }
  }
  console.log(`${count} refused`);
  if (isDeep) expect(count).toBeGreaterThan(80_000);
});

it.each([
  ['is not encrypted', undefined],
  ['is encrypted', keys],
])(
  'bits that are flipped on the way from a remote that %s do not change any row',
  async (_, encryption) => {
    const { remote, from } = await published(6000, 150, { encryption });
    const options = { link: { encryption } };
    const totals = { refused: 0, repaired: 0 };
    await forSeeds(SEEDS, async (chance) => {
      // All requests or one of some; a flipped bit, or a cut.
      let left = chance.below(6);
      const isAlways = chance.below(2) === 0;
      let isHealed = false;
      const damage = (bytes: Uint8Array) =>
        chance.below(8) === 0
          ? bytes.slice(0, chance.below(bytes.length))
          : flipped(bytes, chance.below(8 * bytes.length));
      const net: Remote = {
        ...remote,
        async get(...call) {
          const bytes = await remote.get(...call);
          if (bytes === undefined || isHealed) return bytes;
          const isHit = isAlways ? left-- <= 0 : left-- === 0;
          return isHit ? damage(bytes) : bytes;
        },
      };
      const storage = memory();
      const read = async () => {
        const { db, link } = await lazy(net, storage, 'app', options);
        try {
          const nth = chance.below(6000);
          expect(await db.get(keyOf(nth))).toEqual(rowOf(nth, 'open', 150)[1]);
          const rows = await db.scan({ gte: keyOf(nth), limit: 50 }).toArray();
          const wanted = Array.from({ length: Math.min(50, 6000 - nth) }, (_unused, at) =>
            rowOf(nth + at, 'open', 150),
          );
          expect(rows).toEqual(wanted);
          return link.traffic.requests;
        } finally {
          await db.close();
        }
      };
      try {
        await read();
        totals.repaired += 1;
      } catch (cause) {
        if (!isRefusal(cause) && (cause as HedgerowError).code !== 'missing-chunk') throw cause;
        totals.refused += 1;
      }
      isHealed = true;
      await read();
      const { db } = await lazy(net, storage, 'app', options);
      expect(db.root).toBe(from.root);
      expect(await db.health.verify()).toMatchObject({ ok: true });
      await db.close();
    });
    if (!hasAllSeeds(SEEDS)) return;
    for (const count of Object.values(totals)) expect(count).toBeGreaterThan(5);
  },
);
