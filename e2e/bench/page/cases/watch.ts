/** Measures from a commit to its callbacks, with few watchers and with many. */
import type { Sample, Samples, Setting, Suite } from '../bench-case.js';
import { percentile, settle } from '../measure.js';
import { openStore } from '../peers/hedgerow.js';
import { idOf, type Row, rowsInTurn } from '../rows.js';

type Store = Awaited<ReturnType<typeof openStore>>;

/** Watchers, each of its share of the rows; with `all`, each of all rows. */
const SCENES = [
  { name: 'watch-0', watchers: 0, all: false },
  { name: 'watch-1', watchers: 1, all: false },
  { name: 'watch-10', watchers: 10, all: false },
  { name: 'watch-1000', watchers: 1000, all: false },
  { name: 'watch-1000-all', watchers: 1000, all: true },
] as const;

const ROUNDS = 10;
const PUTS = 30;
const UNCOUNTED_PUTS = 3;
const DIFFS = 30;

interface Times {
  readonly put: number[];
  /** From the resolved put, and from the call of put, to the last callback. */
  readonly commit: number[];
  readonly loop: number[];
}

/** Puts one row after the other, each after the callbacks of the one before. */
async function measure(
  store: Store,
  rows: number,
  { watchers, all }: (typeof SCENES)[number],
  seed: number,
  times: Times,
): Promise<void> {
  const share = Math.floor(rows / Math.max(watchers, 1));
  const expected = Math.min(watchers, all ? watchers : 1);
  let calls = 0;
  let lastMs = 0;
  let told: (() => void) | undefined;
  const stops = Array.from({ length: watchers }, (_, at) => {
    const range = all
      ? {}
      : { gte: idOf(at * share), ...(at + 1 < watchers ? { lt: idOf((at + 1) * share) } : {}) };
    return store.watch(range, (changes) => {
      if (changes.length !== 1) throw new Error(`${changes.length} changes instead of one`);
      calls += 1;
      lastMs = performance.now();
      if (calls === expected) told?.();
    });
  });
  await settle();
  for (let at = 0; at < PUTS + UNCOUNTED_PUTS; at++) {
    const row = (at * 7919 + seed * 104_729) % rows;
    const key = idOf(row);
    const value = await store.get<Row>(key);
    if (value === undefined) throw new Error(`${key} is not there`);
    calls = 0;
    const called = new Promise<void>((resolve) => {
      told = resolve;
    });
    const startMs = performance.now();
    await store.put(key, { ...value, modified: seed * 1000 + at });
    const committedMs = performance.now();
    if (expected > 0) await called;
    if (at < UNCOUNTED_PUTS) continue;
    times.put.push(committedMs - startMs);
    times.commit.push(Math.max(0, lastMs - committedMs));
    times.loop.push(lastMs - startMs);
  }
  // A late call would be one too many.
  await settle();
  if (calls !== expected) throw new Error(`${calls} calls instead of ${expected}`);
  for (const stop of stops) stop();
}

async function diffAfter(store: Store, rows: number): Promise<Sample> {
  const times: number[] = [];
  for (let round = 0; round < DIFFS; round++) {
    const before = store.root;
    const keys = Array.from({ length: 10 }, (_, at) =>
      idOf((round * 613 + at * (rows / 10)) % rows),
    );
    await Promise.all(keys.map((key) => store.put(key, { round })));
    const after = store.root;
    const startMs = performance.now();
    const changes = await store.history.diff(before, after).toArray();
    times.push(performance.now() - startMs);
    if (changes.length !== 10) throw new Error(`${changes.length} changes instead of 10`);
  }
  return { value: percentile(times, 0.5), details: { 'p99, ms': percentile(times, 0.99) } };
}

async function watching({ rows, quick }: Setting): Promise<Samples> {
  const store = await openStore();
  await store.putMany(rowsInTurn(rows), { key: '/id' });
  const all = new Map(SCENES.map((scene) => [scene, { put: [], commit: [], loop: [] } as Times]));
  // In turns, so that all share the machine's other work.
  for (let round = 0; round < (quick ? 2 : ROUNDS); round++) {
    for (const [at, [scene, times]] of [...all].entries()) {
      await measure(store, rows, scene, round * SCENES.length + at + 1, times);
    }
  }
  const samples: Samples = {};
  for (const [{ name, watchers }, { put, commit, loop }] of all) {
    const own = watchers === 0 ? put : commit;
    samples[name] = {
      value: percentile(own, 0.5),
      details: {
        'p99, ms': percentile(own, 0.99),
        ...(watchers === 0
          ? {}
          : {
              'put, p50, ms': percentile(put, 0.5),
              'from the call of put, p50, ms': percentile(loop, 0.5),
              'from the call of put, p99, ms': percentile(loop, 0.99),
            }),
      },
    };
  }
  samples['diff-10'] = await diffAfter(store, rows);
  await store.close();
  return samples;
}

const titles = {
  'watch-0': 'a put while nobody watches (p50)',
  'watch-1': 'from a commit until the only watcher is called (p50)',
  'watch-10': 'the same with 10 watchers, one of which is called',
  'watch-1000': 'with 1,000 watchers, one of which is called',
  'watch-1000-all': 'with 1,000 watchers, all of which are called, until the last one is',
  'diff-10': 'a diff after 10 changes (p50)',
};

export const WATCH: Suite = {
  name: 'watching',
  cases: Object.entries(titles).map(([name, title]) => ({ name, title, unit: 'ms' })),
  contestants: [{ name: 'hedgerow', kind: 'ours', acts: [watching] }],
};
