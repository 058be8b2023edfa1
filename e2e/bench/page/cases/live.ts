/**
 * Measures the time from a commit to the listener of the one live window that shows the row, among 999 others: each
 * window has its own range, or all are at places of one range. Run it with `--rows 1000000`, too.
 */
import type { Live, Store } from 'hedgerow';
import type { Sample, Samples, Setting, Suite } from '../bench-case.js';
import { percentile, settle } from '../measure.js';
import { openStore } from '../peers/hedgerow.js';
import { idOf, type Row, rowsInTurn } from '../rows.js';

const WINDOWS = 1000;
const ROWS_SHOWN = 20;
const CHANGES = 200;
const UNCOUNTED = 20;
/** Insertions before all windows: each shifts all of them. */
const SHIFTS = 5;

/** Numbers the changes, so that each is different. */
let changes = 0;

type Window = Live<readonly [key: string, value: Row]>;

/** Makes windows that show the rows from `at * share` on. */
async function windows(store: Store, rows: number, inOneRange: boolean): Promise<Window[]> {
  const { live } = await import('hedgerow');
  const share = Math.floor(rows / WINDOWS);
  return Array.from({ length: WINDOWS }, (_, at) => {
    const range = inOneRange
      ? { offset: at * share }
      : { gte: idOf(at * share), lt: idOf((at + 1) * share) };
    return live<Row>(store, { ...range, limit: Math.min(ROWS_SHOWN, share) });
  });
}

/** Changes one shown row after the other, and waits each time until its window has called its listener. */
async function changed(store: Store, rows: number, inOneRange: boolean): Promise<Sample> {
  // Windows must not overlap: a warm-up run has few rows.
  const share = Math.floor(rows / WINDOWS);
  const all = await windows(store, rows, inOneRange);
  const startMs = performance.now();
  for (const one of all) one.get();
  const startedMs = performance.now() - startMs;
  const called: number[] = [];
  let lastMs = 0;
  let told = () => {};
  const ready = Promise.all(
    all.map(
      (one, at) =>
        new Promise<void>((resolve) => {
          one.subscribe(() => {
            lastMs = performance.now();
            called.push(at);
            told();
            if (one.get().status === 'ready') resolve();
          });
          if (one.get().status === 'ready') resolve();
        }),
    ),
  );
  await ready;
  await settle();
  const times = { commit: [] as number[], loop: [] as number[] };
  for (let round = 0; round < CHANGES + UNCOUNTED; round++) {
    const at = (round * 379) % WINDOWS;
    const nth = round % Math.min(ROWS_SHOWN, share);
    const key = idOf(at * share + nth);
    const value = await store.get<Row>(key);
    called.length = 0;
    const hasTold = new Promise<void>((resolve) => {
      told = resolve;
    });
    changes += 1;
    const beganMs = performance.now();
    await store.put(key, { ...(value as Row), modified: changes });
    const committedMs = performance.now();
    await hasTold;
    if (called.length !== 1 || called[0] !== at)
      throw new Error(`${called} were called, not ${at}`);
    const shown = all[at]?.get().rows[nth];
    if (shown?.[0] !== key || shown[1].modified !== changes) throw new Error(`${key} is not shown`);
    if (round < UNCOUNTED) continue;
    times.commit.push(Math.max(0, lastMs - committedMs));
    times.loop.push(lastMs - beganMs);
  }
  const details: Record<string, number> = {
    'p99, ms': percentile(times.commit, 0.99),
    'from the call of put, p50, ms': percentile(times.loop, 0.5),
    'from the call of put, p99, ms': percentile(times.loop, 0.99),
    'first rows of all, ms': startedMs,
  };
  if (inOneRange)
    details['a row before all, until the last is called, ms'] = await shift(store, all, called);
  for (const one of all) one.close();
  return { value: percentile(times.commit, 0.5), details };
}

/** Puts rows before all windows, and measures from the commit until each shows its new rows. */
async function shift(store: Store, all: readonly Window[], called: number[]): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < SHIFTS; round++) {
    called.length = 0;
    const last = all.at(-1) as Window;
    const before = all.map((one) => one.get().rows);
    changes += 1;
    // Before all other rows, and before the rows of earlier rounds.
    await store.put(`issue/!${String(1e8 - changes)}`, { changes });
    const committedMs = performance.now();
    const isShifted = () => all.every((one, at) => one.get().rows !== before[at]);
    while (!isShifted()) await new Promise((resolve) => setTimeout(resolve));
    times.push(performance.now() - committedMs);
    if (last.get().rows[1]?.[0] !== before.at(-1)?.[0]?.[0])
      throw new Error('it has not moved by one');
  }
  return percentile(times, 0.5);
}

/** Measures both cases over a store with rows. */
export async function measureLive(store: Store, rows: number): Promise<Samples> {
  return {
    'live-ranges': await changed(store, rows, false),
    'live-offsets': await changed(store, rows, true),
  };
}

async function showing({ rows }: Setting): Promise<Samples> {
  const store = await openStore();
  await store.putMany(rowsInTurn(rows), { key: '/id' });
  const samples = await measureLive(store, rows);
  await store.close();
  return samples;
}

const titles = {
  'live-ranges':
    'from a commit until the one of 1,000 live windows, each of its own range, is called (p50)',
  'live-offsets': 'the same with 1,000 windows at offsets in one range',
};

export const LIVE: Suite = {
  name: 'live',
  cases: Object.entries(titles).map(([name, title]) => ({ name, title, unit: 'ms' })),
  contestants: [{ name: 'hedgerow', kind: 'ours', acts: [showing] }],
};
