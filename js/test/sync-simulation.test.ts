/**
 * Several devices and one remote that fails as networks and stores do, by a seed: latency, cuts, flipped bits, refused
 * and lost requests, answers that are lost after a write, stale heads. A device may crash at any write of its own
 * storage, too. When the faults end and all have synced, all have one state; and each edit is in it, was overwritten by
 * an edit of somebody who had seen it, or is in a log of conflicts.
 */
import { expect, it } from 'vitest';
import { hex } from '../src/base/hex.js';
import { HedgerowError, memory, open, type Storage, type Store } from '../src/index.js';
import { Changes } from '../src/read/changes.js';
import { faultyRemote } from '../src/remote/adapters/faulty.js';
import { memoryRemote, type Remote } from '../src/remote/index.js';
import { type Link, openLink } from '../src/sync/link.js';
import type { ConflictPolicy } from '../src/sync/policy.js';
import { type BeginStep, forSeeds, seedCount, seedsTo } from './property.js';
import type { Random } from './random.js';
import { headOf } from './remote-store.js';

const totals = {
  ...{ edits: 0, calls: 0, failures: 0, crashes: 0, faults: 0, races: 0, conflicts: 0 },
  ...{ logsPut: 0, logsRead: 0, checkpoints: 0 },
};

/** What kind of object it is, by its first bytes. */
const kindOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes.subarray(0, 4));

/** Counts the logs and packs that travel. */
function counted(remote: Remote): Remote {
  return {
    ...remote,
    async put(name, bytes, ...rest) {
      if (kindOf(bytes) === 'HDGL') totals.logsPut += 1;
      if (kindOf(bytes) === 'HDGP') totals.checkpoints += 1;
      return remote.put(name, bytes, ...rest);
    },
    async get(...call) {
      const bytes = await remote.get(...call);
      if (bytes && kindOf(bytes) === 'HDGL') totals.logsRead += 1;
      return bytes;
    },
  };
}

/** A storage whose writes fail from a certain one on, until it is started again: what a crash leaves. */
class Crashing {
  readonly #inner = memory();
  left = Number.POSITIVE_INFINITY;

  readonly storage: Storage = {
    ...this.#inner,
    open: async (...call) => {
      const store = await this.#inner.open(...call);
      const { write } = store;
      store.write = async (batch) => {
        if (this.left-- <= 0) throw new HedgerowError('disconnected', 'the device has crashed');
        return write.call(store, batch);
      };
      return store;
    },
  };
}

class Device {
  readonly #name: string;
  readonly #remote: Remote;
  readonly #from: Random;
  readonly policy: ConflictPolicy;
  readonly #disk = new Crashing();
  #db: Store | undefined;
  #link: Link | undefined;

  constructor(name: string, remote: Remote, from: Random) {
    this.#name = name;
    this.#remote = remote;
    this.#from = from;
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
      changes: new Changes(),
    } as const;
    const rest = { check: () => {}, settle: () => {} };
    const options = { probe: false, policy: this.policy };
    const tools = {
      sleep: async () => {},
      chance: () => this.#from.next(),
      random: (length: number) => this.#from.bytes(length),
    };
    this.#link = await openLink({ ...host, ...rest }, this.#remote, options, tools);
    this.#db = db;
  }

  get db(): Store {
    return this.#db as Store;
  }

  get link(): Link {
    return this.#link as Link;
  }

  /** Whether a call of the link succeeded. After it, the device may have crashed and started again. */
  async tries(call: () => Promise<unknown>): Promise<boolean> {
    const isDoomed = this.#from.below(6) === 0;
    if (isDoomed) this.#disk.left = this.#from.below(8);
    totals.calls += 1;
    try {
      await call();
      return true;
    } catch (cause) {
      if (!(cause instanceof HedgerowError)) throw cause;
      expect(EXPECTED).toContain(cause.code);
      totals.failures += 1;
      return false;
    } finally {
      if (isDoomed) {
        totals.crashes += this.#disk.left < 0 ? 1 : 0;
        await this.#db?.close().catch(() => {});
        await this.start();
      }
    }
  }
}

/** What faults of a remote and of a disk may end a call with. */
const EXPECTED = [
  'offline',
  'remote',
  'invalid-remote',
  'conflict',
  'disconnected',
  'rollback',
  // A bit of the version is flipped.
  'unsupported-format',
  'remote-gone',
];

