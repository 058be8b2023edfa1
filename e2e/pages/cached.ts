/**
 * The page of `tests/back-forward-cache.spec.ts`. It goes to another document and comes back, and writes
 * what it finds then to `localStorage`, where another tab reads it: a debugger loses track of such a page.
 */
import { destroy, open, type Snapshot, type Store } from 'hedgerow';

/** What a page finds when it has come back. */
export interface Found {
  /** Whether it is the same page, out of the cache. */
  readonly persisted: boolean;
  /** Why not, as the browser tells. */
  readonly why: string;
  /** What it had in memory. */
  readonly memory: string;
  /** A row that another tab has put meanwhile. */
  readonly read: unknown;
  readonly collector: string;
}

declare global {
  interface Window {
    cached: typeof cached;
  }
}

const BACK = 'back';
const FOUND = 'found';

const ROWS = 2000;

let db: Store;
let snapshot: Snapshot;

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = performance.now() + 10_000;
  while (!(await isSo()) && performance.now() < endMs) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function whyNot(): string {
  const [entry] = performance.getEntriesByType('navigation');
  return JSON.stringify(
    (entry as { notRestoredReasons?: unknown } | undefined)?.notRestoredReasons,
  );
}

const cached = {
  async open(name: string): Promise<string> {
    // Reads go to storage.
    db = await open(name, { cacheBytes: 0 });
    return cached.collector();
  },

  get store(): Store {
    return db;
  },

  async collector(): Promise<string> {
    return (await db.stats()).compactor;
  },

  /** Puts all rows anew. */
  async rewrite(round: number): Promise<void> {
    const text = 'some text that takes space '.repeat(20);
    const keys = Array.from({ length: ROWS }, (_, at) => `row/${at}`);
    await db.putMany(keys.map((key): [string, unknown] => [key, { round, key, text }]));
  },

  /** Takes a snapshot, which pins the newest commit. */
  hold(): void {
    snapshot = db.snapshot();
  },

  /** How many commits are pinned, by any tab. The collector pins none. */
  async pins(): Promise<number> {
    const { held = [] } = await navigator.locks.query();
    return held.filter(({ name }) => name?.includes('/pin/')).length;
  },

  /** The rounds of the rows that the snapshot has, and how many there are. */
  async held(): Promise<{ rounds: number[]; rows: number }> {
    const rows = await snapshot.scan<{ round: number }>({ prefix: 'row/' }).toArray();
    return { rounds: [...new Set(rows.map(([, { round }]) => round))], rows: rows.length };
  },

  /** Opens a store, uses all of it, holds a snapshot if it is to, and goes away until another tab calls `back`. */
  async leave(name: string, isHolding = false): Promise<void> {
    localStorage.clear();
    await cached.open(name);
    await db.put('before', 1);
    await db.transaction(async (tx) => tx.put('count', ((await tx.get<number>('count')) ?? 0) + 1));
    await db.compact();
    if (isHolding) {
      await cached.rewrite(0);
      cached.hold();
    }
    const memory = `memory of ${name}`;
    addEventListener('pageshow', ({ persisted }) => {
      const find = async () => {
        // It looks at storage when it is shown, and reads what it had until it has seen that.
        await until(async () => (await db.get('told/row')) !== undefined);
        const read = await db.get('told/row');
        await db.put('mine', 'came back');
        const collector = await cached.collector();
        const found: Found = {
          persisted,
          why: '',
          memory,
          read,
          collector,
        };
        localStorage.setItem(FOUND, JSON.stringify(found));
        // And then it is alone again.
        await until(async () => (await cached.collector()) === 'this');
        localStorage.setItem(
          FOUND,
          JSON.stringify({ ...found, collector: await cached.collector() }),
        );
      };
      find().catch((cause: unknown) => localStorage.setItem(FOUND, JSON.stringify(String(cause))));
    });
    // When nothing is under way: what storage answers to a page in the cache drops it from there.
    setTimeout(() => location.assign('away.html'), 500);
  },

  /** In another tab: has the page come back. */
  async back(): Promise<Found> {
    localStorage.setItem(BACK, '1');
    await until(() => localStorage.getItem(FOUND) !== null);
    return cached.found();
  },

  found(): Found {
    return JSON.parse(localStorage.getItem(FOUND) ?? 'null');
  },

  /** Deletes a store; milliseconds that it took. */
  async deleted(name: string): Promise<number> {
    const startMs = performance.now();
    await destroy(name);
    return performance.now() - startMs;
  },

  /** Waits until the page is away. */
  away: () => until(() => localStorage.getItem('away') !== null),
  until,
};

window.cached = cached;

// Made anew, it was not in the cache.
if (localStorage.getItem(BACK) !== null && localStorage.getItem(FOUND) === null) {
  const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  if (entry?.type === 'back_forward') {
    const found = {
      persisted: false,
      why: whyNot(),
      memory: '',
      read: '',
      collector: '',
    };
    localStorage.setItem(FOUND, JSON.stringify(found));
  }
}
