/** Compares a store in a worker with the same store in the page: the cost of each, and how long the page waits. */
import { live, rowType, type Table, table } from 'hedgerow';
import { connect } from 'hedgerow/worker';
import type { Act, Contestant, Sample, Samples, Suite } from '../bench-case.js';
import { longTask, settle, timed, type Watch, watched } from '../measure.js';
import { random } from '../random.js';
import { makeRows, type Row } from '../rows.js';

const GETS = 5000;
const AT_ONCE = 1000;
const PAGE = 60;
const STEPS = 100;

const indexes = { byModified: ['modified'] } as const;
const issues = table({ schema: rowType<Row>(), key: 'id', indexes });
type Tables = {
  readonly issues: Table<Row, Row, { readonly key: 'id'; readonly indexes: typeof indexes }>;
};

async function openHere() {
  const { open } = await import('hedgerow');
  const db = await open('bench', { tables: { issues } });
  return { db, close: () => db.close() };
}

async function openThere() {
  const worker = new Worker(new URL('./worker-host.ts', import.meta.url), { type: 'module' });
  const db = await connect<Tables>(worker);
  const close = async () => {
    // The next page opens the same store: the worker must be done with this one.
    const closed = new Promise((resolve) => {
      worker.onmessage = resolve;
    });
    worker.postMessage('close');
    await closed;
    worker.terminate();
  };
  return { db, close };
}

type Opened = Awaited<ReturnType<typeof openHere>> | Awaited<ReturnType<typeof openThere>>;

const sampleOf = (value: number, watch: Watch): Sample => ({
  value,
  details: { 'longest gap between frames, ms': watch.frameGapMs, ...longTask(watch) },
});

/** Measures the milliseconds of some work, and how alive the page was. */
async function taken(work: () => Promise<unknown>): Promise<Sample> {
  await settle();
  let ms = 0;
  const watch = await watched(async () => {
    const startMs = performance.now();
    await work();
    ms = performance.now() - startMs;
  });
  return sampleOf(ms, watch);
}

/** Like `taken`, as calls a second. */
async function rate(count: number, work: () => Promise<unknown>): Promise<Sample> {
  const { value, details = {} } = await taken(work);
  return { value: (count / value) * 1000, details };
}

function actOf(opening: () => Promise<Opened>): Act {
  return async ({ rows: count, quick }) => {
    const rows = makeRows(count);
    const ids = rows.map(({ id }) => id);
    const next = random(11);
    const pick = () => ids[Math.floor(next() * count)] as string;
    const samples: Samples = {};
    const { result, ms: openMs } = await timed(opening);
    samples['worker-open'] = { value: openMs };
    const { close } = result;
    // Both have the measured calls.
    const db = result.db as Awaited<ReturnType<typeof openHere>>['db'];
    samples['worker-load'] = await taken(() => db.issues.putMany(rows));
    const gets = quick ? 200 : GETS;
    samples['worker-get'] = await rate(gets, async () => {
      for (let at = 0; at < gets; at++) await db.issues.get(pick());
    });
    samples['worker-gets'] = await taken(async () => {
      const found = await Promise.all(Array.from({ length: AT_ONCE }, () => db.issues.get(pick())));
      if (found.includes(undefined)) throw new Error('a row is missing');
    });
    const wanted = Array.from({ length: 10 * AT_ONCE }, pick);
    samples['worker-many'] = await taken(() => db.issues.getMany(wanted));
    samples['worker-scan'] = await taken(async () => {
      const all = await db.issues.toArray();
      if (all.length !== count) throw new Error(`${all.length} rows of ${count}`);
    });
    samples['worker-each'] = await taken(async () => {
      let seen = 0;
      for await (const _ of db.issues) seen += 1;
      if (seen !== count) throw new Error(`${seen} rows of ${count}`);
    });
    samples['worker-live'] = await scrolled(db, quick ? 10 : STEPS, count);
    await close();
    return samples;
  };
}

/** Measures the milliseconds until a live window shows a row put before all others. */
async function scrolled(
  db: Awaited<ReturnType<typeof openHere>>['db'],
  steps: number,
  count: number,
): Promise<Sample> {
  const newest = db.issues.orderBy('modified', 'desc').limit(PAGE);
  const shown = live(newest);
  let wake = () => {};
  const stop = shown.subscribe(() => wake());
  const shows = async (is: () => boolean) => {
    while (!is()) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  await shows(() => shown.get().status === 'ready');
  const [row] = shown.get().rows as [Row];
  const sample = await taken(async () => {
    for (let at = 0; at < steps; at++) {
      const id = `${row.id}-${count}-${at}`;
      const put = db.issues.put({ ...row, id, modified: row.modified + at + 1 });
      await shows(() => shown.get().rows[0]?.id === id);
      await put;
    }
  });
  stop();
  shown.close();
  return { ...sample, value: sample.value / steps };
}

const contestant = (kind: Contestant['kind'], name: string, act: Act): Contestant => ({
  name,
  kind,
  acts: [act],
});

export const WORKER: Suite = {
  name: 'worker',
  mostRows: 100_000,
  cases: [
    { name: 'worker-open', title: 'a store opened', unit: 'ms' },
    { name: 'worker-load', title: 'a load of objects of the page', unit: 'ms' },
    { name: 'worker-get', title: 'rows got, each awaited', unit: 'per second' },
    { name: 'worker-gets', title: '1,000 rows got at once, a call each', unit: 'ms' },
    { name: 'worker-many', title: '10,000 rows got in one call', unit: 'ms' },
    { name: 'worker-scan', title: 'all rows, in a list', unit: 'ms' },
    { name: 'worker-each', title: 'all rows, one by one', unit: 'ms' },
    { name: 'worker-live', title: 'a row put, until a live window of 60 shows it', unit: 'ms' },
  ],
  contestants: [
    contestant('ours', 'a store in a worker', actOf(openThere)),
    contestant('variant', 'the store in the page', actOf(openHere)),
  ],
};
