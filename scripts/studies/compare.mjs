// `node scripts/studies/compare.mjs DIR [--rows 100000] [--rounds 15]`: compares this build with the build of the checkout in
// DIR, in Node over `memory()`. The two take turns in one process. Prints the times of each case, and the ratios of
// this build to the other: of the minima, and of the medians. The build that is imported first takes up to a tenth longer
// for short calls, also against itself: run it in both checkouts.

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { refuseDevBuild } from '../lib/dev-build.mjs';
import { CommandFailed, ROOT, runMain } from '../lib/run.mjs';

/** Makes rows of about 150 bytes, not in the order of their keys. */
function rowsOf(count) {
  return Array.from({ length: count }, (_, at) => {
    const id = (at * 7919) % count;
    const city = { id, name: `Place ${id}`, country: `C${id % 200}`, at: [id / 7, id / 11] };
    return [
      `place/${String(id).padStart(8, '0')}`,
      { ...city, tags: ['a', 'b', `t${id % 50}`], note: 'x'.repeat(40) },
    ];
  });
}

/** The cases. `prepare` is not timed; the function that it resolves to is. */
const CASES = {
  async 'load objects'({ open, memory }, { rows }) {
    const db = await open('a', { storage: memory() });
    return [() => db.putMany(rows), db];
  },
  async 'load NDJSON'({ open, memory }, { bytes }) {
    const db = await open('a', { storage: memory() });
    return [() => db.putMany(bytes, { format: 'ndjson', key: '/key' }), db];
  },
  async 'load, two indexes'({ open, memory }, { rows }) {
    const indexes = { byCountry: { path: '/country' }, byName: { path: '/name' } };
    const db = await open('a', { storage: memory(), indexes });
    return [() => db.putMany(rows), db];
  },
  async 'scan of all'({ open, memory }, { rows }) {
    const db = await open('a', { storage: memory() });
    await db.putMany(rows);
    return [() => db.scan().toArray(), db];
  },
  async '20 x getMany of 1,000'({ open, memory }, { rows }) {
    const db = await open('a', { storage: memory() });
    await db.putMany(rows);
    const keys = Array.from({ length: 1000 }, (_, at) => rows[(at * 104_729) % rows.length][0]);
    const run = async () => {
      for (let times = 0; times < 20; times++) await db.getMany(keys);
    };
    return [run, db];
  },
  async '20,000 gets'({ open, memory }, { rows }) {
    const db = await open('a', { storage: memory() });
    await db.putMany(rows);
    const run = async () => {
      for (let at = 0; at < 20_000; at++) await db.get(rows[(at * 104_729) % rows.length][0]);
    };
    return [run, db];
  },
  async '1,000 puts'({ open, memory }, { rows }) {
    const db = await open('a', { storage: memory() });
    await db.putMany(rows);
    const run = async () => {
      for (let at = 0; at < 1000; at++) await db.put(rows[(at * 104_729) % rows.length][0], { at });
    };
    return [run, db];
  },
};

async function timed(prepare, build, input) {
  const [run, db] = await prepare(build, input);
  const startMs = performance.now();
  await run();
  const ms = performance.now() - startMs;
  await db.close();
  return ms;
}

const minOf = (times) => Math.min(...times);
const medianOf = (times) => times.toSorted((a, b) => a - b)[times.length >> 1];

async function load(dir) {
  const file = join(dir, 'js', 'hedgerow', 'dist', 'index.js');
  if (!existsSync(file)) throw new CommandFailed(`${file} is not built`);
  refuseDevBuild(dir);
  return import(pathToFileURL(file).href);
}

async function main() {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { rows: { type: 'string' }, rounds: { type: 'string' } },
  });
  const [dir] = positionals;
  if (dir === undefined) throw new CommandFailed('node scripts/studies/compare.mjs DIR');
  const builds = [await load(ROOT), await load(resolve(dir))];
  const rows = rowsOf(Number(values.rows ?? 100_000));
  const lines = rows.map(([key, value]) => JSON.stringify({ key, ...value })).join('\n');
  const input = { rows, bytes: new TextEncoder().encode(lines) };
  const row = (name, ...cells) =>
    console.log(name.padEnd(24), ...cells.map((cell) => String(cell).padStart(12)));
  row('', 'this, ms', 'other, ms', 'minima', 'medians');
  for (const [name, prepare] of Object.entries(CASES)) {
    const times = [[], []];
    for (let round = 0; round < Number(values.rounds ?? 15); round++) {
      // Alternate which build is first.
      const order = round % 2 === 0 ? [0, 1] : [1, 0];
      for (const at of order) times[at].push(await timed(prepare, builds[at], input));
    }
    const ratio = (of) => (of(times[0]) / of(times[1])).toFixed(2);
    const mins = times.map((all) => minOf(all).toFixed(1));
    row(name, ...mins, ratio(minOf), ratio(medianOf));
  }
}

await runMain(main);
