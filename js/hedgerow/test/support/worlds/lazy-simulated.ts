/** The devices of the simulation of lazy clones, their actions, and the rows that they must read. */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { clone, HedgerowError, memory, type Storage, type Store } from '../../../src/index.js';
import type { Encryption } from '../../../src/storage/segment-store.js';
import { atRest } from '../../../src/sync/encryption/index.js';
import type { BucketConnection } from '../../../src/sync/index.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import { contextOf } from '../../../src/sync/link/open-bucket-connection.js';
import type { RemoteEncryption } from '../../../src/sync/remote/format/cipher-suite.js';
import type { Remote } from '../../../src/sync/remote/index.js';
import { kindOf } from '../error-kind.js';
import { type Random, random } from '../random.js';
import { keyOf } from './lazy-devices.js';

/** Codes of errors that calls over a faulty or hostile remote may have. */
const EXPECTED = [
  'offline',
  'remote/status',
  'remote/data',
  'invalid-data/delta',
  'rollback',
  'conflict',
  'remote/gone',
  'corrupt-chunk',
  'newer-version/format',
  // Rows that were damaged twice on their way are not the wanted ones.
  'missing-chunk',
];

export const lazyTotals = {
  ...{ reads: 0, misses: 0, writes: 0, syncs: 0, failures: 0, starts: 0, lazy: 0 },
  ...{ encrypted: 0, sealed: 0, collections: 0, deleted: 0, hostile: 0 },
};

/** The titles of rows, which deflate little. */
const titles = new Map<string, string>();
export function longRow(nth: number, state: string, bytes: number): [string, unknown] {
  const name = `${nth} ${bytes}`;
  let title = titles.get(name);
  if (title === undefined) {
    title = Buffer.from(random(nth).bytes(bytes)).toString('base64');
    titles.set(name, title);
  }
  return [keyOf(nth), { id: keyOf(nth), title, state, points: nth % 100 }];
}

/** The rows of a remote, and the written states of each row. */
export class World {
  readonly rows: number;
  readonly bytes: number;
  readonly #states = new Map<number, Set<string>>();

  readonly from: Random;

  constructor([rows, bytes]: readonly [rows: number, bytes: number], from: Random) {
    this.from = from;
    this.rows = rows;
    this.bytes = bytes;
  }

  written(nth: number, state: string): [string, unknown] {
    const states = this.#states.get(nth) ?? new Set();
    this.#states.set(nth, states.add(state));
    return longRow(nth, state, this.bytes);
  }

  /** Checks that a device has written the row. */
  expectRow(nth: number, value: unknown): void {
    if (value === undefined) return;
    const { state } = value as { state: string };
    const bytes = state === 'again' ? this.bytes - 1 : this.bytes;
    // `expect` is slow for many rows.
    if (!isDeepStrictEqual(value, longRow(nth, state, bytes)[1])) {
      expect(value).toEqual(longRow(nth, state, bytes)[1]);
    }
    const isFirst = state === 'open' || state === 'again';
    if (isFirst || this.#states.get(nth)?.has(state)) return;
    throw new Error(`nobody has written ${state} of row ${nth}`);
  }
}

export interface DeviceOptions {
  readonly name: string;
  readonly mode: 'lazy' | 'full';
  readonly encryption: RemoteEncryption | undefined;
  readonly isSealed: boolean;
  readonly graceMs: number;
}

export class LazyDevice {
  readonly #options: DeviceOptions;
  readonly #world: World;
  readonly #remote: Remote;
  readonly #storage: Storage = memory();
  readonly #atRest: Encryption | undefined;
  /** Whether it has ever been cloned. */
  hasBegun = false;
  db: Store | undefined;
  link: BucketConnection | undefined;

  constructor(options: DeviceOptions, world: World, over: (device: LazyDevice) => Remote) {
    this.#options = options;
    this.#world = world;
    this.#remote = over(this);
    this.#atRest = options.isSealed ? atRest({ key: random(5).bytes(32) }) : undefined;
  }

