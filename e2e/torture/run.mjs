// Nothing lost: what a real browser does to a store, and what is left. `npm run torture` builds
// first. Each torture prints its seed; with it the same phases and moments come again.

import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Progress } from '../bench/lib/progress.mjs';
import { readArguments } from './lib/arguments.mjs';
import { crashPages } from './lib/crash.mjs';
import { loseConnections } from './lib/disconnect.mjs';
import { fillEngines } from './lib/full.mjs';
import { killEngines } from './lib/kill.mjs';
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
import { killSyncEngines } from './lib/sync/kill-sync.mjs';

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
      kill: () => killEngines({ ...common, cycles: options.kill, atOnce, names: options.engines }),
      sync: () => killSyncEngines({ ...common, kills: options.sync, names: options.engines }),
      crash: () => crashPages({ ...common, cycles: options.crash }),
      quota: () => fillDisks({ ...common, points: options.quota }),
      full: () => fillEngines({ ...common, runs: options.full, names: options.engines }),
      disconnect: () => loseConnections({ ...common, stride: 1 }),
    };
    const found = {};
    for (const kind of options.only) {
      const startMs = Date.now();
      found[kind] = await tortures[kind]();
      found[kind].seconds = Math.round((Date.now() - startMs) / 1000);
    }
    return found;
  });
  progress.clear();

  const { kill, sync, crash, quota, full, disconnect } = results;
  printTable([
    ...(kill?.engines ?? []).flatMap((tally) => killRows(`kill, ${tally.engine}`, tally)),
    ...(sync?.engines ?? []).flatMap((tally) => syncRows(`sync, ${tally.engine}`, tally)),
    ...(crash ? killRows('crash', crash) : []),
    ...(quota ? quotaRows(quota) : []),
    ...(full ? fullRows(full) : []),
    ...(disconnect ? disconnectRows(disconnect) : []),
  ]);
  const problems = Object.values(results).flatMap((found) => found.blamed ?? found.problems);
  for (const problem of problems) console.log(`problem: ${problem}`);
  for (const found of [...(kill?.engines ?? []), ...(sync?.engines ?? []), crash]) {
    for (const where of found?.wiped ?? []) console.log(`origin wiped: ${where}`);
    for (const trap of found?.traps ?? []) console.log(`trap: ${trap}`);
    for (const loss of found?.losses ?? []) console.log(`lost: ${loss}`);
  }
  await mkdir(RESULTS, { recursive: true });
  const report = { schema: 1, startedAt: startedAt.toISOString(), options, ...results };
  await writeFile(`${RESULTS}latest.json`, `${JSON.stringify(report, null, 1)}\n`);
  const seconds = Object.entries(results).map(([kind, found]) => `${kind} ${found.seconds} s`);
  console.log(`\nwritten to ${RESULTS}latest.json; ${seconds.join(', ')}`);
  const isKept = (found) => found.isKept ?? found.problems.length === 0;
  if (!Object.values(results).every(isKept)) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  console.error('\ntorture:', error);
  process.exitCode = 1;
}
