/** The page of `tests/frozen.spec.ts`: a tab that is suspended in a role, or another one that goes on. */
import { type OpenOptions, open, type Snapshot, type Store } from 'hedgerow';

/** The work of a tab when it is suspended. */
export type RoleName =
  | 'index builder'
  | 'sum follower'
  | 'collector'
  | 'ballast maker'
  | 'queue holder'
  | 'snapshot holder'
  | 'loader'
  | 'reader';

/** The milliseconds of each call. */
export type Took = Record<string, number>;

interface Row {
  readonly at: number;
  readonly round: number;
  readonly tag: string;
  readonly text: string;
}

declare global {
  interface Window {
    suspended: typeof suspended;
  }
}

const ROWS = 20_000;
/** The prefix of the name of the database that keeps room for deletions. */
const BALLAST = 'hedgerow-ballast/';
const OPTIONS: Partial<Record<RoleName, OpenOptions>> = {
  'index builder': { indexes: { byTag: { path: '/tag' } } },
  'sum follower': { advanced: { sums: { total: { prefix: 'row/', sum: '/at' } } } },
};

let db: Store;
let role: RoleName = 'reader';
let snapshot: Snapshot | undefined;
let scan: AsyncIterator<[string, Row]> | undefined;
let calls: Promise<unknown>[] = [];
let loading: Promise<unknown> | undefined;

/** Returns about a hundred letters and digits that do not compress: a store of few bytes wants no ballast. */
function textOf(round: number, at: number): string {
  let [text, state] = ['', round * 1_000_003 + at + 1];
  while (text.length < 100) {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b_3c6d) + at + 1) | 0;
    text += (state >>> 0).toString(36);
  }
  return text;
}

function* rows(round: number, count = ROWS): Generator<[string, Row]> {
  for (let at = 0; at < count; at++) {
    yield [`row/${at + 100_000}`, { at, round, tag: `t${at % 7}`, text: textOf(round, at) }];
  }
}

/** Stops an attached debugger. */
const stopHere = new Function('debugger');

/**
 * Transactions of this tab that end only when it goes on: others wait for them, until the browser ends them after a
 * minute. Committing ones end without the tab.
 */
const underWay = new Set<IDBTransaction>();
/** Called before each transaction, and after its begin. */
const onTransaction = {
  before: (_stores: readonly string[], _mode: IDBTransactionMode | undefined) => {},
  begun: (_tx: IDBTransaction) => {},
};

const { transaction } = IDBDatabase.prototype;
IDBDatabase.prototype.transaction = function (stores, mode, options) {
  onTransaction.before([...stores], mode);
  const tx = transaction.call(this, stores, mode, options);
  underWay.add(tx);
  for (const end of ['complete', 'abort']) tx.addEventListener(end, () => underWay.delete(tx));
  onTransaction.begun(tx);
  return tx;
};

const { commit } = IDBTransaction.prototype;
IDBTransaction.prototype.commit = function () {
  commit.call(this);
  underWay.delete(this);
};

/** Stops as soon as no transaction is under way. */
function stopOutside(): void {
  if (underWay.size === 0) stopHere();
  else setTimeout(stopOutside, 0);
}

/** Whether a tab that was to stop at a write has done so. */
let hasStopped = false;

/**
 * Stops, when `isArmed`, where an object store is about to be written for the nth time from now on: in the middle of
 * the transaction, or before it. While another transaction is under way, stops before a later one.
 */
function stopAtWrite(isArmed: boolean, nth: number, isInside = false, store = 'segments'): void {
  let left = isArmed ? nth : Number.POSITIVE_INFINITY;
  const stops = (stores: readonly string[], mode: IDBTransactionMode | undefined) => {
    if (hasStopped || mode !== 'readwrite' || !stores.includes(store)) return false;
    left -= 1;
    hasStopped = left <= 0 && (isInside || underWay.size === 0);
    return hasStopped;
  };
  if (isInside) {
    onTransaction.begun = (tx) => {
      if (!stops([...tx.objectStoreNames], tx.mode)) return;
      tx.objectStore('segments').get(0);
      stopHere();
    };
  } else {
    onTransaction.before = (stores, mode) => {
      if (stops(stores, mode)) stopHere();
    };
  }
}

/** Stops in the middle of the transaction that makes the room for deletions. */
function stopAtBallast(): void {
  const { prototype } = IDBDatabase;
  const original = prototype.createObjectStore;
  prototype.createObjectStore = function (...args) {
    if (this.name.startsWith(BALLAST)) stopHere();
    return original.apply(this, args);
  };
}