  async start(): Promise<boolean> {
    lazyTotals.starts += 1;
    const { name, mode, encryption } = this.#options;
    const made = await tried(() =>
      clone(name, bucket(this.#remote, { probe: false, policy: 'local', encryption }), {
        storage: this.#storage,
        mode,
        // Earlier reads must not stay in memory, where they could hide a miss.
        advanced: { cacheBytes: 1 << 20 },
        encryption: this.#atRest,
      }),
    );
    if (made === undefined) return false;
    this.hasBegun = true;
    this.db = made.db;
    this.link = made.connection;
    // Waits for a next try take no time, and a seed always does the same.
    const { next, bytes } = this.#world.from;
    Object.assign(contextOf(made.connection).tools, {
      sleep: async () => {},
      chance: next,
      random: bytes,
    });
    return true;
  }

  async stop(): Promise<void> {
    await this.db?.close();
    this.db = undefined;
  }

  /** Takes one action; the rows that it reads must be right. */
  async act(from: Random, step: number): Promise<void> {
    const { db, link } = this;
    if (db === undefined || link === undefined) {
      await this.start();
      return;
    }
    const nth = from.below(this.#world.rows);
    const kind = from.below(12);
    if (kind < 4) {
      lazyTotals.reads += 1;
      const value = await tried(async () => [await db.get(keyOf(nth))]);
      if (value === undefined) lazyTotals.misses += 1;
      else this.#world.expectRow(nth, value[0]);
    } else if (kind < 6) await this.#scan(db, nth, from.below(2) === 0);
    else if (kind < 8) await this.#write(db, from, step);
    else if (kind < 9) await tried(() => db.delete(keyOf(nth)));
    else if (kind < 11) {
      lazyTotals.syncs += 1;
      await tried<unknown>(() => (from.below(2) === 0 ? link.pull() : link.push()));
    } else if (from.below(3) === 0) await this.stop();
    else if (from.below(2) === 0) {
      lazyTotals.collections += 1;
      const collected = await tried(() => link.collect({ graceMs: this.#options.graceMs }));
      lazyTotals.deleted += collected?.deleted.objects ?? 0;
    } else await verified(db);
  }

  async #scan(db: Store, nth: number, reverse: boolean): Promise<void> {
    lazyTotals.reads += 1;
    const range = { [reverse ? 'lte' : 'gte']: keyOf(nth), limit: 40, reverse };
    const rows = (await tried(() => db.scan(range).toArray())) ?? [];
    const keys = rows.map(([key]) => key);
    expect(keys).toEqual([...new Set(keys)].sort((a, b) => (a < b === reverse ? 1 : -1)));
    for (const [key, value] of rows) this.#world.expectRow(Number(key.slice(6)), value);
  }

  async #write(db: Store, from: Random, step: number): Promise<void> {
    lazyTotals.writes += 1;
    const { name, mode } = this.#options;
    // Many rows soon make a checkpoint, and garbage of the checkpoint before.
    const most = mode === 'full' && from.below(2) === 0 ? this.#world.rows : 5;
    const rows = Array.from({ length: 1 + from.below(most) }, () =>
      this.#world.written(from.below(this.#world.rows), `${name} ${step}`),
    );
    await tried(() => db.putMany(rows));
  }
}

/** Checks that the local data is sound, and that a collection of the store leaves it. */
async function verified(db: Store): Promise<void> {
  const { ok, rows, remoteRows } = await db.health.verify();
  expect(ok).toBe(true);
  expect(rows + remoteRows).toBe(await db.count());
  await db.health.compact();
}

/** Returns `undefined` if a call fails with an expected code. */
async function tried<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (cause) {
    if (!(cause instanceof HedgerowError)) throw cause;
    expect(EXPECTED).toContain(kindOf(cause));
    lazyTotals.failures += 1;
    return undefined;
  }
}
