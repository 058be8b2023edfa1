// `node scripts/studies/measure-tables.mjs [--rows 100000] [--rounds 9] [--dist js/hedgerow/dist]`: compares tables with the plain calls
// of a store in processor time, for `values: 'json'` and `'structured'`, over `memory()` in Node. The ways take turns
// in each round. Prints medians, and the median of the ratios round by round. The structured rows have a `Date`, the
// plain ones its number, in a member that both list. With `--gap` it prints instead how long loads of rows that zod,
// valibot and arktype validate hold the event loop.

import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { refuseDevBuild } from '../lib/dev-build.mjs';
import { longestGapOf, median } from '../lib/measured.mjs';
import { ROOT, runMain } from '../lib/run.mjs';

// As apps run: a development build checks each written row.
process.env.NODE_ENV ??= 'production';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '9' },
    dist: { type: 'string', default: join(ROOT, 'js', 'hedgerow', 'dist') },
    gap: { type: 'boolean', default: false },
  },
});
const [ROWS, ROUNDS] = [Number(values.rows), Number(values.rounds)];
/** Calls that are awaited one by one. */
const CALLS = Math.min(ROWS, 20_000);

const load = (...path) => import(pathToFileURL(resolve(values.dist, ...path)).href);

const idOf = (at) => `i${String(at).padStart(8, '0')}`;
const rowOf = (at) => ({
  id: idOf(at),
  modified: 1_700_000_000_000 + at,
  owner: `user${at % 97}`,
  priority: at % 5,
  status: at % 3 ? 'open' : 'closed',
  title: `The quick brown fox jumps over issue ${at}`,
});
const datedRowOf = (at) => ({ ...rowOf(at), modified: new Date(1_700_000_000_000 + at) });
const list = (make) => Array.from({ length: ROWS }, (_, at) => make(at));

/** The calls of a store, and of a table, by the same names. */
function plainCalls(db) {
  return {
    put: (row) => db.put(`rows/${row.id}`, row),
    get: (id) => db.get(`rows/${id}`),
    getMany: (ids) => db.getMany(ids.map((id) => `rows/${id}`)),
    scan: () => db.scan({ prefix: 'rows/' }).values().toArray(),
    async iterate() {
      let count = 0;
      for await (const _ of db.scan({ prefix: 'rows/' }).values()) count += 1;
      return count;
    },
    putMany: (source) => db.putMany(source, { key: '/id', prefix: 'rows/' }),
    clear: () => db.deleteMany({ prefix: 'rows/' }),
  };
}
function tableCalls({ rows }) {
  return {
    put: (row) => rows.put(row),
    get: (id) => rows.get(id),
    getMany: (ids) => rows.getMany(ids),
    scan: () => rows.toArray(),
    async iterate() {
      let count = 0;
      for await (const _ of rows) count += 1;
      return count;
    },
    putMany: (source) => rows.putMany(source),
    clear: () => rows.clear(),
  };
}

