// `node scripts/studies/measure-migrations.mjs [--rows 1000000] [--storage memory|sqlite] [--way background|simple]
// [--writes]`: migrates the rows of a table to version 2 in one process. Prints the time, the longest time for which no
// other code could run in the page, and the stored bytes before, after, and after a compaction. `--way simple` is one
// transaction over all rows, as an app may write it; `--writes` puts a row each 20 ms during the migration, and prints
// how long these took.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  migrateIssue,
  newIssue,
  newIssues,
  oldIssues,
  oldRows,
} from '../../js/hedgerow/test/support/migrating.mjs';
import { refuseDevBuild } from '../lib/dev-build.mjs';
import { runMain } from '../lib/run.mjs';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    storage: { type: 'string', default: 'memory' },
    way: { type: 'string', default: 'background' },
    writes: { type: 'boolean', default: false },
  },
});
const rows = Number(values.rows);
const mib = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

/**
 * Checks the thread in each turn of the event loop: the longest gap between two turns is the longest slice. Processor
 * time of other processes does not count.
 */
function turns() {
  let isOver = false;
  let lastMs = performance.now();
  let last = process.cpuUsage();
  const gaps = [];
  const look = () => {
    const nowMs = performance.now();
    const { user, system } = process.cpuUsage(last);
    gaps.push(Math.min(nowMs - lastMs, (user + system) / 1000));
    lastMs = nowMs;
    last = process.cpuUsage();
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  return () => {
    isOver = true;
    gaps.sort((a, b) => b - a);
    const over = gaps.filter((gap) => gap > 12).length;
    return `longest slices ${gaps
      .slice(0, 5)
      .map((gap) => gap.toFixed(1))
      .join(', ')} ms; ${over} over 12 ms`;
  };
}

/** Puts rows during the migration; returns a function that returns how long they took. */
function writing(db) {
  const times = [];
  let at = 0;
  const timer = setInterval(async () => {
    const startMs = performance.now();
    await db.put(`other/${at++}`, { at });
    times.push(performance.now() - startMs);
  }, 20);
  return () => {
    clearInterval(timer);
    times.sort((a, b) => a - b);
    const of = (share) => times[Math.floor((times.length - 1) * share)]?.toFixed(1);
    return `${times.length} puts beside it: median ${of(0.5)} ms, 99 % ${of(0.99)} ms, longest ${of(1)} ms`;
  };
}

async function background(db) {
  const { issues } = db;
  const count = await issues.where({ state: 'open' }).count();
  const { rows: brought, refused, error } = await issues.migration();
  if (error !== undefined || refused > 0 || brought !== rows) throw new Error('it has failed');
  return `${brought} rows, of which ${count} are found as open`;
}

async function simple(db) {
  await db.transaction(async (tx) => {
    for await (const [key, row] of tx.scan({ prefix: 'issues/' })) {
      tx.put(key, { ...migrateIssue(row), '~v': 2 });
    }
  });
  return 'one transaction';
}

await runMain(async () => {
  await refuseDevBuild();
  const { memory, open } = await import('../../js/hedgerow/dist/index.js');
  const { sqlite } = await import('../../js/sqlite/dist/index.js');
  const { table } = await import('../../js/hedgerow/dist/index.js');
  const location = mkdtempSync(join(tmpdir(), 'migrations-'));
  const storage = values.storage === 'sqlite' ? sqlite({ location }) : memory();
  try {
    const old = await open('app', { storage, tables: { issues: oldIssues(table) } });
    await old.issues.putMany(oldRows(rows));
    await old.issues.where({ status: 'open' }).count();
    await old.health.compact();
    console.log(`stored before   ${mib((await old.health.stats()).storedBytes)}`);
    await old.close();

    const isSimple = values.way === 'simple';
    const tables = { issues: (isSimple ? oldIssues : newIssues)(table) };
    const startMs = performance.now();
    const startCpu = process.cpuUsage();
    const stop = turns();
    const told = [];
    let lastMs = startMs;
    const onMigration = ({ rows: done, remaining }) => {
      told.push({ done, remaining, ms: performance.now() - lastMs });
      lastMs = performance.now();
    };
    const onIndexProgress = () => {
      lastMs = performance.now();
    };
    const calls = isSimple ? {} : { onMigration, advanced: { onIndexProgress } };
    const db = await open('app', { storage, tables, ...calls });
    const stopWrites = values.writes ? writing(db) : () => '';
    const what = await (isSimple ? simple(db) : background(db));
    const ms = performance.now() - startMs;
    const { user, system } = process.cpuUsage(startCpu);
    const speed = Math.round((rows / ms) * 1000);
    console.log(`${what} in ${(ms / 1000).toFixed(1)} s: ${speed} rows/s`);
    console.log(`${((user + system) / 1e6).toFixed(1)} s of the processor`);
    console.log(stop());
    if (values.writes) console.log(stopWrites());
    const commits = told.filter((one, at) => at > 0 && one.done > told[at - 1].done);
    if (commits.length > 0) {
      const sizes = commits.map((one, at) => one.done - (commits[at - 1]?.done ?? 0));
      const longest = Math.max(...commits.map((one) => one.ms));
      console.log(
        `${commits.length} commits of ${Math.min(...sizes)} to ${Math.max(...sizes)} rows, each within ${longest.toFixed(0)} ms`,
      );
    }
    const { storedBytes: bytes } = await db.health.stats();
    await db.health.compact();
    const after = (await db.health.stats()).storedBytes;
    console.log(`stored after    ${mib(bytes)}; ${mib(after)} when it is compacted`);
    const last = await db.get(`issues/${String(rows - 1).padStart(8, '0')}`);
    const wanted = { ...newIssue(rows - 1), '~v': 2 };
    if (JSON.stringify(last) !== JSON.stringify(wanted)) throw new Error('it differs');
    await db.close();
  } finally {
    rmSync(location, { recursive: true, force: true });
  }
});
