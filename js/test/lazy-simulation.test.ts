/**
 * Lazy devices beside whole ones, over a remote that fails as networks and stores do, by a seed: latency is none, but requests are
 * refused and cut, bits flip, answers are lost, heads are stale. Devices read, scan, write, verify, compact and start again.
 * What is read is what a model of the device has, or the call fails by a code of remotes; and when the faults end and all have
 * synced, all have one root and the same rows. Some remotes are encrypted, and some stores; all collect what no head of the remote
 * names, nodes and directories too, whose deletions are judged: no head names what goes, or did within the grace.
 */
import { expect, it } from 'vitest';
import { atRest, remoteKeys } from '../src/encryption/index.js';
import {
  clone,
  type Encryption,
  HedgerowError,
  type Link,
  memory,
  type Storage,
  type Store,
} from '../src/index.js';
import { faultyRemote } from '../src/remote/adapters/faulty.js';
import type { RemoteEncryption } from '../src/remote/format/suite.js';
import type { Remote } from '../src/remote/index.js';
import { Clock, checkLive, copyRemote, HOUR, judged } from './collected-remote.js';
import { keyOf, published, rowsOf, rowOf as shortRowOf } from './lazy-devices.js';
import { forSeeds, isOneSeed, seedCount } from './property.js';
import { type Random, random } from './random.js';
import { keyOf as keyOfEpoch } from './remote-scopes.js';

const ROWS = 4000;
/** So long that all rows are a checkpoint. */
const BYTES = 300;
const rowOf = (nth: number, state?: string) => shortRowOf(nth, state, BYTES);
/** What a call over a faulty remote may fail with. */
const EXPECTED = [
  'offline',
  'remote',
  'invalid-remote',
  'invalid-delta',
  'rollback',
  'conflict',
  'remote-gone',
  'corrupt-chunk',
  'unsupported-format',
  // Rows that were damaged on their way twice are not those that are wanted.
  'missing-chunk',
];
const totals = {
  ...{ reads: 0, misses: 0, writes: 0, syncs: 0, failures: 0, starts: 0, lazy: 0 },
  ...{ encrypted: 0, sealed: 0, collections: 0, deleted: 0 },
};
const GRACE_MS = HOUR;

class Device {
  readonly #name: string;
  readonly #remote: Remote;
  readonly #mode: 'lazy' | 'full';
  readonly #storage: Storage = memory();
  readonly #encryption: RemoteEncryption | undefined;
  readonly #atRest: Encryption | undefined;
  db: Store | undefined;
  link: Link | undefined;

  constructor(
    name: string,
    remote: Remote,
    mode: 'lazy' | 'full',
    encryption: RemoteEncryption | undefined,
    isSealed: boolean,
  ) {
    this.#name = name;
    this.#remote = remote;
    this.#mode = mode;
    this.#encryption = encryption;
    this.#atRest = isSealed ? atRest({ key: random(5).bytes(32) }) : undefined;
  }

  async start(): Promise<boolean> {
    totals.starts += 1;
    const made = await tried(() =>
      clone(this.#name, this.#remote, {
        storage: this.#storage,
        mode: this.#mode,
        // What one reads at one time must not leave memory in a way that hides a miss.
        cacheBytes: 1 << 20,
        encryption: this.#atRest,
        link: { probe: false, policy: 'local', encryption: this.#encryption },
      }),
    );
    if (made === undefined) return false;
    this.db = made.db;
    this.link = made.link;
    return true;
  }

  async stop(): Promise<void> {
    await this.db?.close();
    this.db = undefined;
  }

