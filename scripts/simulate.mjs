// `node scripts/simulate.mjs [--seeds 1000000] [--from 1] [--seed 42]`: runs the simulated store
// of `js/test/simulation.ts` by the million, outside of any test runner. Prints what it did, and
// each seed that fails with the command that runs it alone; exits with 1 if there was one.

import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { rolldown } from 'rolldown';
import { ROOT, runMain } from './lib/run.mjs';

const OUT_DIR = join(ROOT, '.cache', 'simulate');

async function bundle() {
  await mkdir(OUT_DIR, { recursive: true });
  const build = await rolldown({
    input: join(ROOT, 'js', 'test', 'simulation.ts'),
    platform: 'node',
    // The sources name each other as they will be named once compiled.
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
  });
  const file = join(OUT_DIR, `simulation-${process.pid}.mjs`);
  await build.write({ file, format: 'esm' });
  await build.close();
  const module = await import(pathToFileURL(file).href);
  await rm(file);
  return module;
}

async function main() {
  const text = { type: 'string' };
  const { values } = parseArgs({ options: { seeds: text, from: text, seed: text, every: text } });
  const first = Number(values.seed ?? values.from ?? 1);
  const count = values.seed === undefined ? Number(values.seeds ?? 1_000_000) : 1;
  const every = Number(values.every ?? 10_000);
  const { simulate, Tally } = await bundle();
  const tally = new Tally();
  const started = Date.now();
  let failed = 0;
  const report = () => {
    const seconds = Math.round((Date.now() - started) / 1000);
    const facts = Object.entries(tally).map(([name, value]) => `${name} ${value}`);
    console.log(`${seconds} s, failed ${failed}, ${facts.join(', ')}`);
  };
  for (let seed = first; seed < first + count; seed++) {
    try {
      await simulate(seed, tally);
    } catch (error) {
      failed += 1;
      console.error(`seed ${seed} failed: node scripts/simulate.mjs --seed ${seed}`);
      console.error(error);
    }
    if ((seed - first + 1) % every === 0) report();
  }
  report();
  console.log(`seeds ${first} to ${first + count - 1}`);
  if (failed > 0) process.exitCode = 1;
}

await runMain(main);
