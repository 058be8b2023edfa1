// Measures, inside Hermes, the load of the same rows into Hedgerow, into Replicache (its B+tree in memory), and into
// the simplest program: a Map of JSON texts with its keys sorted.

import './hermes-replicache-host.js';
import { memory, open } from 'hedgerow';
import { Replicache } from 'replicache';
import { rowsOf } from './workload.js';

const COUNT = 10_000;

const since = (start) => Date.now() - start;

/** Measures the gaps between tasks during `run`, in which no other code can run. */
async function watched(run) {
  let last = Date.now();
  let longest = 0;
  let isOver = false;
  const tick = () => {
    const now = Date.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setTimeout(tick, 0);
  };
  setTimeout(tick, 0);
  await new Promise((resolve) => setTimeout(resolve, 0));
  const start = Date.now();
  const result = await run();
  const ms = since(start);
  longest = Math.max(longest, Date.now() - last);
  isOver = true;
  return { ms, longest, result };
}

function told(name, { ms, longest }, count = COUNT) {
  const perSecond = Math.round((count / ms) * 1000);
  print(`${name}: ${ms} ms, ${perSecond} rows a second, longest gap between tasks ${longest} ms`);
}

async function hedgerow(rows) {
  const storage = memory();
  const db = await open('figures', { storage });
  const load = await watched(() => db.putMany(rows, { key: '/id' }));
  told('hedgerow putMany, objects', load);
  print(`  ${load.result.stats.slices} slices, longest ${load.result.stats.longestSliceMs} ms`);
  const changed = rows.filter((_, at) => at % 10 === 0).map((row) => ({ ...row, score: -1 }));
  told(
    'hedgerow putMany, every tenth row changed',
    await watched(() => db.putMany(changed, { key: '/id' })),
    changed.length,
  );
  told('hedgerow scan to objects', await watched(() => db.scan().toArray()));
  const keys = rows.slice(0, 3000).map(({ id }) => id);
  told('hedgerow getMany', await watched(() => db.getMany(keys)), keys.length);
  let start = Date.now();
  for (let at = 0; at < 1000; at++) await db.get(rows[(at * 7) % COUNT].id);
  print(`hedgerow get, awaited in sequence: ${Math.round(1e6 / since(start))} a second`);
  start = Date.now();
  for (let at = 0; at < 100; at++) await db.put(rows[at * 7].id, { ...rows[at * 7], n: at });
  print(`hedgerow put, awaited in sequence: ${(since(start) / 100).toFixed(1)} ms each`);
  await db.close();

  const text = rows.map((row) => JSON.stringify(row)).join('\n');
  const plain = unescape(encodeURIComponent(text));
  const bytes = Uint8Array.from({ length: plain.length }, (_, at) => plain.charCodeAt(at));
  const other = await open('bytes', { storage });
  const ndjson = await watched(() => other.putMany(bytes, { key: '/id' }));
  told('hedgerow putMany, the same as NDJSON', ndjson);
  print(`  ${ndjson.result.stats.slices} slices, longest ${ndjson.result.stats.longestSliceMs} ms`);
  await other.close();
  start = Date.now();
  await open('reopened', { storage }).then((store) => store.close());
  print(`hedgerow open, empty: ${since(start)} ms`);
}

/** Measures other calls that may block the thread. */
async function gaps(rows) {
  const db = await open('gaps', {
    storage: memory(),
    indexes: { byOwner: { path: '/owner' } },
  });
  const job = async (name, run, count = COUNT) =>
    told(`hedgerow ${name}`, await watched(run), count);
  await job('putMany with an index', () => db.putMany(rows, { key: '/id' }));
  const changed = rows.map((row) => ({ ...row, score: -2 }));
  await job('putMany with an index, all rows changed', () => db.putMany(changed, { key: '/id' }));
  await job('collect', () => db.health.compact());
  await job('verify', () => db.health.verify());
  await db.close();
}

/** Only loads; `scripts/studies/figures-hermes.mjs` measures the CPU time. */
async function load(rows) {
  const db = await open('load', { storage: memory() });
  await db.putMany(rows, { key: '/id' });
  await db.close();
}

async function replicache(rows) {
  let patch = rows.map((row) => ({ op: 'put', key: row.id, value: row }));
  const rep = new Replicache({
    name: 'figures',
    kvStore: 'mem',
    pullInterval: null,
    pushDelay: 1e9,
    logLevel: 'error',
    mutators: {
      async load(tx, all) {
        for (const row of all) await tx.set(row.id, row);
      },
    },
    puller: async () => {
      const response = { cookie: 1, lastMutationIDChanges: {}, patch };
      patch = [];
      return { httpRequestInfo: { httpStatusCode: 200, errorMessage: '' }, response };
    },
  });
  const last = rows[rows.length - 1].id;
  told(
    'replicache pull, in memory',
    await watched(
      () =>
        new Promise((resolve, reject) => {
          rep.subscribe(
            (tx) => tx.has(last),
            (seen) => seen && resolve(),
          );
          rep.pull({ now: true }).catch(reject);
        }),
    ),
  );
  await rep.close();
}

function plainMap(rows) {
  const start = Date.now();
  const map = new Map();
  for (const row of rows) map.set(row.id, JSON.stringify(row));
  const keys = [...map.keys()].sort();
  print(`a Map of JSON texts, and its ${keys.length} keys sorted: ${since(start)} ms`);
}

async function main() {
  const rows = rowsOf(COUNT);
  print(`${COUNT} rows, ${JSON.stringify(rows).length} characters of JSON`);
  const jobs = { none: () => {}, map: plainMap, hedgerow, load, replicache };
  if (globalThis.onlyJob !== undefined) return jobs[globalThis.onlyJob](rows);
  plainMap(rows);
  await hedgerow(rows);
  await gaps(rows);
  await replicache(rows);
}

// Replicache leaves timers behind.
main()
  .catch((error) => print(`failed: ${error} ${error?.stack}`))
  .then(() => endHost());