  /** Does something; what is read must be right. */
  async act(from: Random, step: number): Promise<void> {
    const { db, link } = this;
    if (db === undefined || link === undefined) {
      await this.start();
      return;
    }
    const nth = from.below(ROWS);
    const kind = from.below(12);
    if (kind < 4) {
      totals.reads += 1;
      const value = await tried(async () => [await db.get(keyOf(nth))]);
      if (value === undefined) totals.misses += 1;
      else expectRow(nth, value[0]);
    } else if (kind < 6) {
      totals.reads += 1;
      const rows = await tried(() =>
        db.scan({ gte: keyOf(nth), limit: 40, reverse: from.below(2) === 0 }).toArray(),
      );
      let before: string | undefined;
      const keys = rows?.map(([key]) => key).sort() ?? [];
      for (const key of keys) {
        expect(before === undefined || before < key).toBe(true);
        before = key;
      }
      for (const [key, value] of rows ?? []) expectRow(Number(key.slice(6, 14)), value);
    } else if (kind < 8) {
      totals.writes += 1;
      // Many rows soon make a checkpoint, and garbage of the one before.
      const most = this.#mode === 'full' && from.below(2) === 0 ? 2000 : 5;
      const rows = Array.from({ length: 1 + from.below(most) }, () =>
        rowOf(from.below(ROWS), `${this.#name} ${step}`),
      );
      await tried(() => db.putMany(rows));
    } else if (kind < 9) await tried(() => db.delete(keyOf(nth)));
    else if (kind < 11) {
      totals.syncs += 1;
      await tried(() => (from.below(2) === 0 ? link.pull() : link.push()));
    } else if (from.below(3) === 0) {
      await this.stop();
    } else if (from.below(2) === 0) {
      totals.collections += 1;
      const collected = await tried(() => link.collect({ graceMs: GRACE_MS }));
      totals.deleted += collected?.deleted.objects ?? 0;
    } else {
      const { ok, rows, remoteRows } = await db.verify();
      expect(ok).toBe(true);
      expect(rows + remoteRows).toBe(await db.count());
      await db.compact();
    }
  }
}

/** A row is one that somebody has written. */
function expectRow(nth: number, value: unknown): void {
  if (value === undefined) return;
  const { state, ...rest } = value as { state: string };
  expect(rest).toEqual(withoutState(nth));
  expect(state).toMatch(/^(open|(full|lazy)\d \d+)$/);
}

function withoutState(nth: number): object {
  const { state: _, ...rest } = rowOf(nth)[1] as { state: string };
  return rest;
}

async function tried<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (cause) {
    if (!(cause instanceof HedgerowError)) throw cause;
    expect(EXPECTED).toContain(cause.code);
    totals.failures += 1;
    return undefined;
  }
}

const keys = remoteKeys({ keys: keyOfEpoch });
const first = {
  plain: published(ROWS, BYTES),
  sealed: published(ROWS, BYTES, { encryption: keys }),
};

it('lazy and whole devices over a remote with faults end equal', async () => {
  await forSeeds(seedCount(6), async (from, _seed, step) => {
    const encryption = from.pick([undefined, keys]);
    if (encryption !== undefined) totals.encrypted += 1;
    const { remote: inner } = await (encryption ? first.sealed : first.plain);
    const clock = new Clock();
    const scope = encryption && { ...encryption, contextBytes: new Uint8Array() };
    const remote = judged(clock, GRACE_MS, scope);
    await copyRemote(inner, remote.inner);
    const rare = from.pick([0, 0.02, 0.08]);
    const chances = { offline: rare, cut: rare, flipped: rare, refused: rare, stale: rare };
    const faulty = faultyRemote(remote, {
      seed: from.below(2 ** 31),
      chances: { ...chances, landed: rare, missing: rare },
    });
    const kinds = [
      ['full1', 'full'],
      ['lazy1', 'lazy'],
      ['lazy2', 'lazy'],
    ] as const;
    const devices = kinds.map(([name, mode]) => {
      const isSealed = from.below(2) === 0;
      if (isSealed) totals.sealed += 1;
      return new Device(name, faulty, mode, encryption, isSealed);
    });
    for (let nth = 0; nth < 80; nth++) {
      step(`step ${nth}`);
      await from.pick(devices).act(from, nth);
      clock.pass(from.pick([0, 60_000, HOUR / 3, 2 * HOUR]));
    }
    await checkLive(remote.inner, scope);
    faulty.heal();
    step('all sync');
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
    step('what no head names goes, and what is read is there');
    for (let round = 0; round < 12; round++) {
      clock.pass(HOUR);
      const link = devices[round % devices.length]?.link as Link;
      totals.deleted += (await link.collect({ graceMs: GRACE_MS })).deleted.objects;
    }
    await checkLive(remote.inner, scope);
    const [one, ...others] = devices.map(({ db }) => db as Store) as [Store, ...Store[]];
    const rows = await rowsOf(one);
    for (const other of others) {
      const { ok, remoteRows } = await other.verify();
      expect(ok).toBe(true);
      totals.lazy += remoteRows > 0 ? 1 : 0;
      expect(other.root).toBe(one.root);
      expect(await rowsOf(other)).toEqual(rows);
    }
    for (const device of devices) await device.stop();
  });
}, 600_000);

it.skipIf(isOneSeed)('has seen all that it is about', () => {
  console.log(totals);
  for (const count of Object.values(totals)) expect(count).toBeGreaterThan(0);
});
