/**
 * The lives of a store whose storage is full again and again: tabs work on the real IndexedDB adapter over an engine
 * that fails as real ones do (`../doubles/hostile-idb/engine.ts`). However the engine aborts a transaction, every
 * acknowledged row is there, at once and after each new start, and each failure is typed. It does not use Vitest, so
 * `scripts/long/simulate.mjs` can run it by the million.
 */
import { isDeepStrictEqual } from 'node:util';
import { type ErrorKind, HedgerowError, kindOfError } from '../../../src/base/errors.js';
import { localLocks } from '../../../src/base/local-locks.js';
import { memory, open, type Store } from '../../../src/index.js';
import { idb } from '../../../src/storage/idb/idb.js';
import '../../../src/storage/idb/free-store-space.js';
import { HostileEngine } from '../doubles/hostile-idb/engine.js';
import { install } from '../doubles/hostile-idb/install.js';
import type { Key } from '../doubles/hostile-idb/records.js';
import type { EngineKind } from '../doubles/hostile-idb/running.js';
import { inRealTime, quiet, virtualTime } from '../doubles/virtual-time.js';
import { type Random, random } from '../random.js';

/** Counts of events in some seeds. */
export class FullTally {
  seeds = 0;
  calls = 0;
  transactions = 0;
  quotaAborts = 0;
  /** Requests of aborted transactions that took effect. */
  partial = 0;
  /** Transactions that were reported as complete although requests of them failed. */
  falselyComplete = 0;
  lostConnections = 0;
  refused = 0;
  disconnected = 0;
  restarts = 0;
  /** Seeds that ended with a ballast. */
  ballasts = 0;
  rowsRead = 0;
}

type Rows = Map<string, unknown>;

const NAME = 'test';
const NOISE = random(7).bytes(1 << 20);
const REAL_LIMIT_MS = 60_000;
const LONG_MS = 3000;
/** With this factor stores of some 100 KiB have a ballast of one record or more. */
const MORE = 40;
const KINDS: readonly EngineKind[] = ['firefox', 'firefox', 'webkit', 'chromium'];
/** The allowed codes of errors of a full or lost storage. */
const ALLOWED: ReadonlySet<ErrorKind> = new Set(['quota-exceeded', 'unavailable/disconnected']);

/** The keys that only one tab writes. */
interface Line {
  readonly prefix: string;
  rows: Rows;
}

class FullSimulation {
  readonly #from: Random;
  readonly #tally: FullTally;
  readonly #engine: HostileEngine;
  readonly #lines: Line[];
  /** Whether there are branches, whose merge and deletion change several refs at once. */
  readonly #hasBranches: boolean;
  readonly #hasBallast: boolean;
  #isOver = false;
  #life = 0;
  #stamp = 0;

  constructor(seed: number, tally: FullTally) {
    this.#from = random(seed);
    this.#tally = tally;
    this.#engine = new HostileEngine(this.#from.pick(KINDS), this.#from);
    this.#engine.losing = this.#from.pick([0, 0, 0.002]);
    const tabs = 1 + this.#from.below(3);
    this.#lines = Array.from({ length: tabs }, (_, at) => ({ prefix: `${at}/`, rows: new Map() }));
    this.#hasBranches = this.#from.below(3) === 0;
    this.#hasBallast = this.#from.below(3) === 0;
  }