async function timed(work) {
  globalThis.gc?.();
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** Times the works of one contestant. */
async function measure(calls, rows, bytes) {
  const ids = rows.map(({ id }) => id);
  const some = ids.slice(0, CALLS);
  const times = {};
  const note = async (name, work) => {
    times[name] = await timed(work);
  };
  await note('putMany of objects', () => calls.putMany(rows));
  await note('scan, toArray', calls.scan);
  await note('for await', calls.iterate);
  await note('getMany of all', () => calls.getMany(ids));
  await note(`get, ${CALLS} awaited`, async () => {
    for (const id of some) await calls.get(id);
  });
  await note(`get, ${CALLS} at once`, () => Promise.all(some.map((id) => calls.get(id))));
  await note(`put, ${CALLS} at once`, () =>
    Promise.all(rows.slice(0, CALLS).map((row) => calls.put(row))),
  );
  await note('put, 500 awaited', async () => {
    for (const row of rows.slice(0, 500)) await calls.put(row);
  });
  await calls.clear();
  await note('putMany of bytes', () => calls.putMany(bytes));
  await calls.clear();
  return times;
}

async function compare() {
  const { open, memory } = await load('index.js');
  const { table } = await load('tables', 'index.js');
  const plain = list(rowOf);
  const dated = list(datedRowOf);
  const bytes = new Blob([plain.map((row) => JSON.stringify(row)).join('\n')]);
  // The store returns parts of 64 KiB, as a network does.
  const contestants = {
    plain: [await open('plain', { storage: memory() }), plainCalls, plain],
    json: [
      await open('json', { storage: memory(), tables: { rows: table({ key: 'id' }) } }),
      tableCalls,
      plain,
    ],
    structured: [
      await open('structured', {
        storage: memory(),
        tables: { rows: table({ key: 'id', values: 'structured' }) },
      }),
      tableCalls,
      dated,
    ],
  };
  const all = {};
  for (let round = 0; round <= ROUNDS; round++) {
    const turns = Object.entries(contestants);
    for (const [name, [db, callsOf, rows]] of round % 2 ? turns : turns.reverse()) {
      const times = await measure(callsOf(db), rows, bytes);
      // The first round warms up.
      if (round === 0) continue;
      for (const [work, ms] of Object.entries(times)) {
        all[work] ??= { plain: [], json: [], structured: [] };
        all[work][name].push(ms);
      }
    }
  }
  for (const [db] of Object.values(contestants)) await db.close();
  console.log(
    `${ROWS.toLocaleString('en')} rows, ${ROUNDS} rounds; Node ${process.versions.node}\n`,
  );
  console.log('| | store, ms | table of json | x | structured | x |');
  console.log('| --- | ---: | ---: | ---: | ---: | ---: |');
  for (const [work, { plain, json, structured }] of Object.entries(all)) {
    const ratio = (other) => median(other.map((ms, at) => ms / plain[at])).toFixed(2);
    const ms = (times) => median(times).toFixed(1);
    const cells = [ms(plain), ms(json), ratio(json), ms(structured), ratio(structured)];
    console.log(`| ${work} | ${cells.join(' | ')} |`);
  }
}

async function gaps() {
  const { open, memory } = await load('index.js');
  const { table } = await load('tables', 'index.js');
  const own = createRequire(join(ROOT, 'js', 'hedgerow', 'package.json'));
  const { z } = await import(pathToFileURL(own.resolve('zod')).href);
  const v = await import(pathToFileURL(own.resolve('valibot')).href);
  const { type } = await import(pathToFileURL(own.resolve('arktype')).href);
  const schemas = {
    none: undefined,
    zod: z.object({
      id: z.string(),
      modified: z.number(),
      owner: z.string(),
      priority: z.number().int(),
      status: z.enum(['open', 'closed']),
      title: z.string().min(1),
    }),
    valibot: v.object({
      id: v.string(),
      modified: v.number(),
      owner: v.string(),
      priority: v.pipe(v.number(), v.integer()),
      status: v.picklist(['open', 'closed']),
      title: v.pipe(v.string(), v.minLength(1)),
    }),
    arktype: type({
      id: 'string',
      modified: 'number',
      owner: 'string',
      priority: 'number.integer',
      status: "'open' | 'closed'",
      title: 'string > 0',
    }),
  };
  const rows = list(rowOf);
  const bytes = new Blob([JSON.stringify(rows)]);
  console.log(
    `${ROWS.toLocaleString('en')} rows, ${ROUNDS} rounds; Node ${process.versions.node}\n`,
  );
  console.log('| schema | objects, ms | longest gap, ms | bytes, ms | longest gap, ms |');
  console.log('| --- | ---: | ---: | ---: | ---: |');
  const told = {};
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, schema] of Object.entries(schemas)) {
      const definition = { key: 'id', ...(schema && { schema }) };
      const db = await open(name, { storage: memory(), tables: { rows: table(definition) } });
      for (const source of [rows, bytes]) {
        let ms = 0;
        const gapMs = await longestGapOf(async () => {
          ms = await timed(() => db.rows.putMany(source));
        });
        if (round > 0) {
          told[name] ??= [[], [], [], []];
          const at = source === rows ? 0 : 2;
          told[name][at].push(ms);
          told[name][at + 1].push(gapMs);
        }
        await db.rows.clear();
      }
      await db.close();
    }
  }
  for (const [name, all] of Object.entries(told)) {
    console.log(`| ${name} | ${all.map((times) => median(times).toFixed(1)).join(' | ')} |`);
  }
}

await runMain(async () => {
  refuseDevBuild();
  await (values.gap ? gaps() : compare());
});
