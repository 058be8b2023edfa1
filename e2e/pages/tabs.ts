/** The page of `tests/tabs.spec.ts`: one of several tabs that write one store. */
import { open, type Store } from 'hedgerow';

/** What the increments of a tab came to. */
export interface Increments {
  /** How often the function of a transaction was called. */
  runs: number;
  /** Milliseconds that one took: half of them at most, and the longest. */
  medianMs: number;
  longestMs: number;
}

declare global {
  interface Window {
    tab: typeof tab;
    /** Tells the test that an increment was acknowledged; given by the test. */
    acknowledge(tab: number): Promise<void>;
  }
}

let db: Store;

/** Adds one, and keeps a second row and a scan in step with it: none of it may be torn. */
async function increment(counts: { runs: number }): Promise<void> {
  await db.transaction(async (tx) => {
    counts.runs += 1;
    const [count = 0, twin = 0] = await tx.getMany<number>(['count', 'twin']);
    if (count !== twin) throw new Error(`torn: ${count} and ${twin}`);
    tx.put('count', count + 1);
    tx.put('twin', count + 1);
  });
}

const tab = {
  async open(name: string): Promise<void> {
    db = await open(name);
  },

  get store(): Store {
    return db;
  },

  /** One increment after the other. */
  async increment(times: number): Promise<Increments> {
    const counts = { runs: 0 };
    const took: number[] = [];
    for (let at = 0; at < times; at++) {
      const startMs = performance.now();
      await increment(counts);
      took.push(performance.now() - startMs);
    }
    took.sort((a, b) => a - b);
    return {
      ...counts,
      medianMs: took[took.length >> 1] ?? 0,
      longestMs: took.at(-1) ?? 0,
    };
  },

  /** One put after the other. */
  async put(times: number, number: number): Promise<Increments> {
    const took: number[] = [];
    for (let at = 0; at < times; at++) {
      const startMs = performance.now();
      await db.put(`${number}/${at}`, at);
      took.push(performance.now() - startMs);
    }
    took.sort((a, b) => a - b);
    return { runs: times, medianMs: took[took.length >> 1] ?? 0, longestMs: took.at(-1) ?? 0 };
  },

  /** One increment after the other for ever, each acknowledged before the next. */
  async incrementAcknowledged(number: number): Promise<never> {
    for (;;) {
      await increment({ runs: 0 });
      await window.acknowledge(number);
    }
  },
};

window.tab = tab;
