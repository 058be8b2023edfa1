// `node scripts/long/simulate.mjs [--only crash,full,sealed] [--seeds 1000000] [--from 1] [--seed 42]`: runs the simulated
// stores by the million, without a test runner: `crash` is `js/hedgerow/test/support/worlds/crash-simulation.ts` (crashes and power failures), `full`
// is `js/hedgerow/test/support/worlds/full-simulation.ts` (storage that fills up), `sealed` is the first of encrypted stores
// (`js/hedgerow/test/support/worlds/at-rest-simulation.ts`). Prints their counts, and for each failed seed the command that runs it alone.
// Exits with 1 if a seed failed.

import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { rolldown } from 'rolldown';
import { CommandFailed, ROOT, runMain } from '../lib/run.mjs';

const OUT_DIR = join(ROOT, '.cache', 'simulate', String(process.pid));

/** The simulations: their files, and the names of the functions that run a seed and count. */
const SIMULATIONS = {
  crash: ['support/worlds/crash-simulation.ts', 'simulate', 'Tally'],
  full: ['support/worlds/full-simulation.ts', 'simulateFull', 'FullTally'],
  sealed: ['support/worlds/at-rest-simulation.ts', 'simulateSealed', 'Tally'],
};

/** Bundles a file of `js/hedgerow/test`, and loads it. */
async function load(name) {
  const [file, run, tally] = SIMULATIONS[name];
  await mkdir(OUT_DIR, { recursive: true });
  const build = await rolldown({
    input: join(ROOT, 'js', 'hedgerow', 'test', file),
    platform: 'node',
    // Sources import each other by their compiled names.
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    // Hides the warning that a module is imported both statically and dynamically.
    logLevel: 'silent',
  });
  const out = join(OUT_DIR, `${name}.mjs`);
  await build.write({ file: out, format: 'esm', codeSplitting: false });
  await build.close();
  const module = await import(pathToFileURL(out).href);
  return { run: module[run], tally: new module[tally]() };
}

/** Runs the seeds from `first` on; returns the number of failures. */
async function runSeeds(name, first, count, every) {
  const { run, tally } = await load(name);
  const started = Date.now();
  let failed = 0;
  const report = () => {
    const seconds = Math.round((Date.now() - started) / 1000);
    const facts = Object.entries(tally).map(([what, value]) => `${what} ${value}`);
    console.log(`${name}, ${seconds} s, failed ${failed}, ${facts.join(', ')}`);
  };
  for (let seed = first; seed < first + count; seed++) {
    try {
      await run(seed, tally);
    } catch (error) {
      failed += 1;
      console.error(
        `seed ${seed} failed: node scripts/long/simulate.mjs --only ${name} --seed ${seed}`,
      );
      console.error(error);
    }
    if ((seed - first + 1) % every === 0) report();
  }
  report();
  console.log(`${name}: seeds ${first} to ${first + count - 1}`);
  return failed;
}

async function main() {
  const text = { type: 'string' };
  const { values } = parseArgs({
    options: { only: text, seeds: text, from: text, seed: text, every: text },
  });
  const first = Number(values.seed ?? values.from ?? 1);
  const count = values.seed === undefined ? Number(values.seeds ?? 1_000_000) : 1;
  const every = Number(values.every ?? 10_000);
  const names = values.only?.split(',') ?? Object.keys(SIMULATIONS);
  for (const name of names) {
    if (SIMULATIONS[name] === undefined) throw new CommandFailed(`no such simulation: ${name}`);
  }
  let failed = 0;
  try {
    for (const name of names) failed += await runSeeds(name, first, count, every);
  } finally {
    await rm(OUT_DIR, { recursive: true, force: true });
  }
  if (failed > 0) process.exitCode = 1;
}

await runMain(main);
