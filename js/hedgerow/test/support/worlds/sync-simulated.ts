/** Devices that crash, and edits on them: for the simulations of sync. */
import { expect } from 'vitest';
import { hex } from '../../../src/base/hex.js';
import { UnfinishedChanges } from '../../../src/engine/read/unfinished-changes.js';
import { HedgerowError, memory, open, type Storage, type Store } from '../../../src/index.js';
import type { BucketConnection } from '../../../src/sync/link/bucket-connection.js';
import type { ConflictPolicy } from '../../../src/sync/link/conflict-policy.js';
import {
  type BucketOptions,
  createBucketConnection,
} from '../../../src/sync/link/open-bucket-connection.js';
import type { Remote } from '../../../src/sync/remote/index.js';
import { kindOf } from '../error-kind.js';
import type { Random } from '../random.js';
import { headOf } from '../remote-store.js';

/** Counts of calls, failures and crashes of the devices. */
export const deviceTotals = { calls: 0, failures: 0, crashes: 0 };

/** A storage whose writes fail from one on, as in a crash, until it is started again. */
class Crashing {
  readonly #inner = memory();
  left = Number.POSITIVE_INFINITY;

  readonly storage: Storage = {
    ...this.#inner,
    open: async (...call) => {
      const store = await this.#inner.open(...call);
      const { write } = store;
      store.write = async (batch) => {
        if (this.left-- <= 0)
          throw new HedgerowError('unavailable/disconnected', 'the device has crashed');
        return write.call(store, batch);
      };
      return store;
    },
  };
}

export class Device {
  readonly #name: string;
  readonly #remote: Remote;
  readonly #from: Random;
  readonly policy: ConflictPolicy;
  readonly #disk = new Crashing();
  #db: Store | undefined;
  #link: BucketConnection | undefined;
  readonly #options: BucketOptions;

  constructor(name: string, remote: Remote, from: Random, options: BucketOptions = {}) {
    this.#name = name;
    this.#remote = remote;
    this.#from = from;
    this.#options = options;
    this.policy = from.pick(['fields', 'remote', 'local'] as const);
  }

  async start(): Promise<void> {
    this.#disk.left = Number.POSITIVE_INFINITY;
    const db = await open(this.#name, { storage: this.#disk.storage });
    const { shared } = headOf(db);
    const host = {
      shared,
      branchName: 'main',
      durability: 'relaxed',
      changes: new UnfinishedChanges(),
    } as const;
    const rest = { check: () => {}, settle: () => {} };
    const options = { probe: false, policy: this.policy, ...this.#options };
    const tools = {
      sleep: async () => {},
      chance: () => this.#from.next(),
      random: (length: number) => this.#from.bytes(length),
    };
    this.#link = await createBucketConnection({ ...host, ...rest }, this.#remote, options, tools);
    this.#db = db;
  }

  get db(): Store {
    return this.#db as Store;
  }

  get link(): BucketConnection {
    return this.#link as BucketConnection;
  }

  /** Returns whether a call of the link succeeded. After it, the device may have crashed and started again. */
  async tries(call: () => Promise<unknown>): Promise<boolean> {
    const isDoomed = this.#from.below(6) === 0;
    if (isDoomed) this.#disk.left = this.#from.below(8);
    deviceTotals.calls += 1;
    try {
      await call();
      return true;
    } catch (cause) {
      if (!(cause instanceof HedgerowError)) throw cause;
      expect(EXPECTED).toContain(kindOf(cause));
      deviceTotals.failures += 1;
      return false;
    } finally {
      if (isDoomed) {
        deviceTotals.crashes += this.#disk.left < 0 ? 1 : 0;
        await this.#db?.close().catch(() => {});
        await this.start();
      }
    }
  }
}

/** Codes of errors that faults of a remote and of a disk may cause. */
const EXPECTED = [
  'offline',
  'remote/status',
  'remote/data',
  'conflict',
  'unavailable/disconnected',
  'rollback',
  // A bit of the version is flipped.
  'newer-version/format',
  'remote/gone',
];

export interface Value {
  readonly id: number;
}

/** All edits, and the edits that a later writer of the row had seen. */
export class Edits {
  readonly all = new Map<number, string>();
  readonly seen = new Set<number>();

  async edit({ db }: Device, from: Random, fillerBytes: number): Promise<void> {
    const key = `k${from.below(12)}`;
    const id = this.all.size + 1;
    const isDelete = from.below(5) === 0;
    // A transaction keeps other writes from between the read and the put.
    const before = await db.transaction(async (tx) => {
      const found = await tx.get<Value>(key);
      if (isDelete) tx.delete(key);
      // Data that does not deflate fills heads.
      else tx.put(key, { id, filler: hex(from.bytes(from.below(fillerBytes))) });
      return found;
    });
    if (before !== undefined) this.seen.add(before.id);
    if (!isDelete) this.all.set(id, key);
  }
}

export async function rowsOf(db: Store): Promise<[string, Value][]> {
  const rows: [string, Value][] = [];
  for await (const row of db.scan<Value>()) rows.push(row);
  return rows;
}
