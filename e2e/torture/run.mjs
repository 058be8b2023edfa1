// Checks what a real browser loses of a store. `npm run torture` builds first. Each torture prints its seed, which
// repeats the same phases and moments.

import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Progress } from '../bench/lib/progress.mjs';
import { enginesFor, readArguments } from './lib/arguments.mjs';
import { crashPages } from './lib/crash.mjs';
import { loseConnections } from './lib/disconnect.mjs';
import { fillEngine } from './lib/full.mjs';
import { killEngine } from './lib/kill.mjs';
import { fillDisks } from './lib/quota.mjs';
import {
  disconnectRows,
  fullRows,
  killRows,
  printTable,
  quotaRows,
  syncRows,
} from './lib/report.mjs';
import { withServer } from './lib/server.mjs';
import { killSyncEngine } from './lib/sync/kill-sync.mjs';

/** The rows of the table by the kind of torture. */
const ROWS = {
  kill: killRows,
  sync: syncRows,
  crash: killRows,
  quota: quotaRows,
  full: fullRows,
  disconnect: disconnectRows,
};
const RESULTS = fileURLToPath(new URL('results/', import.meta.url));

async function main() {
  const options = readArguments(process.argv.slice(2));
  const { seed, rows, durability, atOnce } = options;
  console.log(`seed ${seed}, durability ${durability}`);
  const progress = new Progress();
  const startedAt = new Date();
  const results = await withServer(async (port) => {
    const common = {
      origin: `http://127.0.0.1:${port}/`,
      seed,
      rows,
      durability,
      show: (text) => progress.show(text),
    };
    const tortures = {
      kill: (engine) => killEngine(engine, { ...common, cycles: options.kill, atOnce }),
      sync: (engine) => killSyncEngine(engine, { ...common, kills: options.sync }),
      crash: (engine) => crashPages(engine, { ...common, cycles: options.crash }),
      quota: (engine) => fillDisks(engine, { ...common, points: options.quota }),
      full: (engine) => fillEngine(engine, { ...common, runs: options.full }),
      disconnect: (engine) => loseConnections(engine, { ...common, stride: 1 }),
    };
    const found = {};
    for (const kind of options.only) {
      const startMs = Date.now();
      found[kind] = await onEngines(enginesFor(kind, options.engines), tortures[kind]);
      found[kind].seconds = Math.round((Date.now() - startMs) / 1000);
    }
    return found;
  });
  progress.clear();

  printTable(
    Object.entries(results).flatMap(([kind, { engines }]) =>
      engines.flatMap((found) => ROWS[kind](`${kind}, ${found.engine}`, found)),
    ),
  );
  const all = Object.values(results);
  for (const problem of all.flatMap(({ problems }) => problems)) console.log(`problem: ${problem}`);
  for (const found of all.flatMap(({ engines }) => engines)) {
    for (const where of found.wiped ?? []) console.log(`origin wiped: ${where}`);
    for (const trap of found.traps ?? []) console.log(`trap: ${trap}`);
    for (const loss of found.losses ?? []) console.log(`lost: ${loss}`);
  }
  await mkdir(RESULTS, { recursive: true });
  const report = { schema: 1, startedAt: startedAt.toISOString(), options, ...results };
  await writeFile(`${RESULTS}latest.json`, `${JSON.stringify(report, null, 1)}\n`);
  const seconds = Object.entries(results).map(([kind, found]) => `${kind} ${found.seconds} s`);
  console.log(`\nwritten to ${RESULTS}latest.json; ${seconds.join(', ')}`);
  if (!all.every(({ isKept }) => isKept)) process.exitCode = 1;
}

/** Runs `work` with each of the engines; a missing one is a problem. */
async function onEngines(asked, work) {
  const engines = [];
  const problems = [];
  for (const engine of asked) {
    if (engine.find() !== undefined) engines.push(await work(engine));
    else problems.push(`${engine.name} is missing: npm run setup -- --browser`);
  }
  problems.push(...engines.flatMap((found) => found.blamed ?? found.problems));
  const isKept = problems.length === 0 && engines.every((found) => found.isKept ?? true);
  return { engines, problems, isKept };
}

try {
  await main();
} catch (error) {
  console.error('\ntorture:', error);
  process.exitCode = 1;
}
