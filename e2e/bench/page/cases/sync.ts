/** Sync with a server 80 ms away: measures a clone, a pull and a push, and a download of the same rows. */
import type { Store } from 'hedgerow';
import { remoteKeys } from 'hedgerow/encryption';
import {
  type BucketConnection,
  type BucketOptions,
  bucket,
  httpRemote,
  probeRemote,
  serverPokes,
} from 'hedgerow/sync';
import type { Act, Contestant, Sample, Suite } from '../bench-case.js';
import { longTask, timed, watched } from '../measure.js';
import { makeRows, type Row } from '../rows.js';
import {
  type Counts,
  lab,
  median,
  missing,
  openNamed,
  RTT_MS,
  smallDetails,
  timerGap,
  wireDetails,
} from './sync-lab.js';

/** The number of measured changes of ten rows. */
const TIMES = 7;

/** The key of the encrypted remote. */
const KEY = Array.from({ length: 32 }, (_, nth) => nth);
const SEALED: BucketOptions = {
  encryption: remoteKeys({ place: 'room', keys: () => Uint8Array.from(KEY) }),
};

async function linked(
  db: Store,
  url: string,
  options: BucketOptions = {},
): Promise<BucketConnection> {
  return db.connect(bucket(httpRemote({ url }), { probe: false, ...options }));
}

async function checkRows(db: Store, expected: number): Promise<void> {
  const count = await db.count();
  if (count !== expected) throw new Error(`${count} rows of ${expected}`);
}

/** Clones without waiting for a network, for a comparison with loads. */
async function clonedNear(rows: number, near: string, options?: BucketOptions) {
  await lab.counts('near');
  const db = await openNamed('near');
  const link = await linked(db, near, options);
  const { ms } = await timed(() => link.pull());
  const counts = await lab.counts('near');
  await checkRows(db, rows);
  await db.close();
  return { 'clone-near': { value: ms, details: wireDetails(counts) } };
}

export const cloneNear: Act = async ({ rows }) => clonedNear(rows, (await lab.full(rows)).near);

export async function cloneFar(
  db: Store,
  url: string,
  rows: number,
  options?: BucketOptions,
): Promise<[BucketConnection, Sample]> {
  const link = await linked(db, url, options);
  await lab.counts('far');
  let firstMs = 0;
  const { result: watch } = await timed(() =>
    watched(() =>
      timerGap(async () => {
        const startMs = performance.now();
        const onProgress = () => {
          firstMs ||= performance.now() - startMs;
        };
        await link.pull({ onProgress });
        return performance.now() - startMs;
      }),
    ),
  );
  const counts = await lab.counts('far');
  await checkRows(db, rows);
  const { gapMs, result: value } = watch.result;
  const details = {
    ...wireDetails(counts),
    'first pack applied, ms': firstMs,
    'longest gap between frames, ms': watch.frameGapMs,
    'longest gap between timers, ms': gapMs,
    ...longTask(watch),
  };
  return [link, { value, details }];
}

/** Resolves when a watcher has seen all of these rows. */
function seenBy(db: Store, ids: readonly string[]): { seen: Promise<number>; stop: () => void } {
  const left = new Set(ids);
  let stop = () => {};
  const seen = new Promise<number>((resolve) => {
    stop = db.watch<Row>({}, (changes) => {
      for (const { key } of changes) left.delete(key);
      if (left.size === 0) resolve(performance.now());
    });
  });
  return { seen, stop };
}

/** Pulls ten rows that another device has pushed: measures until a watcher is called. */
export async function pullTen(db: Store, link: BucketConnection): Promise<Sample> {
  const [times, calls, all]: [number[], number[], Counts[]] = [[], [], []];
  for (let nth = 0; nth < TIMES; nth++) {
    const { rows } = await lab.change(10);
    await lab.counts('far');
    const { seen, stop } = seenBy(
      db,
      rows.map(({ id }) => id),
    );
    const startMs = performance.now();
    await link.pull();
    calls.push(performance.now() - startMs);
    times.push((await seen) - startMs);
    stop();
    all.push(await lab.counts('far'));
  }
  const value = median(times);
  const details = {
    ...smallDetails(all),
    'above one round trip, ms': value - RTT_MS,
    'pull() itself, ms': median(calls),
  };
  return { value, details };
}

