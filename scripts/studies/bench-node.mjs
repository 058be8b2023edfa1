// `node scripts/studies/bench-node.mjs [--rows 100000] [--rounds 7]`: loads the rows of the benchmarks in Node over SQLite,
// with `putMany` and with SQLite alone (better-sqlite3 where it is installed, else `node:sqlite`): row by row in one
// transaction with a prepared statement, and with a transaction for each row (fewer rows, scaled up). The ways take
// turns in one run, each with a new file. Prints medians, the ratio of each to `putMany` round by round, and how long a
// load blocked the thread: in its own slices, and in the driver between them. Prints the same for a `getMany` of all
// keys. With `--open` it measures opening instead, over `memory()`: for as many rows, the size of the tables, the times
// of `open` and the first `get`, and linear memory after each.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { refuseDevBuild } from '../lib/dev-build.mjs';
import { longestGapOf, median } from '../lib/measured.mjs';
import { runMain } from '../lib/run.mjs';
import { importSource } from '../lib/source.mjs';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '7' },
    folder: { type: 'string', default: tmpdir() },
    open: { type: 'boolean', default: false },
  },
});
const [ROWS, ROUNDS] = [Number(values.rows), Number(values.rounds)];
/** Rows with their own transactions. */
const ALONE = Math.min(ROWS, 2000);

/** Makes the rows of the benchmarks in browsers. */
async function benchmarkRows() {
  const { makeRows } = await importSource('e2e', 'bench', 'page', 'rows.ts');
  return makeRows(ROWS);
}

/** Notes each instance of the core, whose size the package does not report. */
function newestInstance() {
  const { instantiate } = WebAssembly;
  let newest;
  WebAssembly.instantiate = async (...given) => {
    newest = await instantiate(...given);
    return newest;
  };
  return () => newest;
}

async function measureOpening() {
  const instance = newestInstance();
  const { memory, open } = await import('../../js/hedgerow/dist/index.js');
  const { rowsInTurn, idOf } = await importSource('e2e', 'bench', 'page', 'rows.ts');
  const storage = memory();
  const mib = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
  const linear = () => mib(instance().exports.memory.buffer.byteLength);
  const db = await open('bench', { storage });
  await db.putMany(rowsInTurn(ROWS), { key: '/id' });
  console.log(`${ROWS.toLocaleString('en')} rows; linear memory after their load ${linear()}`);
  await db.close();
  const segments = await storage.open('bench');
  const { tables } = await segments.load();
  const bytes = tables.reduce((sum, { tableBytes }) => sum + tableBytes.length, 0);
  console.log(`${tables.length} tables of ${mib(bytes)}`);
  for (let round = 0; round < ROUNDS; round++) {
    const startMs = performance.now();
    const again = await open('bench', { storage });
    const openMs = performance.now() - startMs;
    const opened = linear();
    await again.get(idOf(ROWS >> 1));
    const getMs = performance.now() - startMs - openMs;
    const ms = `open ${openMs.toFixed(1)} ms, first get ${getMs.toFixed(1)} ms`;
    console.log(`${ms}; linear memory ${opened}, then ${linear()}`);
    await again.close();
  }
}

async function main() {
  refuseDevBuild();
  if (values.open) return measureOpening();
  const { Better, nodeModule } = await import('../../js/sqlite/test/support/sqlite.mjs');
  const [driver, Sqlite] = Better
    ? ['better-sqlite3', Better]
    : ['node:sqlite', nodeModule.DatabaseSync];
  const { open, destroy } = await import('../../js/hedgerow/dist/index.js');
  const { sqlite } = await import('../../js/sqlite/dist/index.js');
  const rows = await benchmarkRows();
  const json = rows.reduce((sum, row) => sum + Buffer.byteLength(JSON.stringify(row)), 0);
  const folder = mkdtempSync(join(values.folder, 'hedgerow-bench-'));
  const held = { longestSliceMs: [], longestGapMs: [], getManyGapMs: [] };

  /** Times `insert`, with a table for keys and JSON. */
  const plain = async (insert) => {
    const db = new Sqlite(join(folder, 'plain.sqlite'));
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    db.exec('CREATE TABLE entry (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID');
    const statement = db.prepare('INSERT INTO entry (key, value) VALUES (?, ?)');
    const startMs = performance.now();
    insert(db, (row) => statement.run(row.id, JSON.stringify(row)));
    const ms = performance.now() - startMs;
    db.close();
    rmSync(join(folder, 'plain.sqlite'));
    return ms;
  };
  const contestants = {
    'hedgerow putMany': async () => {
      const storage = sqlite({ location: folder, driver });
      const db = await open('bench', { storage });
      const startMs = performance.now();
      let ms = 0;
      const gapMs = await longestGapOf(async () => {
        const { stats } = await db.putMany(rows, { key: '/id' });
        ms = performance.now() - startMs;
        held.longestSliceMs.push(stats.longestSliceMs);
      });
      held.longestGapMs.push(gapMs);
      const keys = rows.map(({ id }) => id);
      held.getManyGapMs.push(await longestGapOf(() => db.getMany(keys)));
      await db.close();
      await destroy('bench', { storage });
      return ms;
    },
    'row by row, one transaction': () =>
      plain((db, put) => {
        db.exec('BEGIN');
        for (const row of rows) put(row);
        db.exec('COMMIT');
      }),
    'a transaction for each row': async () => {
      const ms = await plain((_, put) => {
        for (const row of rows.slice(0, ALONE)) put(row);
      });
      return (ms * ROWS) / ALONE;
    },
  };

  const times = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
  try {
    // One more round: the first warms up.
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [name, run] of Object.entries(contestants)) {
        const ms = await run();
        if (round > 0) times[name].push(ms);
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  report(times, json, held);
}

function report(times, json, held) {
  const [own] = Object.values(times);
  console.log(`${ROWS.toLocaleString('en')} rows, ${(json / 1e6).toFixed(1)} MB of JSON, `);
  console.log(`${ROUNDS} rounds; Node ${process.versions.node}\n`);
  console.log('| | median ms | fastest | slowest | rows/s | x putMany |');
  console.log('| --- | ---: | ---: | ---: | ---: | ---: |');
  for (const [name, all] of Object.entries(times)) {
    const middle = median(all);
    const ratio = median(all.map((ms, at) => ms / own[at]));
    const cells = [middle, Math.min(...all), Math.max(...all)].map((ms) => ms.toFixed(0));
    const rate = Math.round((ROWS / middle) * 1000).toLocaleString('en');
    console.log(`| ${[name, ...cells, rate, ratio.toFixed(2)].join(' | ')} |`);
  }
  const told = (all) => `${median(all).toFixed(1)} ms, at most ${Math.max(...all).toFixed(1)} ms`;
  console.log(`\nlongest slice of a putMany: ${told(held.longestSliceMs)}`);
  console.log(`longest wait of the event loop meanwhile: ${told(held.longestGapMs)}`);
  console.log(`the same in a getMany of all keys: ${told(held.getManyGapMs)}`);
}

await runMain(main);