/** Fills a store so that it wants a ballast, and makes sure that it has none yet. */
async function wantsBallast(name: string): Promise<void> {
  const filled = await open(name);
  await filled.putMany(rows(0, 2 * ROWS), { prefix: 'filled/' });
  await filled.close();
  for (const { name: database } of await indexedDB.databases()) {
    if (database?.startsWith(BALLAST)) await deleted(database);
  }
}

function deleted(database: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const deleting = indexedDB.deleteDatabase(database);
    deleting.onsuccess = () => resolve();
    deleting.onerror = () => reject(deleting.error);
  });
}

/** Stops when a lock is granted whose name has this end. */
function stopInLock(
  isArmed: boolean,
  end: string,
  stop: () => void = () => void setTimeout(stopOutside, 0),
): void {
  const request = navigator.locks.request.bind(navigator.locks) as (
    name: string,
    options: LockOptions,
    hold: (lock: Lock | null) => Promise<unknown>,
  ) => Promise<unknown>;
  let isDone = !isArmed;
  Object.assign(navigator.locks, {
    request: (name: string, options: LockOptions, hold: (lock: Lock | null) => Promise<unknown>) =>
      request(name, options, (lock) => {
        if (!isDone && name.endsWith(end)) {
          isDone = true;
          // The lock is held by then, and its work has begun.
          stop();
        }
        return hold(lock);
      }),
  });
}

/** Collects the garbage of a load; with a debugger, until that has stopped it. */
async function collect(isDebugged: boolean, isInside: boolean): Promise<void> {
  for (let round = 5; ; round++) {
    // The live segments are known at the next write, and the old ones are about to be deleted.
    stopAtWrite(isDebugged, 1, isInside);
    await db.health.compact();
    if (!isDebugged || hasStopped) return;
    stopAtWrite(false, 1);
    await db.putMany(rows(round));
  }
}

const increment = () =>
  db.transaction(async (tx) => {
    tx.put('count', ((await tx.get<number>('count')) ?? 0) + 1);
  });

/** The current step of `goOn`: the test names it when it waits for too long. */
let step = '';

async function timed(took: Took, what: string, call: () => Promise<unknown>): Promise<void> {
  const startMs = performance.now();
  step = what;
  await call();
  took[what] = Math.round(performance.now() - startMs);
}