/** Measures from the end of the other device's push until a watcher is called, with the server's events. */
async function poked(db: Store, link: BucketConnection, url: string): Promise<Sample> {
  link.start({ everyMs: 3_600_000, pauseMs: 0, subscribe: serverPokes(url) });
  try {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const times: number[] = [];
    for (let nth = 0; nth < TIMES; nth++) {
      let lastMs = 0;
      const end = db.watch({}, () => {
        lastMs = performance.timeOrigin + performance.now();
      });
      const { endMs } = await lab.change(10);
      while (lastMs === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      end();
      times.push(lastMs - endMs);
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    const value = median(times);
    return { value, details: { 'round trips': value / RTT_MS } };
  } finally {
    await link.stop();
  }
}

/** Returns ten rows that change here. */
const ownRows = (nth: number, count: number): Row[] =>
  makeRows(count).map((row) => ({ ...row, id: `own/${row.id}`, modified: nth }));

async function pushTen(db: Store, link: BucketConnection): Promise<Sample> {
  const [times, all]: [number[], Counts[]] = [[], []];
  for (let nth = 0; nth < TIMES; nth++) {
    await db.putMany(ownRows(nth, 10), { key: '/id' });
    await lab.counts('far');
    const startMs = performance.now();
    await link.push();
    times.push(performance.now() - startMs);
    all.push(await lab.counts('far'));
  }
  const value = median(times);
  const details = { ...smallDetails(all), 'above one round trip, ms': value - RTT_MS };
  return { value, details };
}

async function pullNothing(link: BucketConnection): Promise<Sample> {
  const [times, all]: [number[], Counts[]] = [[], []];
  // The browser has kept the head by then.
  await link.pull();
  for (let nth = 0; nth < TIMES; nth++) {
    await lab.counts('far');
    const startMs = performance.now();
    await link.pull();
    times.push(performance.now() - startMs);
    const counts = await lab.counts('far');
    const statuses = counts.statuses.join(', ');
    if (statuses !== 'GET 304') throw new Error(`nothing new took ${statuses}`);
    all.push(counts);
  }
  return { value: median(times), details: smallDetails(all) };
}

/** Pushes to a head that another device has replaced in the meantime. */
async function pushRace(db: Store, link: BucketConnection): Promise<Sample> {
  const [times, all]: [number[], Counts[]] = [[], []];
  for (let nth = 0; nth < TIMES; nth++) {
    await db.putMany(ownRows(TIMES + nth, 10), { key: '/id' });
    await lab.change(1);
    await lab.counts('far');
    const startMs = performance.now();
    const { races } = await link.push();
    times.push(performance.now() - startMs);
    if (races !== 1) throw new Error(`${races} races`);
    all.push(await lab.counts('far'));
  }
  const value = median(times);
  const details = { ...smallDetails(all), 'round trips': value / RTT_MS };
  return { value, details };
}

const far: Act = async ({ rows }) => {
  const { far: url } = await lab.full(rows);
  const db = await openNamed('far');
  const [link, clone] = await cloneFar(db, url, rows);
  const samples = {
    clone,
    'pull-10': await pullTen(db, link),
    'pull-poked': await poked(db, link, url),
    'push-10': await pushTen(db, link),
    'pull-nothing': await pullNothing(link),
    'push-race': await pushRace(db, link),
  };
  await db.close();
  return samples;
};

/** The first push of all rows, after the probes that every new remote gets. */
const first: Act = async ({ rows }) => {
  const { far: url } = await lab.empty();
  const db = await openNamed('first');
  await db.putMany(makeRows(rows), { key: '/id' });
  await lab.counts('far');
  const { ms: probeMs } = await timed(() => probeRemote(httpRemote({ url })));
  const probe = await lab.counts('far');
  const link = await linked(db, url);
  const { ms, result: watch } = await timed(() => watched(() => timerGap(() => link.push())));
  const counts = await lab.counts('far');
  await db.close();
  const details = {
    ...wireDetails(counts),
    'longest gap between frames, ms': watch.frameGapMs,
    'longest gap between timers, ms': watch.result.gapMs,
    ...longTask(watch),
    'before it, asking what the remote refuses, ms': probeMs,
    'requests of that': probe.requests,
  };
  return { 'push-first': { value: ms, details } };
};

/** The cases that a load of all rows cannot do. */
const ONCE = Object.fromEntries(
  ['pull-10', 'pull-poked', 'push-10', 'pull-nothing', 'push-race', 'push-first'].map((name) => [
    name,
    'it brings all rows, and nothing else',
  ]),
);

/** Puts the same rows, without a network. */
function load(name: string, kind: Contestant['kind'], isBytes: boolean): Contestant {
  const act: Act = async ({ rows: count }) => {
    const made = makeRows(count);
    const ndjson = () => made.map((row) => `${JSON.stringify(row)}\n`).join('');
    const rows = isBytes ? new Blob([ndjson()]) : made;
    if (isBytes) made.length = 0;
    const db = await openNamed('load');
    const { ms, result } = await timed(() => db.putMany(rows as Row[], { key: '/id' }));
    await checkRows(db, count);
    await db.close();
    const sample = { value: ms, details: { 'longest slice, ms': result.stats.longestSliceMs } };
    return { 'clone-near': sample, clone: sample };
  };
  return { name, kind, cannot: kind === 'floor' ? {} : ONCE, ...missing, acts: [act] };
}

async function download(url: string, name: string, wire: 'near' | 'far', rows: number) {
  const db = await openNamed(name);
  await lab.counts(wire);
  const { ms } = await timed(async () =>
    db.putMany(await fetch(`${url}rows.ndjson`), { key: '/id' }),
  );
  const counts = await lab.counts(wire);
  await checkRows(db, rows);
  await db.close();
  return { value: ms, details: wireDetails(counts) };
}

const NDJSON: Contestant = {
  name: 'hedgerow, gzipped NDJSON by fetch',
  kind: 'variant',
  cannot: ONCE,
  ...missing,
  acts: [
    async ({ rows }) => {
      const { near } = await lab.feed(rows, 'ndjson');
      return { 'clone-near': await download(near, 'near', 'near', rows) };
    },
    async ({ rows }) => {
      const { far: url } = await lab.feed(rows, 'ndjson');
      return { clone: await download(url, 'far', 'far', rows) };
    },
  ],
};

/** Clones the same rows from an encrypted remote. */
const ENCRYPTED: Contestant = {
  name: 'hedgerow, encrypted',
  kind: 'variant',
  cannot: ONCE,
  ...missing,
  acts: [
    async ({ rows }) => clonedNear(rows, (await lab.full(rows, KEY)).near, SEALED),
    async ({ rows }) => {
      const { far: url } = await lab.full(rows, KEY);
      const db = await openNamed('far');
      const [, clone] = await cloneFar(db, url, rows, SEALED);
      await db.close();
      return { clone };
    },
  ],
};

export const SYNC: Suite = {
  name: 'sync',
  cases: [
    { name: 'clone-near', title: 'a clone of all rows without a delay, beside loads', unit: 'ms' },
    { name: 'clone', title: 'the clone from 80 ms away', unit: 'ms' },
    { name: 'pull-10', title: 'a pull of 10 changed rows, until a watcher is called', unit: 'ms' },
    {
      name: 'pull-poked',
      title: "from another device's push of 10 rows until a watcher is called, by events",
      unit: 'ms',
    },
    { name: 'push-10', title: 'a push of 10 rows', unit: 'ms' },
    { name: 'pull-nothing', title: 'a pull when nothing is new', unit: 'ms' },
    { name: 'push-race', title: 'a push of 10 rows, after another device was first', unit: 'ms' },
    { name: 'push-first', title: 'the first push of all rows', unit: 'ms' },
  ],
  contestants: [
    { name: 'hedgerow', kind: 'ours', ...missing, acts: [cloneNear, far, first] },
    load('hedgerow, putMany of objects', 'floor', false),
    load('hedgerow, putMany of NDJSON', 'variant', true),
    NDJSON,
    ENCRYPTED,
  ],
};
