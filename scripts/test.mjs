// `npm test`: sets up, builds and runs the everyday checks, as many at a time as the cores allow. `npm run test:deep`
// runs everything, and goes on after failures. A step that has passed runs again when one of its inputs has changed.
// With `--list` it lists the steps, with `--help` its options. The last line of a green run is `N passed, 0 failed`,
// where N counts the tests that ran.

import { chooseSteps, describe } from './checks/choose.mjs';
import { clearReports } from './checks/commands.mjs';
import { DEEP_STEPS } from './checks/deep.mjs';
import { Files } from './checks/files.mjs';
import { keepBusy } from './checks/load.mjs';
import { runSteps } from './checks/schedule.mjs';
import { setUpFor, versionsOf } from './checks/set-up.mjs';
import { Stamps } from './checks/stamps.mjs';
import { StepRun } from './checks/step-run.mjs';
import { EVERYDAY_STEPS } from './checks/steps.mjs';
import { Progress, printLastLines, printRepeats, printTable } from './checks/table.mjs';
import { movingSeed } from './lib/moving-seed.mjs';
import { runMain } from './lib/run.mjs';

/** Sets up the needs of `steps` and runs the due ones; returns a row for each. */
async function runOnce(steps, { packages, stamps, force, env, goesOn }) {
  const isQuiet = steps.length > 1;
  const all = steps.map((step) => new StepRun(step, { stamps, force, env, isQuiet }));
  const due = withoutIdleBuild(all.filter((one) => one.stamp === undefined));
  const fresh = all.filter((one) => one.stamp !== undefined);
  for (const { name, stamp } of fresh) console.log(`--- ${name}: ok, as of ${stamp.commit}`);
  const setUp = setUpFor(due, packages).map((job) => new StepRun(job, { env }));
  const rows = [];
  const progress = new Progress();
  await runSteps(
    [...setUp, ...due],
    async (step, failedNeed) => {
      progress.begin(step);
      const row = failedNeed === undefined ? await step.run() : step.leaveOut(failedNeed);
      progress.end(step);
      rows.push(row);
      return row.problem === undefined;
    },
    { goesOn },
  );
  progress.stop();
  return [...fresh.map(({ name, stamp }) => ({ name, stamp })), ...rows];
}

/** Drops the build if it is the only step: alone it runs only by name. */
function withoutIdleBuild(steps) {
  const isIdle = steps.length > 1 && !steps.some(({ needs = [] }) => needs.includes('build'));
  return isIdle ? steps.filter(({ name }) => name !== 'build') : steps;
}

/** Prints the results of a run; returns its numbers of tests. */
function conclude(rows) {
  const stopped = rows.filter(({ problem }) => problem !== undefined);
  for (const row of stopped) printLastLines(row);
  printTable(rows);
  const passed = rows.reduce((sum, { counts }) => sum + (counts?.passed ?? 0), 0);
  // A failed step without failed tests counts as one failure.
  const failed = stopped.reduce((sum, { counts }) => sum + Math.max(1, counts?.failed ?? 0), 0);
  return { passed, failed };
}

async function main() {
  const args = process.argv.slice(2);
  const isDeep = args[0] === '--deep';
  const all = isDeep ? DEEP_STEPS : EVERYDAY_STEPS;
  const chosen = chooseSteps(isDeep ? args.slice(1) : args, all);
  if (chosen.list) return console.log(describe(chosen.steps));
  clearReports();
  const started = performance.now();
  const first = Number(process.env.SEED_BASE ?? movingSeed());
  const stopLoad = chosen.underLoad ? keepBusy() : undefined;
  const isRepeated = chosen.repeats > 1;
  const sums = [];
  const everyRow = [];
  for (let nth = 0; nth < chosen.repeats; nth++) {
    const env = { SEED_BASE: String(first + nth * 1_000), ...(isDeep ? { DEEP: '1' } : {}) };
    console.log(`seeds of random tests: from SEED_BASE=${env.SEED_BASE}`);
    const tier = isDeep ? 'deep' : 'everyday';
    const stamps = new Stamps({ files: Files.ofCheckout(), tier, versionsOf });
    const packages = isDeep ? 'all' : 'test';
    const options = { packages, stamps, force: chosen.force, env, goesOn: isDeep || isRepeated };
    const rows = await runOnce(chosen.steps, options);
    sums.push(conclude(rows));
    everyRow.push(...rows);
  }
  stopLoad?.();
  if (isRepeated) printRepeats(everyRow);
  const total = (key) => sums.reduce((sum, counts) => sum + counts[key], 0);
  console.log(`\nall of it: ${((performance.now() - started) / 60_000).toFixed(1)} minutes`);
  if (total('failed') > 0) process.exitCode = 1;
  console.log(`${total('passed')} passed, ${total('failed')} failed`);
}

await runMain(main);
