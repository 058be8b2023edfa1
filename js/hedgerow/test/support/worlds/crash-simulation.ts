/**
 * The lives of a simulated store: tabs work on it at random until everything stops, and then the surviving state is
 * checked. It does not use Vitest, so `scripts/long/simulate.mjs` can run it by the million.
 */
import { buildKeyRange } from '../../../src/base/range.js';
import { HedgerowError, memory, open, type Store } from '../../../src/index.js';
import type { Durability } from '../../../src/storage/segment-store.js';
import type { Connection } from '../doubles/simulated-connection.js';
import { PLAIN, Sealing } from '../doubles/simulated-sealing.js';
import { type Crash, type Remains, World } from '../doubles/simulated-storage.js';
import { inRealTime, quiet, tick, virtualTime } from '../doubles/virtual-time.js';
import { type Random, random } from '../random.js';
import { expectSame, isDamage, judge, readWhatIsLeft } from './simulated-judge.js';
import { inOrder, Line, type Rows, withPuts } from './simulated-line.js';
import { Tally } from './simulated-tally.js';

export { Tally };

const NOISE = random(99).bytes(1 << 20);
const BOTH: readonly Durability[] = ['relaxed', 'strict'];
const REAL_LIMIT_MS = 60_000;

/** A tab: a handle and its connection to the storage. */
type Tab = { readonly db: Store; readonly connection: Connection };

class Simulation {
  readonly #from: Random;
  readonly #world: World;
  readonly #tally: Tally;
  readonly #durability: 'relaxed' | 'strict' | 'mixed';
  /** Whether rows are large enough to be written before the last transaction, in some seeds. */
  readonly #isLarge: boolean;
  readonly #lines: readonly Line[];
  #stamp = 0;
  #form = PLAIN;

  constructor(seed: number, tally: Tally) {
    this.#from = random(seed);
    this.#world = new World(this.#from);
    this.#tally = tally;
    this.#durability = this.#from.pick(['relaxed', 'strict', 'mixed']);
    this.#isLarge = this.#from.below(30) === 0;
    // Only a single line may clear the store.
    const prefixes = this.#from.below(3) === 0 ? [''] : ['a', 'b', 'c', 'd'];
    this.#lines = prefixes.map((prefix) => new Line(prefix));
  }