const suspended = {
  /** Makes a store of some rows. */
  async make(name: string): Promise<void> {
    const made = await open(name);
    await made.putMany(rows(0));
    await made.close();
  },

  async open(name: string, as: RoleName): Promise<void> {
    role = as;
    db = await open(name, {
      ...OPTIONS[as],
      advanced: { cacheBytes: 0, ...OPTIONS[as]?.advanced },
    });
  },

  get store(): Store {
    return db;
  },

  get step(): string {
    return step;
  },

  /**
   * Opens the store and begins the work of the role. A debugger, if there is one, stops in the middle of it; without
   * one the work is in the middle when this resolves. `isInside`: in the middle of a transaction of IndexedDB.
   */
  async begin(name: string, as: RoleName, isDebugged: boolean, isInside: boolean): Promise<void> {
    if (as === 'index builder') stopInLock(isDebugged, '/indexing');
    // Between transactions: see the last test.
    if (as === 'sum follower') stopAtWrite(isDebugged, 1);
    if (as === 'queue holder')
      stopInLock(isDebugged, '/queue', () => stopAtWrite(true, 1, false, 'refs'));
    if (as === 'ballast maker') {
      await wantsBallast(name);
      stopAtBallast();
    }
    await suspended.open(name, as);
    switch (as) {
      case 'collector': {
        await db.putMany(rows(1));
        await db.putMany(rows(2));
        snapshot = db.snapshot();
        await db.putMany(rows(3));
        // The store collects by itself, too. After this no segment is dead until the next load is committed.
        await db.health.compact();
        await db.putMany(rows(4));
        const collecting = collect(isDebugged, isInside);
        collecting.catch(() => {});
        calls = [collecting];
        if (!isDebugged) await new Promise((resolve) => setTimeout(resolve, 20));
        return;
      }
      case 'ballast maker': {
        snapshot = db.snapshot();
        calls = [db.health.compact()];
        return;
      }
      case 'queue holder':
        loading = (async () => {
          for (let times = 0; times < 2000; times++) await increment();
        })();
        return;
      case 'snapshot holder':
      case 'reader': {
        snapshot = db.snapshot();
        await snapshot.count();
        if (as === 'reader') snapshot.close();
        scan = db.scan<Row>({ prefix: 'row/' })[Symbol.asyncIterator]();
        await scan.next();
        if (isDebugged) setTimeout(stopHere, 0);
        return;
      }
      case 'loader': {
        stopAtWrite(isDebugged, 4);
        const slow = async function* () {
          yield* rows(5, 200_000);
          await new Promise((resolve) => setTimeout(resolve, isDebugged ? 0 : 1000));
        };
        loading = db.putMany(slow(), { prefix: 'loaded/' });
        loading.catch(() => {});
        if (!isDebugged) await new Promise((resolve) => setTimeout(resolve, 300));
        return;
      }
    }
  },

  /** Resolves when all begun work has ended. */
  async rests(): Promise<void> {
    await Promise.allSettled(calls);
    await new Promise((resolve) => setTimeout(resolve, 500));
  },

  /** Increments as fast as it can, so that writers meet. Returns the longest time. */
  async meet(times: number): Promise<number> {
    let longest = 0;
    for (let at = 0; at < times; at++) {
      const startMs = performance.now();
      await increment();
      longest = Math.max(longest, performance.now() - startMs);
    }
    return longest;
  },

  /** Does everything that a tab may want next to a suspended one. Returns the time of each step. */
  async goOn(name: string, round: number): Promise<Took> {
    const took: Took = {};
    await timed(took, 'open', async () => (await open(name)).close());
    await timed(took, 'put', () => db.put(`put/${round}`, round));
    await timed(took, 'transaction', increment);
    await timed(took, 'get', () => db.get('row/100000'));
    if (role === 'index builder') {
      await timed(took, 'index', async () => {
        const found = await db.scan({ index: 'byTag', equals: 't3' }).toArray();
        if (found.length !== 2857) throw new Error(`${found.length} found by the index`);
      });
    }
    if (role === 'sum follower') {
      await timed(took, 'sum', async () => {
        const leaves = await db.sumTree('total').entries().toArray();
        if (leaves.length !== ROWS) throw new Error(`${leaves.length} leaves`);
      });
    }
    await timed(took, 'load', () => db.putMany(rows(round)));
    await timed(took, 'verify', async () => {
      const { ok, faults } = await db.health.verify();
      if (!ok) throw new Error(JSON.stringify(faults));
    });
    await timed(took, 'collect', () => db.health.compact());
    await timed(took, 'load again', () => db.putMany(rows(round + 1)));
    await timed(took, 'collect again', () => db.health.compact());
    await timed(took, 'close', () => db.close());
    return took;
  },

  /** Called when the tab goes on: checks that all its work ends, and is right. */
  async ends(round: number): Promise<string[]> {
    const wrong: string[] = [];
    const expect = (what: string, is: unknown, should: unknown) => {
      if (is !== should) wrong.push(`${what}: ${is} instead of ${should}`);
    };
    await Promise.allSettled(calls);
    await loading;
    if (snapshot !== undefined && role !== 'reader') {
      const rounds = new Set<number>();
      let count = 0;
      for await (const [, row] of snapshot.scan<Row>({ prefix: 'row/' })) {
        rounds.add(row.round);
        count += 1;
      }
      expect('rows of the snapshot', count, ROWS);
      expect('rounds of the snapshot', [...rounds].join(), role === 'collector' ? '2' : '0');
    }
    if (scan !== undefined) {
      let count = 1;
      const rounds = new Set<number>();
      for (let next = await scan.next(); next.done !== true; next = await scan.next()) {
        rounds.add(next.value[1].round);
        count += 1;
      }
      expect('rows of the scan', count, ROWS);
      expect('rounds of the scan', [...rounds].join(), '0');
    }
    await db.put('mine', role);
    expect('its put', await db.get('mine'), role);
    const rowsNow = await db.scan<Row>({ prefix: 'row/' }).toArray();
    expect('rows', rowsNow.length, ROWS);
    expect('round', rowsNow.find(([, row]) => row.round !== round + 1)?.[1].round, undefined);
    if (role === 'loader') expect('loaded', await db.count({ prefix: 'loaded/' }), 200_000);
    if (role === 'index builder') expect('index', await db.count({ index: 'byTag' }), ROWS);
    if (role === 'sum follower') {
      expect('sum', db.sumTree('total').root.sum, BigInt((ROWS * (ROWS - 1)) / 2));
    }
    const { ok, faults } = await db.health.verify();
    if (!ok) wrong.push(JSON.stringify(faults));
    return wrong;
  },
};

window.suspended = suspended;