interface Value {
  readonly id: number;
}

/** Which edits were overwritten by somebody who had seen them. */
class Edits {
  readonly all = new Map<number, string>();
  readonly seen = new Set<number>();

  async edit({ db }: Device, from: Random, fillerBytes: number): Promise<void> {
    const key = `k${from.below(12)}`;
    const id = this.all.size + 1;
    const isDelete = from.below(5) === 0;
    // One transaction: nothing comes between what was seen and what is put.
    const before = await db.transaction(async (tx) => {
      const found = await tx.get<Value>(key);
      if (isDelete) tx.delete(key);
      // What cannot be deflated fills heads.
      else tx.put(key, { id, filler: hex(from.bytes(from.below(fillerBytes))) });
      return found;
    });
    if (before !== undefined) this.seen.add(before.id);
    if (!isDelete) this.all.set(id, key);
  }
}

async function rowsOf(db: Store): Promise<[string, Value][]> {
  const rows: [string, Value][] = [];
  for await (const row of db.scan<Value>()) rows.push(row);
  return rows;
}

async function simulate(from: Random, seed: number, begin: BeginStep): Promise<void> {
  const inner = counted(memoryRemote());
  const chance = from.pick([0, 0.03, 0.12]);
  const chances = {
    ...{ offline: chance, cut: chance, flipped: chance, refused: chance, conflict: chance },
    ...{ lost: chance, landed: chance, stale: chance, missing: chance },
  };
  const remote = faultyRemote(inner, { seed, chances });
  const devices = Array.from({ length: 2 + from.below(3) }, (_, nth) => {
    return new Device(`device-${seed}-${nth}`, remote, from);
  });
  for (const device of devices) await device.start();
  const edits = new Edits();
  // Many short histories, some in which the tail gets long, and some of rows that fill heads, which have checkpoints.
  const isLong = from.below(40) === 0;
  const steps = isLong ? 200 + from.below(200) : 8 + from.below(from.pick([12, 24, 72]));
  // One may be away for a while, so that the others make logs and checkpoints.
  const back = from.pick([0, 0.7, 1]) * steps;
  const fillerBytes = isLong ? 2500 : from.pick([20, 400, 2500]);
  for (let step = 0; step < steps; step++) {
    const isAway = step < back && from.below(20) > 0;
    const nth = from.below(devices.length - (isAway ? 1 : 0));
    const device = devices[nth] as Device;
    const what = from.pick(['edit', 'edit', 'push', 'pull'] as const);
    begin({ step, nth, what, chance, policy: device.policy });
    if (what === 'edit') await edits.edit(device, from, fillerBytes);
    else await device.tries(() => device.link[what]());
  }
  remote.heal();
  begin('all sync without faults');
  // Each pushes what it has; then each has what the last one has pushed.
  for (const { link } of devices) totals.races += (await link.push()).races;
  for (const { link } of devices) await link.pull();
  const [first = [], ...others] = await Promise.all(devices.map(({ db }) => rowsOf(db)));
  for (const rows of others) expect(rows).toEqual(first);
  const accounted = new Set([...edits.seen, ...first.map(([, { id }]) => id)]);
  for (const { link } of devices) {
    for await (const { ours, theirs } of link.conflicts()) {
      totals.conflicts += 1;
      for (const side of [ours, theirs]) if (side !== undefined) accounted.add((side as Value).id);
    }
  }
  for (const [id, key] of edits.all)
    if (!accounted.has(id)) throw new Error(`edit ${id} of ${key} is lost`);
  totals.edits += edits.all.size;
  for (const count of remote.counts.values()) totals.faults += count;
  for (const { db } of devices) {
    expect(await db.verify()).toMatchObject({ ok: true });
    await db.close();
  }
}

it('of all seeds none loses an edit, and all devices end equal', async () => {
  const count = seedCount(2000);
  await forSeeds(count, simulate);
  console.log(`sync, ${seedsTo(count).length} seeds up to ${count}: ${JSON.stringify(totals)}`);
  // A simulation without any of these shows nothing.
  if (seedsTo(count).length >= 500)
    for (const total of Object.values(totals)) expect(total).toBeGreaterThan(10);
}, 3_600_000);
