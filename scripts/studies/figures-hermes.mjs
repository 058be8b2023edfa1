// `node scripts/studies/figures-hermes.mjs`: times a load of 10,000 rows in Hermes, compared with Replicache and
// a Map of JSON texts, in one run. The code is compiled as in an app: bytecode of `hermesc -O`.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { buildForReactNative } from '../build-react-native.mjs';
import { refuseDevBuild } from '../lib/dev-build.mjs';
import { bundleWithMetro, compileForHermes, hermesPath, runInHermes } from '../lib/hermes.mjs';
import { ROOT, runMain } from '../lib/run.mjs';
import { rowsOf } from '../long/platforms/workload.js';

const ROUNDS = 3;

await runMain(async () => {
  refuseDevBuild();
  await buildForReactNative();
  const polyfills = [join(ROOT, 'scripts', 'long', 'platforms', 'hermes-host.js')];
  const code = await bundleWithMetro('scripts/long/platforms', 'hermes-figures.js', { polyfills });
  console.log(await runInHermes(await compileForHermes('figures', code)));
  if (process.platform === 'linux') await countCpu(code);
  console.log(`in Node, by WebAssembly: ${(await loadInNode()).toFixed(0)} ms, median of 15`);
});

/** Times the same load in Node, in milliseconds. */
async function loadInNode() {
  const { memory, open } = await import(
    pathToFileURL(join(ROOT, 'js', 'hedgerow', 'dist', 'index.js')).href
  );
  const rows = rowsOf(10_000);
  const times = [];
  for (let round = 0; round < 15; round++) {
    const db = await open(`load ${round}`, { storage: memory() });
    const startMs = performance.now();
    await db.putMany(rows, { key: '/id' });
    times.push(performance.now() - startMs);
    await db.close();
  }
  return times.sort((a, b) => a - b)[7];
}

/** Measures the CPU seconds of one load, without making its rows. CPU time is also right on a busy machine. */
async function countCpu(code) {
  const seconds = {};
  for (const job of ['none', 'map', 'load', 'replicache']) {
    const file = await compileForHermes(`only-${job}`, `globalThis.onlyJob = '${job}';\n${code}`);
    const rounds = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push(await cpuOf(file));
    seconds[job] = Math.min(...rounds) - (seconds.none ?? 0);
  }
  for (const job of ['map', 'load', 'replicache']) {
    console.log(`processor, ${job}: ${seconds[job].toFixed(2)} s, least of ${ROUNDS}`);
  }
}

async function cpuOf(file) {
  const { stderr } = await promisify(execFile)('bash', [
    '-c',
    'TIMEFORMAT="%U %S"; time "$0" "$1" > /dev/null',
    hermesPath(),
    file,
  ]);
  return stderr
    .trim()
    .split(' ')
    .map(Number)
    .reduce((sum, part) => sum + part);
}
