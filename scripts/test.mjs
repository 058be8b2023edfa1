// `npm test`: sets up, builds and runs every check, two at a time. After a failure no other check begins.
// `npm test -- --only fmt,clippy` runs some of them, `npm test -- --engines all` runs all that can run in each browser,
// `npm test -- --list` lists them. The last line of a green run is `N passed, 0 failed`, where N counts the tests that ran.

import { chooseSteps, describe } from './lib/choose-steps.mjs';
import { run, runMain } from './lib/run.mjs';
import { runSteps } from './lib/schedule.mjs';
import { clearReports, STEPS } from './lib/test-steps.mjs';
import { setupPackages, setupRust } from './setup.mjs';

/**
 * Runs one step; returns its row of the table. A failed check does not reject. With `quiet`, other steps run at
 * the same time: the output of this one is printed as a whole, at its end.
 */
async function runStep({ name, commands, cwd, count, action }, { quiet = false } = {}) {
  console.log(quiet ? `... ${name}` : `\n=== ${name} ===`);
  const started = performance.now();
  let output = '';
  let problem;
  try {
    await action?.();
    for (const [command, args, env = {}] of commands ?? []) {
      const options = { cwd, env: typeof env === 'function' ? env() : env };
      output += await run(command, args, { ...options, quiet, capture: count !== undefined });
    }
  } catch (error) {
    output += error.output ?? '';
    problem = error.message;
  }
  if (quiet) console.log(`\n=== ${name} ===\n${output.trimEnd()}`);
  const counts = tally(count, output, problem);
  if (problem === undefined && counts?.failed > 0) problem = `${counts.failed} failed`;
  // A runner that finds no tests is a failure.
  if (problem === undefined && counts?.passed === 0) problem = 'no test has run';
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`--- ${name}: ${problem ?? 'ok'}, ${seconds} s`);
  return { name, seconds, counts, problem, output };
}

function tally(count, output, problem) {
  try {
    return count?.(output);
  } catch (error) {
    // A runner that crashed leaves no report. Without a crash, the missing report is a bug here.
    if (problem === undefined) throw error;
  }
}

const LAST_LINES = 60;

function lastLines(output) {
  return output.trimEnd().split('\n').slice(-LAST_LINES).join('\n');
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

/** Sets up what the steps need. npm packages are installed during the first Rust checks, which need none. */
function setupFor(steps) {
  const browser = steps.some((step) => step.needsBrowser);
  const gateway = steps.some((step) => step.needsGateway);
  const postgres = steps.some((step) => step.needsPostgres);
  return [
    { name: 'setup', action: setupRust },
    { name: 'packages', action: () => setupPackages({ browser, gateway, postgres }) },
  ];
}

async function main() {
  const steps = chooseSteps(process.argv.slice(2), STEPS);
  if (steps === undefined) return console.log(describe(STEPS));
  clearReports();
  const started = performance.now();
  const rows = [];
  const note = (row) => {
    rows.push(row);
    return row.problem === undefined;
  };
  const jobs = [...setupFor(steps), ...steps];
  const isQuiet = (step) => steps.length > 1 && !step.alone && step.action === undefined;
  await runSteps(jobs, async (step) => note(await runStep(step, { quiet: isQuiet(step) })));

  const stopped = rows.filter((row) => row.problem !== undefined);
  // Other steps went on meanwhile: repeat the output of the failed ones at the end.
  for (const { name, output } of stopped)
    console.log(`\n=== ${name} failed: its last lines ===\n${lastLines(output)}`);
  printTable(rows);
  const total = (key) => rows.reduce((sum, { counts }) => sum + (counts?.[key] ?? 0), 0);
  console.log(`\nall of it: ${((performance.now() - started) / 60_000).toFixed(1)} minutes`);
  for (const { name, problem } of stopped) console.log(`stopped at ${name}: ${problem}`);
  if (stopped.length > 0) process.exitCode = 1;
  // A failed step without failed tests counts as one failure.
  const failed = stopped.reduce((sum, { counts }) => sum + Math.max(1, counts?.failed ?? 0), 0);
  console.log(`${total('passed')} passed, ${failed} failed`);
}

await runMain(main);
