/**
 * The page of `tests/back-forward-cache.spec.ts`. It goes to another document and comes back, and writes its findings
 * to `localStorage`, where another tab reads them: a debugger loses track of such a page.
 */
import { destroy, open, type Snapshot, type Store } from 'hedgerow';

/** The findings of a page that has come back. */
export interface Found {
  /** Whether the cache returned the same page. */
  readonly persisted: boolean;
  /** The browser's reason, if it did not. */
  readonly why: string;
  /** Its memory from before. */
  readonly memory: string;
  /** A row that another tab has put in between. */
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
    db = await open(name, { advanced: { cacheBytes: 0 } });
    return cached.collector();
  },

  get store(): Store {
    return db;
  },

  async collector(): Promise<string> {
    return (await db.health.stats()).compactor;
  },

  /** Rewrites all rows. */
  async rewrite(round: number): Promise<void> {
    const text = 'some text that takes space '.repeat(20);
    const keys = Array.from({ length: ROWS }, (_, at) => `row/${at}`);
    await db.putMany(keys.map((key): [string, unknown] => [key, { round, key, text }]));
  },

  /** Takes a snapshot, which pins the newest commit. */
  hold(): void {
    snapshot = db.snapshot();
  },

  /** Counts the commits that any tab pins. The collector pins none. */
  async pins(): Promise<number> {
    const { held = [] } = await navigator.locks.query();
    return held.filter(({ name }) => name?.includes('/pin/')).length;
  },

  /** Reads the rounds of the snapshot's rows, and counts the rows. */
  async held(): Promise<{ rounds: number[]; rows: number }> {
    const rows = await snapshot.scan<{ round: number }>({ prefix: 'row/' }).toArray();
    return { rounds: [...new Set(rows.map(([, { round }]) => round))], rows: rows.length };
  },

  /** Opens a store, uses all of it, takes a snapshot if `isHolding`, and goes away until another tab calls `back`. */
  async leave(name: string, isHolding = false): Promise<void> {
    localStorage.clear();
    await cached.open(name);
    await db.put('before', 1);
    await db.transaction(async (tx) => tx.put('count', ((await tx.get<number>('count')) ?? 0) + 1));
    await db.health.compact();
    if (isHolding) {
      await cached.rewrite(0);
      cached.hold();
    }
    const memory = `memory of ${name}`;
    addEventListener('pageshow', ({ persisted }) => {
      const find = async () => {
        // The store looks at storage when the page is shown, and reads its old state until then.
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
        // Then it is alone again.
        await until(async () => (await cached.collector()) === 'this');
        localStorage.setItem(
          FOUND,
          JSON.stringify({ ...found, collector: await cached.collector() }),
        );
      };
      find().catch((cause: unknown) => localStorage.setItem(FOUND, JSON.stringify(String(cause))));
    });
    // Leaves while no transaction is under way: an answer of storage evicts a page from the cache.
    setTimeout(() => location.assign('away.html'), 500);
  },

  /** Called in another tab: makes the page come back. */
  async back(): Promise<Found> {
    localStorage.setItem(BACK, '1');
    await until(() => localStorage.getItem(FOUND) !== null);
    return cached.found();
  },

  found(): Found {
    return JSON.parse(localStorage.getItem(FOUND) ?? 'null');
  },

  /** Deletes a store. Returns the milliseconds that it took. */
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

// A reloaded page was not in the cache.
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
