/** The page of `tests/tabs.spec.ts`: one of several tabs that write one store. */
import { type OpenOptions, open, type Store } from 'hedgerow';

/** The results of a tab's writes, one after the other. */
export interface Took {
  /** How often the function of a transaction was called. */
  readonly runs: number;
  readonly medianMs: number;
  readonly longestMs: number;
}

interface Row {
  readonly round: string;
  readonly text: string;
}

declare global {
  interface Window {
    tab: typeof tab;
    /** Reports to the test that an increment was acknowledged; defined by the test. */
    acknowledge(): Promise<void>;
  }
}

let db: Store;
let isStopped = false;
let runs = 0;

/** Adds one to two rows that are always the same. */
function increment(): Promise<void> {
  return db.transaction(async (tx) => {
    runs += 1;
    const [count = 0, twin = 0] = await tx.getMany<number>(['count', 'twin']);
    if (count !== twin) throw new Error(`torn: ${count} and ${twin}`);
    tx.put('count', count + 1);
    tx.put('twin', count + 1);
  });
}

async function timed(times: number, write: (at: number) => Promise<unknown>): Promise<Took> {
  runs = 0;
  const took: number[] = [];
  for (let at = 0; at < times; at++) {
    const startMs = performance.now();
    await write(at);
    took.push(performance.now() - startMs);
  }
  took.sort((a, b) => a - b);
  return { runs, medianMs: took[times >> 1] ?? 0, longestMs: took.at(-1) ?? 0 };
}

/** Returns the rounds of the rows seen, and their number. */
async function seen(rows: AsyncIterable<[string, Row]>, pause: (row: number) => Promise<void>) {
  const rounds = new Set<string>();
  let count = 0;
  for await (const [, { round }] of rows) {
    rounds.add(round);
    await pause(++count);
  }
  return { rounds: [...rounds], count };
}

const tab = {
  async open(name: string, options: OpenOptions = {}): Promise<void> {
    db = await open(name, options);
  },

  get store(): Store {
    return db;
  },

  increment: (times: number): Promise<Took> => timed(times, increment),

  put: (times: number, name: string): Promise<Took> =>
    timed(times, (at) => db.put(`${name}/${at}`, at)),

  /** Loads in two parts, puts and increments, all at the same time. */
  async mix(name: string, times: number, rows: number): Promise<void> {
    const load = async (half: number) => {
      const keys = Array.from({ length: rows / 2 }, (_, at) => `${name}/row/${2 * at + half}`);
      await db.putMany(keys.map((key): [string, unknown] => [key, { key, name }]));
    };
    const loads = async () => {
      await load(0);
      await load(1);
    };
    await Promise.all([loads(), tab.put(times, name), tab.increment(times)]);
  },

  /** Measures a put, and a transaction of a get and a put, in milliseconds: medians, interleaved. */
  async costs(times: number): Promise<{ put: number; transaction: number }> {
    await db.putMany(
      Array.from({ length: 10_000 }, (_, at): [string, unknown] => [`k${at}`, { at }]),
    );
    const [puts, transactions]: [number[], number[]] = [[], []];
    for (let at = 0; at < times; at++) {
      const startMs = performance.now();
      await db.put(`k${at * 31}`, { at });
      const middleMs = performance.now();
      await db.transaction(async (tx) => {
        const value = await tx.get<{ at: number }>(`k${at * 17}`);
        tx.put(`k${at * 17}`, { at: (value?.at ?? 0) + 1 });
      });
      puts.push(middleMs - startMs);
      transactions.push(performance.now() - middleMs);
    }
    const median = (of: number[]) => of.sort((a, b) => a - b)[times >> 1] ?? 0;
    return { put: median(puts), transaction: median(transactions) };
  },

  /** Increments, each acknowledged before the next, until `stop`. */
  async incrementUntilStopped(): Promise<void> {
    while (!isStopped) {
      await increment();
      await window.acknowledge();
    }
  },

  /** Increments for so long, whatever fails. Returns the results. */
  async incrementFor(ms: number): Promise<{ acknowledged: number; codes: string[] }> {
    let acknowledged = 0;
    const codes: string[] = [];
    const endMs = performance.now() + ms;
    while (performance.now() < endMs) {
      await increment().then(
        () => {
          acknowledged += 1;
        },
        (error: { code?: string; detail?: string }) =>
          codes.push(error.detail ?? error.code ?? String(error)),
      );
    }
    return { acknowledged, codes };
  },

  stop(): void {
    isStopped = true;
  },

  /** Rewrites all rows in one commit, and collects the dead ones. */
  async rewrite(count: number, round: string): Promise<void> {
    const rows = function* (): Generator<[string, Row]> {
      for (let at = 0; at < count; at++) {
        // Other bytes in each round, and too many for the cache.
        yield [`row/${at + 100_000}`, { round, text: `${round} ${at} `.repeat(250) }];
      }
    };
    await db.putMany(rows());
    await (db as Store & { compact?(): Promise<unknown> }).health.compact?.();
  },

  /** Scans all rows, and stops in the middle until `goOn`. */
  scanInTwoParts(isTransaction: boolean) {
    tab.isHalfway = false;
    const goneOn = new Promise<void>((resolve) => {
      tab.goOn = resolve;
    });
    const pause = async (row: number) => {
      if (row !== 500) return;
      tab.isHalfway = true;
      await goneOn;
    };
    const options = { prefix: 'row/' };
    return isTransaction
      ? db.transaction((tx) => seen(tx.scan<Row>(options), pause))
      : seen(db.scan<Row>(options), pause);
  },

  /** Whether `scanInTwoParts` waits for `goOn`. */
  isHalfway: false,

  goOn(): void {},

  /** Scans all rows. */
  scan: () => seen(db.scan<Row>({ prefix: 'row/' }), async () => {}),
};

window.tab = tab;