  async run(isSealed: boolean): Promise<void> {
    const from = this.#from;
    if (isSealed) this.#form = await Sealing.of(this.#world);
    const restore = virtualTime(from, () => this.#world.life);
    try {
      await inRealTime(REAL_LIMIT_MS, this.#live());
    } finally {
      // Background work, such as a collection, is not awaited.
      this.#world.end();
      await inRealTime(REAL_LIMIT_MS, quiet()).finally(restore);
      this.#form.end();
      this.#tally.seeds += 1;
      this.#tally.transactions += this.#world.transactions;
      this.#tally.events += this.#world.events;
    }
  }

  async #live(): Promise<void> {
    const from = this.#from;
    const lives = 1 + from.below(3);
    for (let life = 0; life < lives; life++) {
      const remains = await this.#work();
      if (!(await this.#lookAt(remains))) return;
    }
  }

  /** The store's own durability. */
  get #ownDurability(): Durability {
    return this.#durability === 'strict' ? 'strict' : 'relaxed';
  }

  async #openTab(): Promise<Tab> {
    const { below, pick } = this.#from;
    const connection = this.#world.connect();
    const db = await open('test', {
      storage: {
        locks: connection.locks,
        open: async () => this.#form.over(await connection.opened()),
        destroy: async () => {},
      },
      durability: this.#ownDurability,
      advanced: { cacheBytes: pick([0, 64 << 20]), sliceMs: below(2) === 0 ? 1 : 8 },
    });
    return { db, connection };
  }

  /** Lets tabs work until everything stops; resolves to the remains, or to `undefined` if the tabs have all ended. */
  async #work(): Promise<Remains | undefined> {
    const from = this.#from;
    const tabs = this.#lines.length === 1 ? 1 : 1 + from.below(3);
    const stop = from.below(5) === 0 ? undefined : 1 + from.below(from.pick([12, 50, 200]));
    let hasStopped = false;
    const stopped =
      stop === undefined
        ? new Promise<void>(() => {})
        : this.#world.crashAfter(stop).then(() => {
            hasStopped = true;
          });
    const shares = Array.from({ length: tabs }, (_, tab) =>
      this.#lines.filter((_, at) => at % tabs === tab),
    );
    const work = Promise.all(shares.map((lines) => this.#runTab(lines)));
    await Promise.race([stopped, work]);
    this.#world.crashNever();
    if (!hasStopped && from.below(2) === 0) return undefined;
    const kind: Crash = from.below(2) === 0 ? 'process' : 'power';
    this.#tally[kind === 'process' ? 'processCrashes' : 'powerCrashes'] += 1;
    return this.#world.crash(kind);
  }

  async #runTab(lines: readonly Line[]): Promise<void> {
    const { db, connection } = await this.#inLife(this.#openTab());
    const killed = this.#from.below(5) === 0 ? this.#kill(connection) : new Promise<void>(() => {});
    const run = async () => {
      await Promise.all(lines.map((line) => this.#runLine(db, line)));
      if (this.#from.below(3) === 0) await db.close();
    };
    for (const line of lines) Object.assign(line, { isSettled: false, tab: connection });
    const settle = () => {
      if (!connection.isKilled) for (const line of lines) line.isSettled = true;
    };
    await Promise.race([run().then(settle), killed]);
  }

  /** Kills a tab some time from now. */
  async #kill(connection: Connection): Promise<void> {
    const { life } = this.#world;
    for (let turns = this.#from.below(60); turns > 0; turns--) await tick();
    if (this.#world.life !== life) return;
    connection.kill();
    this.#tally.killedTabs += 1;
  }

  async #runLine(db: Store, line: Line): Promise<void> {
    const calls = 1 + this.#from.below(4);
    for (let call = 0; call < calls; call++) {
      this.#tally.calls += 1;
      await this.#inLife(this.#call(db, line), line);
      if (this.#from.below(4) === 0) await this.#inLife(this.#read(db, line), line);
    }
  }

  /** Settles with `call`, but never if its process is gone by then. */
  async #inLife<T>(call: Promise<T>, line?: Line): Promise<T> {
    const { life } = this.#world;
    const settled = await call.then(
      (value) => ({ value }),
      (cause: unknown) => ({ cause }),
    );
    if (this.#world.life !== life || line?.tab?.isKilled === true) await new Promise(() => {});
    if ('cause' in settled) throw settled.cause;
    return settled.value;
  }

  /** Reads the rows that the tab itself has written to its line. */
  async #read(db: Store, line: Line): Promise<void> {
    const from = this.#from;
    const keys = [...line.rows.keys(), `${line.prefix}none`];
    const key = from.pick(keys);
    const value = from.below(2) === 0 ? await db.get(key) : (await db.getMany([key]))[0];
    expectSame(value, line.rows.get(key), `row ${key}`);
    const range = buildKeyRange({ prefix: line.prefix });
    if (from.below(2) === 0) expectSame(await db.count(range), line.rows.size, 'count');
    else expectSame(new Map(await db.scan(range).toArray()), new Map(inOrder(line.rows)), 'scan');
  }

  #key(line: Line): string {
    return line.prefix + this.#from.below(this.#from.pick([6, 40]));
  }

  #value(): unknown {
    const from = this.#from;
    const stamp = this.#stamp++;
    const kind = from.below(12);
    // A value stored out of line.
    if (kind === 0) return NOISE.slice(stamp, stamp + 5000 + from.below(20_000));
    if (kind < 3) return NOISE.slice(stamp, stamp + from.below(200));
    // Few values, so that some calls change no row.
    return kind < 6 ? from.below(3) : { stamp, text: 'x'.repeat(from.below(80)) };
  }

  #entries(line: Line, most: number): [string, unknown][] {
    const count = this.#from.below(most + 1);
    return Array.from({ length: count }, () => [this.#key(line), this.#value()]);
  }

  #durabilityOfCall(): { durability: Durability } {
    const { pick } = this.#from;
    const durability = this.#durability === 'mixed' ? pick(BOTH) : this.#durability;
    return { durability };
  }

  /** Awaits a call that leads to `rows`. */
  async #made(
    line: Line,
    call: Promise<unknown>,
    durability: Durability,
    rows: Rows,
  ): Promise<void> {
    const done = line.begin(this.#world.generation, rows);
    await this.#inLife(call, line);
    done(this.#world.generation, durability === 'strict');
  }

  async #call(db: Store, line: Line): Promise<void> {
    const from = this.#from;
    const options = this.#durabilityOfCall();
    const rows = new Map(line.rows);
    switch (this.#isLarge ? from.pick([0, 3, 3, 6, 10]) : from.below(12)) {
      case 0:
      case 1:
      case 2:
        return this.#edits(db, line);
      case 3: {
        const puts = this.#large(line) ?? this.#entries(line, 12);
        return this.#made(
          line,
          db.putMany(puts, options),
          options.durability,
          withPuts(rows, puts),
        );
      }
      case 4: {
        const puts = this.#entries(line, 12).filter(([, value]) => !ArrayBuffer.isView(value));
        const text = puts.map((entry) => JSON.stringify(entry)).join('\n');
        const bytes = new TextEncoder().encode(text);
        return this.#made(
          line,
          db.putMany(bytes, options),
          options.durability,
          withPuts(rows, puts),
        );
      }
      case 5: {
        const puts = this.#entries(line, 12);
        const source = async function* () {
          for (const entry of puts) {
            if (from.below(3) === 0) await tick();
            yield entry;
          }
        };
        return this.#made(
          line,
          db.putMany(source(), options),
          options.durability,
          withPuts(rows, puts),
        );
      }
      case 6: {
        const keys = Array.from({ length: from.below(10) }, () => this.#key(line));
        for (const key of keys) rows.delete(key);
        return this.#made(line, db.deleteMany(keys, options), options.durability, rows);
      }
      case 7: {
        const bound = this.#key(line);
        for (const key of rows.keys()) if (key >= bound) rows.delete(key);
        const range = buildKeyRange({ prefix: line.prefix, gte: bound });
        return this.#made(line, db.deleteMany(range, options), options.durability, rows);
      }
      case 8:
        if (line.prefix === '') return this.#made(line, db.clear(), this.#ownDurability, new Map());
        return this.#made(
          line,
          db.deleteMany({ prefix: line.prefix }, options),
          options.durability,
          new Map(),
        );
      case 9:
        return this.#writer(db, line);
      case 10:
        return this.#aborted(db, line);
      default: {
        // Of several tabs one collects.
        const collected = await db.health.compact().catch((cause: unknown) => {
          if (!(cause instanceof HedgerowError && cause.code === 'blocked')) throw cause;
        });
        this.#tally.segmentsCollected += collected?.segmentsDeleted ?? 0;
      }
    }
  }

  #large(line: Line): [string, unknown][] | undefined {
    if (!this.#isLarge) return undefined;
    const bytes = () => {
      const at = this.#from.below(NOISE.length - 60_000);
      return NOISE.slice(at, at + 60_000);
    };
    return Array.from({ length: 12 }, (_, at) => [`${line.prefix}${at}`, bytes()]);
  }

  /** Makes some edits that do not wait for each other. */
  async #edits(db: Store, line: Line): Promise<void> {
    const from = this.#from;
    const calls: Promise<void>[] = [];
    for (let edit = from.below(4); edit >= 0; edit--) {
      const rows = new Map(line.rows);
      const key = this.#key(line);
      if (from.below(3) === 0) {
        rows.delete(key);
        calls.push(this.#made(line, db.delete(key), this.#ownDurability, rows));
      } else {
        const value = this.#value();
        rows.set(key, value);
        calls.push(this.#made(line, db.put(key, value), this.#ownDurability, rows));
      }
      if (from.below(3) === 0) await this.#inLife(tick(), line);
    }
    await Promise.all(calls);
  }

  async #writer(db: Store, line: Line): Promise<void> {
    const puts = this.#entries(line, 9);
    const commitEvery = this.#from.pick([2, 3, Number.POSITIVE_INFINITY]);
    const steps: Rows[] = [];
    for (let at = 0; at < puts.length; at += Math.min(commitEvery, puts.length)) {
      const before = steps.at(-1) ?? line.rows;
      steps.push(withPuts(new Map(before), puts.slice(at, at + commitEvery)));
    }
    const done = line.begin(this.#world.generation, ...steps);
    const options = this.#durabilityOfCall();
    const writer = db.writer({ commitEvery, ...options });
    for (const [key, value] of puts) if (!writer.tryPut(key, value)) await writer.put(key, value);
    await this.#inLife(writer.close(), line);
    done(this.#world.generation, options.durability === 'strict');
  }

  /** Aborts a load midway, unless the load ends first. */
  async #aborted(db: Store, line: Line): Promise<void> {
    const from = this.#from;
    const puts = this.#large(line) ?? this.#entries(line, 12);
    const controller = new AbortController();
    const done = line.begin(this.#world.generation, withPuts(new Map(line.rows), puts));
    const options = this.#durabilityOfCall();
    const call = db.putMany(puts, { signal: controller.signal, ...options });
    // Handles the rejection at once, so that it is never reported as unhandled.
    const settled = call.then(
      () => undefined,
      (cause: unknown) => cause,
    );
    for (let turns = from.below(20); turns > 0; turns--) await this.#inLife(tick(), line);
    controller.abort();
    const cause = await this.#inLife(settled, line);
    if (cause === undefined) {
      done(this.#world.generation, options.durability === 'strict');
      return;
    }
    if (!(cause instanceof HedgerowError && cause.code === 'aborted')) throw cause;
    line.undo(this.#world.generation);
  }

  /** Opens the store again; `false` if some rows are gone. */
  async #lookAt(remains: Remains | undefined): Promise<boolean> {
    // Strict writes are never torn: a store with strict writes only is whole.
    const isDamaged = remains?.isDamaged === true && this.#durability !== 'strict';
    if (isDamaged) this.#tally.damaged += 1;
    const generation = this.#world.generation;
    if (remains !== undefined && generation < remains.least) {
      throw new Error(`generation ${generation} is left of ${remains.least}`);
    }
    let db: Store | undefined;
    try {
      ({ db } = await this.#openTab());
      const commit = await this.#form.storedCommit(db.root);
      if (!this.#world.isCommit(commit)) throw new Error(`nobody made the commit ${db.root}`);
      const entries = await db.scan().toArray();
      this.#tally.rowsRead += entries.length;
      judge(this.#lines, entries, generation, remains === undefined);
      for (const line of this.#lines) {
        const own = entries.filter(([key]) => key.startsWith(line.prefix));
        line.resume(new Map(own), generation, remains?.kind === 'power');
      }
      return true;
    } catch (cause) {
      if (!isDamaged || !isDamage(cause)) throw cause;
      this.#tally.toldOf += 1;
      if (db === undefined) return false;
      const intact = this.#world.intact(await this.#form.storedCommit(db.root));
      await readWhatIsLeft(this.#lines, this.#form.storage(intact), db, generation);
      return false;
    }
  }
}

let warm: Promise<void> | undefined;

/** Runs the lives of a seed, of an encrypted store if `isSealed`; rejects with the fault. */
export async function simulate(seed: number, tally: Tally, isSealed = false): Promise<void> {
  // The module is compiled once, which takes its time.
  warm ??= open('warm', { storage: memory() }).then((db) => db.close());
  await warm;
  await new Simulation(seed, tally).run(isSealed);
}
