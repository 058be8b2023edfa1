/**
 * Lazy and whole devices over a remote that fails as networks and stores do, by a seed, without latency: requests are
 * refused and cut, bits flip, answers are lost, heads are stale; in half of the seeds the bucket is also hostile: it
 * serves older and mixed states. Devices read, scan, write, verify, compact and start again. A read returns a written
 * row, or fails with a code of remotes; when the faults end and all have synced, all have one root and the same rows.
 * Some remotes and some stores are encrypted. All devices collect objects that no head names, nodes and directories
 * too, and the simulation checks each deletion: no head names the object, or named it within the grace.
 */
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import { memory, open, type Store } from '../../../src/index.js';
import { remoteKeys } from '../../../src/sync/encryption/index.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import type { BucketConnection } from '../../../src/sync/link/bucket-connection.js';
import {
  PLAIN_SCOPE,
  type RemoteEncryption,
} from '../../../src/sync/remote/format/cipher-suite.js';
import { utf8 } from '../../../src/sync/remote/format/field-codec.js';
import { decodeHead } from '../../../src/sync/remote/format/head-codec.js';
import { memoryRemote, type Remote } from '../../../src/sync/remote/index.js';
import {
  BEGIN,
  Clock,
  checkLive,
  copyRemote,
  HOUR,
  judged,
} from '../../support/doubles/collected-remote.js';
import { faultyRemote } from '../../support/doubles/faulty-remote.js';
import { HostileBucket, hostileTotals } from '../../support/doubles/hostile-bucket.js';
import { simulateInTurn } from '../../support/doubles/in-turn.js';
import { type BeginStep, forSeeds, hasAllSeeds } from '../../support/property.js';
import type { Random } from '../../support/random.js';
import { keyOf as keyOfEpoch } from '../../support/remote-scopes.js';
import { rowsOf } from '../../support/worlds/lazy-devices.js';
import { LazyDevice, lazyTotals, longRow, World } from '../../support/worlds/lazy-simulated.js';

simulateInTurn();

const GRACE_MS = HOUR;
const keys = remoteKeys({ place: 'room', keys: keyOfEpoch });

/**
 * Few rows, so long that all of them are a checkpoint that is read in parts; and so many that nodes have frames, too.
 */
const SIZES = [
  [280, 540],
  [280, 540],
  [280, 540],
  [1600, 140],
] as const;

type Size = (typeof SIZES)[number];

/** Remotes with all rows: each has a checkpoint, and a tail that is nearly full or has just begun. */
const made = new Map<string, Promise<Remote[]>>();

function grownOnce(size: Size, state: string, encryption: RemoteEncryption | undefined) {
  const name = `${size} ${state} ${encryption !== undefined}`;
  const remotes = made.get(name) ?? grow(size, state, encryption);
  made.set(name, remotes);
  return remotes;
}

async function grow(
  [rows, bytes]: Size,
  state: string,
  encryption: RemoteEncryption | undefined,
): Promise<Remote[]> {
  const remote = memoryRemote({ now: () => BEGIN });
  const db = await open('from', { storage: memory() });
  await db.putMany(Array.from({ length: rows }, (_, nth) => longRow(nth, state, bytes)));
  const link = await db.connect(bucket(remote, { probe: false, encryption }));
  const grown: Remote[] = [];
  // Pushes of single rows make a checkpoint when they fill a tail.
  for (let pushes = 1; pushes <= 150; pushes++) {
    await db.put(...longRow(pushes, state === 'open' ? 'again' : state, bytes - 1));
    await link.push();
    if (pushes % 10 > 0) continue;
    const scope = { ...PLAIN_SCOPE, ...encryption, contextBytes: utf8('main') };
    const head = await decodeHead((await remote.readHead('main'))?.bytes as Uint8Array, scope);
    if (head.checkpoint.layers.length === 0) continue;
    const copy = memoryRemote({ now: () => BEGIN });
    await copyRemote(remote, copy);
    grown.push(copy);
    // Of the other kind, one is enough.
    if (state !== 'open') break;
  }
  await db.close();
  return grown;
}

