/** Measures what indexes cost a load and a put, how they are made of stored rows, and what reads gain. */
import type { IndexDefinitions } from 'hedgerow';
import type { Act, Contestant, Sample, Samples, Setting, Suite } from '../bench-case.js';
import { longTask, percentile, timed, watched } from '../measure.js';
import { openStore } from '../peers/hedgerow.js';
import { makeRows, type Row } from '../rows.js';
import { putLatency } from './samples.js';

type Store = Awaited<ReturnType<typeof openStore>>;

const NONE: IndexDefinitions = {};
const ONE: IndexDefinitions = { byOwner: { path: '/owner' } };
const TWO: IndexDefinitions = { ...ONE, byState: { path: ['/status', '/modified'] } };

const SEED = 21;
const READS = 20;

/** Changes only the indexed values of a row. */
function moved(row: Row): Row {
  return { ...row, owner: row.owner === 'ann' ? 'bob' : 'ann' };
}

async function loaded(indexes: IndexDefinitions, rows: readonly Row[]) {
  const store = await openStore({ indexes });
  const { ms, result } = await timed(() => store.putMany(rows, { key: '/id' }));
  const { longestSliceMs, slices, storageMs, segments } = result.stats;
  const details = {
    slices,
    'longest slice, ms': longestSliceMs,
    'waiting for storage, ms': storageMs,
    segments,
  };
  const sample: Sample = { value: ms, details };
  return { store, sample };
}

/** Checks that every index has an entry for each row. */
async function check(store: Store, indexes: IndexDefinitions, rows: number): Promise<void> {
  for (const index of Object.keys(indexes)) {
    const count = await store.count({ index });
    if (count !== rows) throw new Error(`${count} entries in ${index}`);
  }
}

function writing(name: string, kind: Contestant['kind'], indexes: IndexDefinitions): Contestant {
  const act: Act = async (setting) => {
    const rows = makeRows(setting.rows);
    const { store, sample } = await loaded(indexes, rows);
    await check(store, indexes, rows.length);
    const put = await putLatency(setting, rows, SEED, (row) => store.put(row.id, moved(row)));
    await check(store, indexes, rows.length);
    await store.close();
    return { 'load-indexed': sample, 'put-indexed': put };
  };
  return { name, kind, acts: [act] };
}

export const INDEXES: Suite = {
  name: 'indexes',
  cases: [
    { name: 'load-indexed', title: 'the load with an index on /owner', unit: 'ms' },
    { name: 'put-indexed', title: 'a put that changes an indexed value (p50)', unit: 'ms' },
  ],
  contestants: [
    writing('hedgerow', 'ours', ONE),
    writing('the same without indexes', 'floor', NONE),
    writing('hedgerow, two indexes', 'variant', TWO),
  ],
};

const fill: Act = async ({ rows }) => {
  const { store } = await loaded(NONE, makeRows(rows));
  await store.close();
  return {};
};

/** Runs `work`. Its longest slice is the longest delay of a timer of a few milliseconds. */
export async function heard<T>(work: () => Promise<T>): Promise<{ result: T; waitedMs: number }> {
  let lastMs = performance.now();
  let waitedMs = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    waitedMs = Math.max(waitedMs, now - lastMs);
    lastMs = now;
  }, 1);
  try {
    return { result: await work(), waitedMs };
  } finally {
    clearInterval(timer);
  }
}

/** Opens the loaded store with new indexes, and waits until they are there. */
function making(name: string, kind: Contestant['kind'], indexes: IndexDefinitions): Contestant {
  const act: Act = async ({ rows }) => {
    const made = () =>
      timed(async () => {
        const store = await openStore({ indexes });
        await check(store, indexes, rows);
        return store;
      });
    const watch = await watched(() => heard(made));
    const { result, frameGapMs } = watch;
    const { ms, result: store } = result.result;
    await store.close();
    const details = {
      'longest gap between two frames, ms': frameGapMs,
      'longest gap between two timers, ms': result.waitedMs,
      ...longTask(watch),
    };
    return { 'index-made': { value: ms, details } };
  };
  return { name, kind, acts: [fill, act] };
}

export const INDEX_MADE: Suite = {
  name: 'index-made',
  cases: [{ name: 'index-made', title: 'an index over all rows, made at a reopening', unit: 'ms' }],
  contestants: [
    making('hedgerow', 'ours', ONE),
    {
      name: 'the load of all rows',
      kind: 'floor',
      acts: [
        async ({ rows }) => {
          const { store, sample } = await loaded(NONE, makeRows(rows));
          await store.close();
          return { 'index-made': sample };
        },
      ],
    },
    making('hedgerow, two indexes', 'variant', TWO),
  ],
};

/** A query for one state and a time range of about a hundredth of all rows. */
const STATUS = 'open';
const FROM = 1_700_000_000_000;
const UNTIL = FROM + 4e8;
const isWanted = ({ status, modified }: Row) =>
  status === STATUS && modified >= FROM && modified < UNTIL;
const RANGE = { index: 'byState', gte: [STATUS, FROM], lt: [STATUS, UNTIL] } as const;

async function median(expected: number, read: () => Promise<number>): Promise<Sample> {
  const times: number[] = [];
  await timed(async () => {
    for (let at = 0; at < READS; at++) {
      const startMs = performance.now();
      if ((await read()) !== expected) throw new Error(`not ${expected} rows`);
      times.push(performance.now() - startMs);
    }
  });
  const details = { rows: expected, 'p95, ms': percentile(times, 0.95) };
  return { value: percentile(times, 0.5), details };
}

function reading(
  name: string,
  kind: Contestant['kind'],
  read: (store: Store) => Promise<readonly unknown[]>,
  count: (store: Store) => Promise<number>,
): Contestant {
  const act = async (setting: Setting): Promise<Samples> => {
    const rows = makeRows(setting.rows);
    const { store } = await loaded(TWO, rows);
    const expected = rows.filter(isWanted).length;
    const samples = {
      'index-scan': await median(expected, async () => (await read(store)).length),
      'index-count': await median(expected, () => count(store)),
    };
    await store.close();
    return samples;
  };
  return { name, kind, acts: [act] };
}

const filtered = async (store: Store) => {
  const rows = await store.scan<Row>().values().toArray();
  return rows.filter(isWanted);
};

export const INDEX_READS: Suite = {
  name: 'index-reads',
  cases: [
    { name: 'index-scan', title: 'a hundredth of the rows, by state and date', unit: 'ms' },
    { name: 'index-count', title: 'how many these are', unit: 'ms' },
  ],
  contestants: [
    reading(
      'hedgerow',
      'ours',
      (store) => store.scan(RANGE).values().toArray(),
      (store) => store.count(RANGE),
    ),
    reading(
      'a scan of all rows, filtered',
      'floor',
      filtered,
      async (store) => (await filtered(store)).length,
    ),
  ],
};
