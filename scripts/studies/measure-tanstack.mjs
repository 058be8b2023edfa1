// Measures collections of TanStack DB over tables: `node scripts/studies/measure-tanstack.mjs [--rows 100000] [--rounds 5]`. A
// store in memory, in Node. Prints the median of the rounds, in processor time, which other programs change little:
// until an eager collection is ready, until a live query shows its first page and the next one on demand, and mutations
// until they are persisted, next to a put of the table alone. Then a persisted collection: all rows written and read,
// and the same first page.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { memory, open, table } from '../../js/hedgerow/dist/index.js';
import { hedgerowCollectionOptions, hedgerowPersistence } from '../../js/tanstack-db/dist/index.js';
import { ROOT } from '../lib/run.mjs';

const option = (name, otherwise) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
};
const ROWS = option('--rows', 100_000);
const ROUNDS = option('--rounds', 5);
const PAGE = 50;
const MUTATIONS = 200;

const { resolve } = createRequire(join(ROOT, 'js', 'hedgerow', 'package.json'));
const esm = (name, from = resolve) =>
  import(pathToFileURL(from(name).replace('/cjs/index.cjs', '/esm/index.js')).href);
const { createCollection, createLiveQueryCollection, eq } = await esm('@tanstack/db');
const persistencePath = resolve('@tanstack/db-sqlite-persistence-core');
const { persistedCollectionOptions } = await esm('@tanstack/db-sqlite-persistence-core');
// The version that the persistence package has.
const older = await esm('@tanstack/db', createRequire(persistencePath).resolve);

const issues = table({
  key: 'id',
  indexes: { byState: ['status', 'modified'] },
});
const issue = (at) => ({
  id: `issue${String(at).padStart(8, '0')}`,
  title: `The quick brown fox jumps over issue ${at}`,
  status: at % 3 ? 'open' : 'closed',
  owner: `user${at % 97}`,
  modified: 1_700_000_000_000 + at,
});
const rows = Array.from({ length: ROWS }, (_, at) => issue(at));

const times = new Map();
async function timed(name, work, count = 1) {
  const start = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(start);
  const ms = (user + system) / 1_000 / count;
  times.set(name, [...(times.get(name) ?? []), ms]);
  return result;
}

const newest = (create, q, of) =>
  create((query) =>
    query
      .from({ issue: of })
      .where(({ issue }) => q(issue.status, 'open'))
      .orderBy(({ issue }) => issue.modified, 'desc')
      .limit(PAGE),
  );

async function round(n) {
  const db = await open(`measure-${n}`, { storage: memory(), tables: { issues } });
  await db.issues.putMany(rows);
  await db.issues.ready();

  const alone = createCollection({
    getKey: ({ id }) => id,
    sync: {
      sync({ begin, write, commit, markReady }) {
        begin();
        for (const value of rows) write({ type: 'insert', value });
        commit();
        markReady();
      },
    },
  });
  await timed('TanStack DB alone: all rows of an array', () => alone.preload());
  await alone.cleanup();

  const eager = createCollection(hedgerowCollectionOptions({ table: db.issues }));
  await timed('eager: all rows', () => eager.preload());
  await timed('one mutation, eager', () => mutations(eager, n, 0), MUTATIONS);
  await eager.cleanup();

  const lazy = createCollection(
    hedgerowCollectionOptions({ table: db.issues, syncMode: 'on-demand' }),
  );
  const page = newest(createLiveQueryCollection, eq, lazy);
  await timed('on demand: first page', () => page.preload());
  await timed('on demand: next page', () => page.utils.setWindow({ offset: PAGE, limit: PAGE }));
  if (lazy.size > 3 * PAGE) throw new Error(`${lazy.size} rows for two pages`);
  await timed('one mutation, on demand', () => mutations(lazy, n, 1), MUTATIONS);
  await page.cleanup();
  await lazy.cleanup();

  await timed(
    'one put of the table',
    async () => {
      for (let at = 0; at < MUTATIONS; at++) await db.issues.put(issue(ROWS + 10_000 * n + at));
    },
    MUTATIONS,
  );
  await timed(
    'one insert of the table',
    async () => {
      for (let at = 0; at < MUTATIONS; at++) {
        await db.issues.insert({ ...issue(ROWS + 10_000 * n + at), id: `insert${at}` });
      }
    },
    MUTATIONS,
  );
  await db.close();
}

async function mutations(collection, n, kind) {
  for (let at = 0; at < MUTATIONS; at++) {
    const made = { ...issue(at), id: `new${n}-${kind}-${at}`, status: 'closed', modified: 1 };
    await collection.insert(made).isPersisted.promise;
  }
}

async function persistedRound(n) {
  const storage = memory();
  const db = await open(`persisted-${n}`, { storage });
  const collection = (more) =>
    older.createCollection(
      persistedCollectionOptions({
        id: 'issues',
        getKey: ({ id }) => id,
        persistence: hedgerowPersistence(db),
        ...more,
      }),
    );
  const { adapter } = hedgerowPersistence(db);
  const expressionSql = [JSON.stringify({ type: 'ref', path: ['modified'] })];
  await adapter.ensureIndex('issues', 'modified', { expressionSql });
  await timed('persisted: all rows written, in one transaction', () =>
    adapter.applyCommittedTx('issues', {
      txId: `load-${n}`,
      term: 1,
      seq: 1,
      rowVersion: 1,
      mutations: rows.map((value) => ({ type: 'insert', key: value.id, value })),
    }),
  );
  const eager = collection({});
  await timed('persisted: all rows', () => eager.preload());
  await eager.cleanup();
  const orderBy = [
    {
      expression: { type: 'ref', path: ['modified'] },
      compareOptions: { direction: 'desc', nulls: 'first', stringSort: 'lexical' },
    },
  ];
  await timed('persisted: first page', () =>
    adapter.loadSubset('issues', { orderBy, limit: PAGE }),
  );
  await db.close();
}

for (let n = 0; n < ROUNDS; n++) await round(n);
for (let n = 0; n < ROUNDS; n++) await persistedRound(n);
console.log(`${ROWS.toLocaleString('en')} rows, median of ${ROUNDS} rounds`);
for (const [name, all] of times) {
  const median = all.sort((a, b) => a - b)[all.length >> 1];
  console.log(`${name.padEnd(50)}${median.toFixed(2).padStart(10)} ms`);
}
