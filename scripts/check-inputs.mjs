// `node scripts/check-inputs.mjs [--deep] [step...]`: runs steps, one at a time, and names the files that they read but
// do not list as inputs: a change of such a file would not run the step again. It compares access times, which a file
// system keeps, so no other program may read the checkout in the meantime.

import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chooseSteps } from './checks/choose.mjs';
import { DEEP_STEPS } from './checks/deep.mjs';
import { Files } from './checks/files.mjs';
import { Imports } from './checks/imports.mjs';
import { testsOf } from './checks/stamps.mjs';
import { StepRun } from './checks/step-run.mjs';
import { EVERYDAY_STEPS } from './checks/steps.mjs';
import { CommandFailed, ROOT, runMain } from './lib/run.mjs';

/** Older than a day: then each kind of file system that keeps times of access notes the next one. */
const LONG_AGO = new Date(Date.now() - 3 * 24 * 3600 * 1000);

function forget(path) {
  utimesSync(path, LONG_AGO, statSync(path).mtime);
}

const wasRead = (path) => statSync(path).atimeMs > LONG_AGO.getTime() + 1000;

/** Refuses a file system that does not keep times of access. */
function refuseWithoutTimes() {
  const probe = join(ROOT, '.cache', 'probe');
  writeFileSync(probe, 'probe');
  forget(probe);
  readFileSync(probe);
  const isKept = wasRead(probe);
  rmSync(probe);
  if (!isKept) throw new CommandFailed('this file system keeps no times of access');
}

/** Runs a step, and returns the files that it read outside its inputs. */
async function strayReads(step, files, env) {
  const paths = files.names.filter((name) => files.text(name) !== undefined);
  for (const name of paths) forget(join(ROOT, name));
  const { problem } = await new StepRun(step, { env }).run();
  if (problem !== undefined) throw new CommandFailed(`${step.name}: ${problem}`);
  const read = paths.filter((name) => wasRead(join(ROOT, name)));
  const inputs = new Set(files.named(step.inputs));
  const imports = new Imports(files);
  for (const test of step.tests ? testsOf(step, files.names) : [])
    for (const name of imports.from(test)) inputs.add(name);
  return read.filter((name) => !inputs.has(name));
}

async function main() {
  const args = process.argv.slice(2);
  const isDeep = args[0] === '--deep';
  const names = isDeep ? args.slice(1) : args;
  const all = isDeep ? DEEP_STEPS : EVERYDAY_STEPS;
  const only = names.length > 0 ? ['--only', names.join(',')] : [];
  const steps = chooseSteps(only, all).steps.filter(({ inputs }) => inputs !== undefined);
  refuseWithoutTimes();
  const files = Files.ofCheckout();
  let count = 0;
  for (const step of steps) {
    const stray = await strayReads(step, files, isDeep ? { DEEP: '1' } : {});
    count += stray.length;
    for (const name of stray)
      console.log(`${step.name} reads ${name}, which is none of its inputs`);
  }
  console.log(`${steps.length} steps, ${count} reads of what is no input`);
  if (count > 0) process.exitCode = 1;
}

await runMain(main);
