/**
 * Storage at the browser's own quota: writes and deletes rows, and writes on when there is no room any more.
 * Acknowledged rows must be there, now and in another start of the browser; deletions must work, and make room.
 */
import { destroy, open, type Store } from 'hedgerow';
import { mix, textOf } from './script.js';
import { Calls } from './settling.js';

export interface FullPlan {
  readonly store: string;
  readonly seed: number;
  /** Changes that are made after the first one without room. */
  readonly changes: number;
  /** Bytes that are loaded first. */
  readonly loadBytes: number;
}

/** A row by the number from which its value follows, and its length. */
type Row = readonly [key: string, stamp: number, length: number];

/** The rows of a store, and keys whose rows are unknown since an answer was lost. */
export interface Held {
  readonly rows: readonly Row[];
  readonly unsure: readonly string[];
}

export interface Filled extends Held {
  readonly problems: string[];
  readonly codes: Readonly<Record<string, number>>;
  /** Changes until the first that found no room; failed and successful ones after it. */
  readonly until: number;
  readonly refused: number;
  readonly made: number;
  /** The longest time of a failure for lack of room, in milliseconds. */
  readonly slowestMs: number;
  /** The outcomes of deletions without room, and of puts after them. */
  readonly emptied: readonly string[];
  /** Records of the ballast before that. */
  readonly ballast: number;
}

const MOST_CHANGES = 4000;
const MIB = 1 << 20;
const LOAD_BATCH = 8 * MIB;
const LOAD_LENGTH = 400_000;
const isBytes = (length: number) => length % 2 === 0;

