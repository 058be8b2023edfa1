// `node scripts/long/simulate-remotes.mjs [--only sync,collect,lazy] [--from 1] [--seeds 1000] [--minutes 60]`: runs the
// simulations of remotes, which are tests of `js/hedgerow/test`, by chunks of seeds: each chunk is a separate process, one after
// the other, and the simulations take turns. Prints the totals after each chunk, and at the end; for each failed chunk
// its output. With `--minutes` no chunk begins after that time. Exits with 1 if a chunk failed.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CommandFailed, ROOT, runMain } from '../lib/run.mjs';

/**
 * The simulations: their files, the seeds of a chunk, which takes about a minute, and the beginning of their line of
 * totals.
 */
const SIMULATIONS = {
  sync: { file: 'test/sync/link/sync-simulation.test.ts', chunk: 1000 },
  collect: { file: 'test/sync/link/sync-simulation-collect.test.ts', chunk: 150 },
  lazy: { file: 'test/sync/lazy/lazy-simulation.test.ts', chunk: 300 },
};

/** Runs the seeds `first` to `last`; resolves to the output, and whether all passed. */
function runChunk(file, first, last) {
  const env = { ...process.env, FIRST_SEED: String(first), SEEDS: String(last), NO_COLOR: '1' };
  delete env.SEED;
  const child = spawn('npx', ['vitest', 'run', file], { cwd: join(ROOT, 'js'), env });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part) => {
      text += part;
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ text, isPassed: code === 0 }));
  });
}

/** Reads the counts of a chunk, which the test prints as JSON. */
function countsIn(name, text) {
  const found = text.match(new RegExp(`${name}, (\\d+) seeds: (\\{.*\\})`));
  if (found === null) throw new CommandFailed(`no totals of ${name} in:\n${text}`);
  return { seeds: Number(found[1]), ...JSON.parse(found[2]) };
}

const told = (totals) =>
  Object.entries(totals)
    .map(([what, count]) => `${what} ${count}`)
    .join(', ');

/** Begins one simulation: its position, and its counts. */
function begun(name, first, count) {
  return { name, ...SIMULATIONS[name], next: first, end: first + count, failed: 0, totals: {} };
}

/** Runs the next chunk of a simulation. */
async function goOn(one) {
  const first = one.next;
  const last = Math.min(first + one.chunk, one.end) - 1;
  one.next = last + 1;
  const { text, isPassed } = await runChunk(one.file, first, last);
  if (!isPassed) {
    one.failed += 1;
    console.error(`${one.name}: seeds ${first} to ${last} failed\n${text}`);
    return;
  }
  for (const [what, count] of Object.entries(countsIn(one.name, text))) {
    one.totals[what] = (one.totals[what] ?? 0) + count;
  }
  console.log(`${one.name}, up to seed ${last}, failed ${one.failed}: ${told(one.totals)}`);
}

async function main() {
  const text = { type: 'string' };
  const { values } = parseArgs({ options: { only: text, from: text, seeds: text, minutes: text } });
  const names = values.only?.split(',') ?? Object.keys(SIMULATIONS);
  for (const name of names) {
    if (SIMULATIONS[name] === undefined) throw new CommandFailed(`no such simulation: ${name}`);
  }
  const [first, count] = [Number(values.from ?? 1), Number(values.seeds ?? 1000)];
  const endMs = Date.now() + 60_000 * Number(values.minutes ?? Number.POSITIVE_INFINITY);
  const all = names.map((name) => begun(name, first, count));
  for (;;) {
    const left = all.filter((one) => one.next < one.end);
    if (left.length === 0 || Date.now() >= endMs) break;
    for (const one of left) if (Date.now() < endMs) await goOn(one);
  }
  for (const { name, next, failed, totals } of all) {
    console.log(
      `${name}: seeds ${first} to ${next - 1}, chunks that failed ${failed}: ${told(totals)}`,
    );
  }
  const failed = all.reduce((sum, one) => sum + one.failed, 0);
  if (failed > 0) throw new CommandFailed(`${failed} chunks failed`);
}

await runMain(main);