async function simulate(from: Random, seed: number, begin: BeginStep): Promise<void> {
  const encryption = from.pick([undefined, keys]);
  if (encryption !== undefined) lazyTotals.encrypted += 1;
  const size = from.pick(SIZES);
  const clock = new Clock();
  const scope = encryption && { ...encryption, contextBytes: new Uint8Array() };
  const store = judged(clock, GRACE_MS, scope);
  await copyRemote(from.pick(await grownOnce(size, 'open', encryption)), store.inner);
  const rare = from.pick([0, 0.02, 0.08]);
  const chances = { offline: rare, cut: rare, flipped: rare, refused: rare, stale: rare };
  const faulty = faultyRemote(store, {
    seed,
    chances: { ...chances, landed: rare, missing: rare },
  });
  // Rows that no device here has written.
  const [other] = (await grownOnce(size, 'foreign', encryption)) as [Remote];
  const hostility = from.pick([0, 0, 0.1, 0.4]);
  if (hostility > 0) lazyTotals.hostile += 1;
  const bucket = new HostileBucket(store.inner, other, from, hostility);
  await bucket.begin();
  const world = new World(size, from);
  const kinds = [
    ['full1', 'full'],
    ['lazy1', 'lazy'],
    ['lazy2', 'lazy'],
  ] as const;
  const devices = kinds.map(([name, mode]) => {
    const isSealed = from.below(3) === 0;
    if (isSealed) lazyTotals.sealed += 1;
    const options = { name, mode, encryption, isSealed, graceMs: GRACE_MS };
    return new LazyDevice(options, world, (own) => bucket.over(faulty, () => own.hasBegun));
  });
  // Many short histories, and some long ones.
  const steps = 10 + from.below(from.pick([20, 40, 80]));
  for (let step = 0; step < steps; step++) {
    begin({ step, rare, hostility, size });
    await from.pick(devices).act(from, step);
    clock.pass(from.pick([0, 60_000, HOUR / 3, 2 * HOUR]));
  }
  await checkLive(store.inner, scope);
  faulty.heal();
  bucket.isHonest = true;
  begin('all sync');
  for (const device of devices) {
    await device.stop();
    await device.start();
  }
  for (let round = 0; round < 2; round++) {
    for (const { link } of devices) {
      await link?.pull();
      await link?.push();
    }
  }
  for (const { link } of devices) await link?.pull();
  begin('what no head names goes, and what is read is there');
  for (let [round, quiet] = [0, 0]; quiet < 2 && round < 12; round++) {
    clock.pass(HOUR);
    const link = devices[round % devices.length]?.link as BucketConnection;
    const { deleted, waiting, kept } = await link.collect({ graceMs: GRACE_MS });
    lazyTotals.deleted += deleted.objects;
    quiet = waiting.objects + kept.objects === 0 ? quiet + 1 : 0;
  }
  await checkLive(store.inner, scope);
  const [one, ...others] = devices.map(({ db }) => db as Store) as [Store, ...Store[]];
  const rows = await rowsOf(one);
  for (const [key, value] of rows) world.expectRow(Number(key.slice(6)), value);
  for (const db of others) {
    const { ok, remoteRows } = await db.health.verify();
    expect(ok).toBe(true);
    lazyTotals.lazy += remoteRows > 0 ? 1 : 0;
    expect(db.root).toBe(one.root);
    expect(isDeepStrictEqual(await rowsOf(db), rows)).toBe(true);
  }
  for (const device of devices) await device.stop();
}

it('lazy and whole devices end equal over a remote with faults, and over a hostile one', async () => {
  const seeds = await forSeeds(40, simulate);
  const all = { ...lazyTotals, ...hostileTotals };
  console.log(`lazy, ${seeds.length} seeds: ${JSON.stringify(all)}`);
  // Without each of these the simulation is meaningless.
  if (hasAllSeeds(seeds[0] === 1 ? 40 : 300))
    for (const total of Object.values(all)) expect(total).toBeGreaterThan(0);
});
