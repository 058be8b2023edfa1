// `npm test`: sets up, builds and makes every check, stopping at the first that fails.
// `npm test -- --only fmt,clippy` makes some of them. The last line of a green run is
// `N passed, 0 failed`, where N counts the tests that ran.

import { build } from './build.mjs';
import { run, runMain } from './lib/run.mjs';
import { clearReports, STEPS } from './lib/test-steps.mjs';
import { setup } from './setup.mjs';

function chosenSteps(args) {
  const at = args.indexOf('--only');
  if (at < 0) return STEPS;
  const names = args[at + 1]?.split(',') ?? [];
  const unknown = names.filter((name) => !STEPS.some((step) => step.name === name));
  if (names.length === 0 || unknown.length > 0) {
    const known = STEPS.map((step) => step.name).join(',');
    throw new Error(`--only takes some of ${known}; not known: ${unknown}`);
  }
  return STEPS.filter((step) => names.includes(step.name));
}

/** Runs one step; returns its row of the table. Never rejects for a check that fails. */
async function runStep({ name, commands, cwd, count, action }) {
  console.log(`\n=== ${name} ===`);
  const started = performance.now();
  let output = '';
  let problem;
  try {
    await action?.();
    for (const [command, args, env = {}] of commands ?? []) {
      const options = { cwd, env: typeof env === 'function' ? env() : env };
      output += await run(command, args, { ...options, capture: count !== undefined });
    }
  } catch (error) {
    output += error.output ?? '';
    problem = error.message;
  }
  const counts = tally(count, output, problem);
  if (problem === undefined && counts?.failed > 0) problem = `${counts.failed} failed`;
  // A runner that finds nothing to run proves nothing.
  if (problem === undefined && counts?.passed === 0) problem = 'no test has run';
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`--- ${name}: ${problem ?? 'ok'}, ${seconds} s`);
  return { name, seconds, counts, problem };
}

function tally(count, output, problem) {
  try {
    return count?.(output);
  } catch (error) {
    // A runner that broke down leaves no report; without a breakdown that is a bug here.
    if (problem === undefined) throw error;
  }
}

function printTable(rows) {
  console.log(`\n${'step'.padEnd(10)}${'time'.padStart(9)}   result`);
  for (const { name, seconds, counts, problem } of rows) {
    const skipped = counts?.skipped ? `, ${counts.skipped} skipped` : '';
    const tests = counts ? `, ${counts.passed} passed, ${counts.failed} failed${skipped}` : '';
    const result = problem === undefined ? 'ok' : 'FAILED';
    console.log(`${name.padEnd(10)}${`${seconds} s`.padStart(9)}   ${result}${tests}`);
  }
}

async function main() {
  const steps = chosenSteps(process.argv.slice(2));
  const browser = steps.some((step) => step.needsBrowser);
  const queue = [{ name: 'setup', action: () => setup({ browser }) }];
  if (steps.some((step) => step.needsBuild)) queue.push({ name: 'build', action: build });
  queue.push(...steps);

  clearReports();
  const rows = [];
  for (const step of queue) {
    const row = await runStep(step);
    rows.push(row);
    if (row.problem !== undefined) break;
  }
  printTable(rows);

  const stopped = rows.find((row) => row.problem !== undefined);
  const total = (key) => rows.reduce((sum, { counts }) => sum + (counts?.[key] ?? 0), 0);
  if (stopped !== undefined) {
    console.log(`\nstopped at ${stopped.name}: ${stopped.problem}`);
    process.exitCode = 1;
  }
  // A step that failed without failed tests is a failure, too.
  const failed = stopped === undefined ? 0 : Math.max(1, total('failed'));
  console.log(`${total('passed')} passed, ${failed} failed`);
}

await runMain(main);