function contentOf([key, stamp, length]: Row): unknown {
  const text = textOf(mix(stamp, key.length), Math.min(length, 500_000));
  if (!isBytes(length)) return { stamp, text };
  const bytes = new Uint8Array(length);
  let state = stamp + 1;
  for (let at = 0; at < length; at++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

function isValue(found: unknown, row: Row): boolean {
  const expected = contentOf(row);
  if (expected instanceof Uint8Array) {
    return (
      found instanceof Uint8Array &&
      found.length === expected.length &&
      found.every((byte, at) => byte === expected[at])
    );
  }
  return JSON.stringify(found) === JSON.stringify(expected);
}

class Filling {
  readonly calls = new Calls();
  readonly rows = new Map<string, Row>();
  readonly unsure = new Set<string>();
  readonly #plan: FullPlan;
  readonly #db: Store;
  #state: number;
  #stamp = 0;
  slowestMs = 0;

  constructor(plan: FullPlan, db: Store) {
    this.#plan = plan;
    this.#db = db;
    this.#state = plan.seed;
  }

  #below(limit: number): number {
    this.#state = mix(this.#state, this.#plan.seed);
    return this.#state % limit;
  }

  #key(): string {
    return `row/${this.#below(this.#plan.loadBytes > 0 ? 6000 : 600)}`;
  }

  #row(length: number): Row {
    return [this.#key(), this.#stamp++, length];
  }

  #length(): number {
    const kind = this.#below(20);
    if (kind < 12) return 100 + this.#below(3000);
    if (kind < 18) return 20_000 + this.#below(40_000);
    return 200_000 + this.#below(1_300_000);
  }

  /** Makes one change. Returns its outcome. */
  async change(): Promise<string> {
    const kind = this.#below(24);
    if (kind < 12) {
      const row = this.#row(this.#length());
      return this.#made('put', [row], [], () => this.#db.put(row[0], contentOf(row)));
    }
    if (kind < 16) {
      const length = [300, 3000, 20_000][this.#below(3)]!;
      const rows = Array.from({ length: 1 + this.#below(60) }, () => this.#row(length + 1));
      const unique = [...new Map(rows.map((row) => [row[0], row])).values()];
      const entries = unique.map((row) => [row[0], contentOf(row)] as const);
      return this.#made('putMany', unique, [], () => this.#db.putMany(entries));
    }
    if (kind < 19) {
      const [one, other] = [this.#row(500), this.#row(9000)];
      const rows = one[0] === other[0] ? [other] : [one, other];
      return this.#made('transaction', rows, [], () =>
        this.#db.transaction((tx) => {
          for (const row of rows) tx.put(row[0], contentOf(row));
        }),
      );
    }
    if (kind < 22) {
      const key = this.#key();
      return this.#made('delete', [], [key], () => this.#db.delete(key));
    }
    if (kind < 23) return this.deleteRange(`row/${1 + this.#below(9)}${this.#below(10)}`);
    return this.#made('collect', [], [], () => this.#db.health.compact());
  }

  /** Loads large values. */
  async load(bytes: number): Promise<void> {
    const batch = Math.min(bytes, LOAD_BATCH);
    for (let loaded = 0; loaded < bytes; loaded += batch) {
      const rows = Array.from({ length: Math.ceil(batch / LOAD_LENGTH) }, (): Row => {
        const stamp = this.#stamp++;
        return [`row/${stamp}/loaded`, stamp, LOAD_LENGTH];
      });
      const entries = rows.map((row) => [row[0], contentOf(row)] as const);
      await this.#made('load', rows, [], () => this.#db.putMany(entries));
    }
  }

  deleteRange(prefix: string): Promise<string> {
    const gone = [...this.rows.keys()].filter((key) => key.startsWith(prefix));
    return this.#made('deleteMany', [], gone, () => this.#db.deleteMany({ prefix }));
  }

  async #made(
    name: string,
    puts: readonly Row[],
    deletes: readonly string[],
    call: () => Promise<unknown>,
  ): Promise<string> {
    const startMs = performance.now();
    const ending = await this.calls.ended(name, call);
    if (!('code' in ending)) {
      for (const row of puts) this.rows.set(row[0], row);
      for (const key of deletes) this.rows.delete(key);
      return 'right';
    }
    this.calls.allow(name, ending, ['quota-exceeded', 'disconnected']);
    if (ending.code === 'quota-exceeded') {
      this.slowestMs = Math.max(this.slowestMs, performance.now() - startMs);
    } else for (const key of [...puts.map(([key]) => key), ...deletes]) this.unsure.add(key);
    return ending.code;
  }

  /** Empties a store without room: deletions first, then puts. */
  async empty(): Promise<string[]> {
    const emptied: string[] = [];
    const note = async (name: string, ending: Promise<string>) => {
      emptied.push(`${name} ${await ending}`);
    };
    const first = [...this.rows.keys()].slice(0, 3);
    for (const key of first) {
      await note(
        'delete',
        this.#made('delete', [], [key], () => this.#db.delete(key)),
      );
    }
    const some = [...this.rows.keys()].slice(0, 20);
    await note(
      'keys',
      this.#made('keys', [], some, () => this.#db.deleteMany(some)),
    );
    await note('range', this.deleteRange('row/1'));
    await note(
      'collect',
      this.#made('collect', [], [], () => this.#db.health.compact()),
    );
    const puts = async (name: string, length: number) => {
      const row: Row = [`after/${this.#stamp}`, this.#stamp++, length];
      const put = () => this.#made('put', [row], [], () => this.#db.put(row[0], contentOf(row)));
      await note(
        name,
        withRoom(put, (ending) => ending === 'quota-exceeded'),
      );
    };
    await puts('put', 1001);
    await puts('put', 30_000);
    const all = [...this.rows.keys()];
    await note(
      'clear',
      this.#made('clear', [], all, () => this.#db.clear()),
    );
    await note(
      'collect',
      this.#made('collect', [], [], () => this.#db.health.compact()),
    );
    await puts('another put', 1001);
    await puts('another put', 30_000);
    await puts('large put', 300_000);
    return emptied;
  }

  get held(): Held {
    return { rows: [...this.rows.values()], unsure: [...this.unsure] };
  }
}

/** Pauses between looks for a ballast, in milliseconds, and the number of looks after which it no longer grows. */
const BALLAST_PAUSE_MS = 250;
const BALLAST_LOOKS = 20;

const ballastOf = ({ store }: Pick<FullPlan, 'store'>) => `hedgerow-ballast/${store}`;

/**
 * Waits until a store has the ballast for its size (`docs/reliability.md` has the sizes), or has at least half of it
 * and finds no room for more.
 */
async function hasBallast({ store, loadBytes }: FullPlan): Promise<boolean> {
  const name = ballastOf({ store });
  const wanted = Math.min(Math.floor(loadBytes / (4 * MIB)), 32);
  let records = 0;
  for (let looks = 0; looks < BALLAST_LOOKS; looks++) {
    const found = await recordsOf(name);
    if (found >= wanted) return true;
    if (found !== records) looks = 0;
    records = found;
    await new Promise((resolve) => setTimeout(resolve, BALLAST_PAUSE_MS));
  }
  return records >= wanted / 2;
}