  async run(): Promise<void> {
    const restore = virtualTime(this.#from);
    const soon = globalThis.setTimeout;
    // Calls that must not hang have limits, counted in four parts. This drops their timers.
    const setTimeout = (run: () => void, ms = 0) => {
      const life = this.#life;
      // A process that has ended has no timers.
      const ring = () => {
        if (life === this.#life) run();
      };
      return ms < LONG_MS ? soon(ring, ms) : 0;
    };
    const uninstall = install(this.#engine);
    Object.assign(globalThis, { setTimeout });
    try {
      await inRealTime(REAL_LIMIT_MS, this.#live());
    } finally {
      this.#isOver = true;
      this.#end();
      await quiet();
      restore();
      uninstall();
      const { transactions, quotaAborts, partial, falselyComplete, lostConnections } =
        this.#engine.happened;
      const ballast = this.#engine.stored(`hedgerow-ballast/${NAME}`)?.get('segments');
      this.#tally.ballasts += ballast !== undefined && ballast.bytes > 0 ? 1 : 0;
      this.#tally.seeds += 1;
      this.#tally.transactions += transactions;
      this.#tally.quotaAborts += quotaAborts;
      this.#tally.partial += partial;
      this.#tally.falselyComplete += falselyComplete;
      this.#tally.lostConnections += lostConnections;
    }
  }

  async #live(): Promise<void> {
    const from = this.#from;
    for (let life = 1 + from.below(3); life > 0; life--) {
      const locks = localLocks();
      const storage = { ...this.#idb(), isShared: false, locks };
      let calls = 0;
      const run = async (line: Line) => {
        const db = await this.#open(storage);
        for (let call = 2 + from.below(8); call > 0; call--) {
          this.#changeQuota();
          calls += 1;
          await this.#call(db, line);
        }
        if (from.below(2) === 0) await db.close();
      };
      await Promise.all(this.#lines.map(run));
      this.#tally.calls += calls;
      // The process ends, and its background work with it.
      this.#end();
      await quiet();
      this.#tally.restarts += 1;
      await this.#lookAt();
    }
    if (this.#engine.happened.heard > 0) throw new Error('a failure came as far as the database');
  }

  /** Returns the adapter; with a ballast, it takes the stored bytes for `MORE` times as many. */
  #idb(): ReturnType<typeof idb> {
    const storage = idb();
    if (!this.#hasBallast) return storage;
    const open: typeof storage.open = async (...call) => {
      const store = await storage.open(...call);
      const keep = store.upkeep?.bind(store);
      return Object.assign(store, {
        upkeep: (bytes: number, isAtRest: boolean) => keep?.(MORE * bytes, isAtRest),
      });
    };
    return { ...storage, open };
  }

  /** Ends the process. */
  #end(): void {
    this.#life += 1;
    this.#engine.end();
  }

  async #open(storage: ReturnType<typeof idb>): Promise<Store> {
    // A new store needs a little room.
    if (this.#engine.stored(`hedgerow/${NAME}`) === undefined) this.#engine.quota = Infinity;
    for (;;) {
      try {
        return await open(NAME, {
          storage,
          advanced: { cacheBytes: this.#from.pick([0, 64 << 20]) },
        });
      } catch (cause) {
        this.#refused(cause);
      }
    }
  }

  /** Changes the quota: the storage has little or no room left, or has room again. */
  #changeQuota(): void {
    const { used } = this.#engine;
    const { below } = this.#from;
    switch (below(4)) {
      case 0:
        this.#engine.quota = used + below(20_000);
        break;
      case 1:
        this.#engine.quota = used + below(600_000);
        break;
      case 2:
        this.#engine.quota = Number.POSITIVE_INFINITY;
    }
  }

  /** Counts an allowed failure; throws any other. */
  #refused(cause: unknown): string {
    if (!(cause instanceof HedgerowError && ALLOWED.has(kindOfError(cause)))) throw cause;
    if (cause.code === 'quota-exceeded') this.#tally.refused += 1;
    else this.#tally.disconnected += 1;
    return kindOfError(cause);
  }

  /** Makes one change of a line, and checks its outcome. */
  async #call(db: Store, line: Line): Promise<void> {
    const { rows: after, run } = this.#change(db, line);
    let code: string | undefined;
    try {
      await run();
    } catch (cause) {
      code = this.#refused(cause);
    }
    if (this.#isOver) return;
    if (code === undefined) line.rows = after;
    // A lost connection leaves open whether the change was made.
    if (code === 'unavailable/disconnected')
      line.rows = await this.#found(db, line, [line.rows, after]);
    else if (code !== undefined || this.#from.below(4) === 0) {
      await this.#found(db, line, [line.rows]);
    }
  }

  /** Returns the rows of a line, which must be one of `allowed`. */
  async #found(db: Store, { prefix }: Line, allowed: readonly Rows[]): Promise<Rows> {
    for (let tries = 0; ; tries++) {
      try {
        const found = new Map(await db.scan({ prefix }).toArray());
        this.#tally.rowsRead += found.size;
        const state = allowed.find((rows) => isDeepStrictEqual(found, new Map(inOrder(rows))));
        if (state !== undefined) return state;
        const list = (rows: Rows) =>
          inOrder(rows)
            .map(([key]) => key)
            .join(' ');
        throw new Error(`found ${list(found)}; not ${allowed.map(list).join(' or ')}`);
      } catch (cause) {
        if (tries === 20) throw cause;
        this.#refused(cause);
      }
    }
  }

  #value(bytes: number): unknown {
    const stamp = this.#stamp++;
    const at = (stamp * 997) % (NOISE.length - bytes);
    return bytes > 0 ? NOISE.slice(at, at + bytes) : { stamp };
  }

  #change(db: Store, line: Line): { rows: Rows; run: () => Promise<unknown> } {
    const from = this.#from;
    const rows = new Map(line.rows);
    const key = () => line.prefix + from.below(12);
    const puts = (count: number, bytes: number) => {
      const made = Array.from({ length: count }, () => [key(), this.#value(bytes)] as const);
      for (const [name, value] of made) rows.set(name, value);
      return made;
    };
    const kind = from.below(this.#hasBranches ? 13 : 11);
    switch (kind) {
      case 0:
      case 1:
      case 2: {
        // Its move carries it, or it is too large for that.
        const made = puts(1, from.pick([0, 200, 9_000, 60_000]));
        return { rows, run: () => Promise.all(made.map(([name, value]) => db.put(name, value))) };
      }
      case 3: {
        const made = puts(1 + from.below(4), from.pick([0, 3_000]));
        return { rows, run: () => db.putMany(made) };
      }
      case 4: {
        // Segments that are written before the last transaction.
        const made = puts(12, 60_000);
        const durability = from.pick(['relaxed', 'strict'] as const);
        return { rows, run: () => db.putMany(made, { durability }) };
      }
      case 5: {
        const name = key();
        rows.delete(name);
        return { rows, run: () => db.delete(name) };
      }
      case 6: {
        const names = [key(), key(), key()];
        for (const name of names) rows.delete(name);
        return { rows, run: () => db.deleteMany(names) };
      }
      case 7: {
        rows.clear();
        return { rows, run: () => db.deleteMany({ prefix: line.prefix }) };
      }
      case 8: {
        const made = puts(2, 100);
        const run = () =>
          db.transaction((tx) => {
            for (const [name, value] of made) tx.put(name, value);
          });
        return { rows, run };
      }
      case 9:
      case 10: {
        // Of several tabs one collects.
        const isOther = (cause: unknown) =>
          cause instanceof HedgerowError && cause.code === 'blocked';
        const run = () =>
          db.health.compact().catch((cause: unknown) => {
            if (!isOther(cause)) throw cause;
          });
        return { rows, run };
      }
      default: {
        const name = `b${line.prefix[0]}`;
        const made = puts(2, 500);
        return { rows, run: () => this.#throughBranch(db, name, made) };
      }
    }
  }

  /** Puts rows into a branch, merges it and deletes it: changes of several refs at once. */
  async #throughBranch(
    db: Store,
    name: string,
    puts: readonly (readonly [string, unknown])[],
  ): Promise<void> {
    const room = this.#engine.quota;
    this.#engine.quota = Number.POSITIVE_INFINITY;
    const isThere = (await db.branches.list()).some((branch) => branch.name === name);
    if (isThere) await db.branches.delete(name);
    const branch = await db.branches.open(name);
    try {
      for (const [key, value] of puts) await branch.put(key, value);
      this.#engine.quota = room;
      await db.branches.merge(name, { onConflict: ({ theirs }) => theirs });
    } finally {
      await branch.close();
    }
    await db.branches.delete(name).catch((cause: unknown) => this.#refused(cause));
  }

  /** Opens the store again: it has exactly the acknowledged rows, and all of it is whole. */
  async #lookAt(): Promise<void> {
    const storage = { ...idb(), isShared: false, locks: localLocks() };
    const db = await this.#open(storage);
    for (const line of this.#lines) await this.#found(db, line, [line.rows]);
    for (let tries = 0; ; tries++) {
      try {
        const { faults } = await db.health.verify();
        if (faults.length > 0) throw new Error(`verify finds ${JSON.stringify(faults)}`);
        break;
      } catch (cause) {
        if (tries === 20) throw cause;
        this.#refused(cause);
      }
    }
    this.#checkRecords();
    this.#engine.end();
    await quiet();
  }

  /** Checks that each table has its segment, and that no segment lacks its first piece or a middle one. */
  #checkRecords(): void {
    const stores = this.#engine.stored(`hedgerow/${NAME}`);
    const keysOf = (store: string) =>
      (stores?.get(store)?.select(undefined) ?? []).map(({ key }) => key);
    const pieces = new Map<Key | undefined, number>();
    const tables = new Set(keysOf('tables'));
    for (const key of keysOf('segments')) {
      const owner = Array.isArray(key) ? key[0] : key;
      const before = pieces.get(owner) ?? 0;
      // Pieces without a table are only unused bytes.
      if (tables.has(owner) && Array.isArray(key) && key[1] !== before) {
        throw new Error(`of the segment ${owner} the piece ${before} is missing`);
      }
      pieces.set(owner, before + 1);
    }
    const ghost = [...tables].find((id) => !pieces.has(id));
    if (ghost !== undefined) throw new Error(`the table ${ghost} has no segment`);
  }
}

function inOrder(rows: Rows): [string, unknown][] {
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
}

let warm: Promise<void> | undefined;

/** Compiles the module and loads its later parts once: no seed determines how long that takes. */
async function warmUp(): Promise<void> {
  const db = await open('warm', { storage: memory() });
  const branch = await db.branches.open('b');
  await branch.put('a', 1);
  await db.branches.merge('b');
  await db.health.verify();
  await db.health.compact();
  await db.close();
}

/** Runs the lives of a seed; rejects with the fault. */
export async function simulateFull(seed: number, tally: FullTally): Promise<void> {
  warm ??= warmUp();
  await warm;
  await new FullSimulation(seed, tally).run();
}