/** Counts the records in the ballast of this name. */
async function recordsOf(name: string): Promise<number> {
  const databases = await indexedDB.databases();
  if (!databases.some((database) => database.name === name)) return 0;
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(name);
    // It was deleted in the meantime, and must not be made here.
    opening.onupgradeneeded = () => opening.transaction?.abort();
    opening.onerror = () => resolve(0);
    opening.onsuccess = () => {
      const db = opening.result;
      const count = db.transaction('segments').objectStore('segments').count();
      count.onsuccess = () => resolve(count.result);
      count.onerror = () => reject(count.error);
      db.onversionchange = () => db.close();
      db.close();
    };
  });
}

/** Fills storage, goes on, and on some seeds empties it. */
export async function fillUp(plan: FullPlan): Promise<Filled> {
  const db = await open(plan.store);
  const filling = new Filling(plan, db);
  const { calls } = filling;
  await filling.load(plan.loadBytes);
  // The ballast is made soon after a load, not in it.
  if (plan.loadBytes > 0 && !(await hasBallast(plan))) calls.problems.push('no ballast was taken');
  let until = 0;
  while ((await filling.change()) === 'right' && until < MOST_CHANGES) until += 1;
  if (until === MOST_CHANGES) calls.problems.push('there was room for all');
  let [refused, made] = [1, 0];
  for (let at = 0; at < plan.changes; at++) {
    if ((await filling.change()) === 'right') made += 1;
    else refused += 1;
  }
  // A full Firefox may refuse to open another database. Only WebKit's ballast matters.
  const ballast = await recordsOf(ballastOf(plan)).catch(() => 0);
  const emptied = plan.seed % 2 === 0 ? await filling.empty() : [];
  calls.problems.push(...(await differences(db, filling.held)));
  const { problems, codes } = calls;
  const { slowestMs } = filling;
  return { problems, codes, until, refused, made, slowestMs, emptied, ballast, ...filling.held };
}

/** The number and the pauses of requests for room when rows or a store are gone. */
const ROOM_TRIES = 40;
const ROOM_PAUSE_MS = 250;

/**
 * Tries until there is room: a browser counts files that it is about to delete, for seconds, and longer when it is
 * busy.
 */
async function withRoom<T>(put: () => Promise<T>, isRefused: (ending: T) => boolean): Promise<T> {
  let ending = await put();
  for (let tries = 1; isRefused(ending) && tries < ROOM_TRIES; tries++) {
    await new Promise((resolve) => setTimeout(resolve, ROOM_PAUSE_MS));
    ending = await put();
  }
  return ending;
}

/** Lists rows that a store should not have, and rows that it lacks. */
async function differences(db: Store, { rows, unsure }: Held): Promise<string[]> {
  const problems: string[] = [];
  const expected = new Map(rows.map((row) => [row[0], row]));
  for (const key of unsure) expected.delete(key);
  const calls = new Calls();
  const ending = await calls.ended('a scan', () => db.scan().toArray());
  if ('code' in ending) return [`a scan fails with ${ending.message}`, ...calls.problems];
  for (const [key, value] of ending.result) {
    if (unsure.includes(key)) continue;
    const row = expected.get(key);
    if (row === undefined) problems.push(`${key} is there, and should not be`);
    else if (!isValue(value, row)) problems.push(`${key} has another value`);
    expected.delete(key);
  }
  for (const key of expected.keys()) problems.push(`${key} was acknowledged and is gone`);
  const verified = await calls.ended('verify', () => db.health.verify());
  if ('code' in verified) problems.push(`verify fails with ${verified.message}`);
  else if (verified.result.faults.length > 0)
    problems.push(`${verified.result.faults.length} faults`);
  return [...problems.slice(0, 5), ...calls.problems];
}

/**
 * Checks in another start of the browser that all rows are there. Then deletes the store, and checks that there is
 * room.
 */
export async function checkFull({ store }: FullPlan, held: Held): Promise<string[]> {
  const calls = new Calls();
  const db = await open(store);
  const problems = await differences(db, held);
  await db.close();
  const gone = await calls.ended('destroy', () => destroy(store));
  if ('code' in gone) problems.push(`destroy fails with ${gone.message}`);
  const again = await open(store);
  const put = await withRoom(
    () => calls.ended('put', () => again.put('a', 1)),
    (ending) => 'code' in ending && ending.code === 'quota-exceeded',
  );
  if ('code' in put) problems.push(`no room when the store is gone: ${put.message}`);
  await again.close();
  return [...problems, ...calls.problems];
}
