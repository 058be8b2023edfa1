// Checks the workflows of CI in `.github/workflows`: they may call only existing things, and only the job that
// publishes may do so.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseDocument } from 'yaml';
import { chooseSteps } from '../checks/choose.mjs';
import { DEEP_STEPS } from '../checks/deep.mjs';
import { EVERYDAY_STEPS } from '../checks/steps.mjs';
import { OPTIONS } from './release-options.mjs';
import { ROOT } from './run.mjs';

const FOLDER = join('.github', 'workflows');
/** An action by its major version or a whole commit, or a workflow of this repository. */
const PINNED = /^([\w-]+\/[\w.-]+@(v\d+|[0-9a-f]{40})|\.\/\.github\/workflows\/[\w-]+\.yml)$/;
const PERMISSIONS = { 'id-token': 'publish', contents: 'notes' };
/** Commands of npm itself. */
const NPM = ['ci'];

/** Returns the words of a line of a shell, without quotes; a number stands for each variable. */
const wordsOf = (line) =>
  [...line.replace(/\$\w+/g, '1').matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    (one) => one.slice(1).find(Boolean) ?? '',
  );

/** Lists the faults of a script's arguments. */
function faultsOfArgs(script, args) {
  try {
    if (script === 'release') parseArgs({ args, options: OPTIONS });
    if (script === 'test') chooseSteps(args, EVERYDAY_STEPS);
    if (script === 'test:deep') chooseSteps(args, DEEP_STEPS);
  } catch (error) {
    return [`${script}: ${error.message.split('\n')[0]}`];
  }
  return [];
}

function faultsOfNpm([command, ...rest], { scripts }) {
  if (NPM.includes(command)) return [];
  const [name, ...args] = command === 'run' ? rest : [command, ...rest];
  if (scripts[name] === undefined) return [`npm run ${name}: package.json has no such script`];
  return faultsOfArgs(name, args[0] === '--' ? args.slice(1) : args);
}

/** Lists the missing things that a line calls. */
function faultsOfLine(line, manifest) {
  const [command, ...args] = wordsOf(line.trim());
  if (command === 'npm') return faultsOfNpm(args, manifest);
  const file = command === 'node' ? args[0] : command;
  if (command !== 'node' && !/^\.?\.?[\w-]*\//.test(file)) return []; // a program of the system
  if (!existsSync(join(ROOT, file))) return [`${file} does not exist`];
  const mayRun = command === 'node' || (statSync(join(ROOT, file)).mode & 0o111) !== 0;
  return mayRun ? [] : [`${file} is no program`];
}

function faultsOfStep({ run, uses }, manifest) {
  if ((run === undefined) === (uses === undefined))
    return ['a step has not one of `run` and `uses`'];
  if (uses !== undefined) return PINNED.test(uses) ? [] : [`${uses} is not pinned`];
  // Text from outside could be a command.
  const faults = /\$\{\{/.test(run) ? [`an expression is put into a command: ${run}`] : [];
  const lines = run.replaceAll('\\\n', ' ').split('\n').filter(Boolean);
  return [...faults, ...lines.flatMap((line) => faultsOfLine(line, manifest))];
}

function faultsOfJob(name, job, manifest) {
  const { permissions = {}, steps = [], uses, needs = [] } = job;
  const minutes = job['timeout-minutes'];
  const wide = Object.entries(permissions).filter(
    ([what, access]) => access === 'write' && PERMISSIONS[what] !== name,
  );
  const faults = wide.map(([what]) => `${what} may not be written by the job ${name}`);
  if (uses !== undefined && !PINNED.test(uses)) faults.push(`${uses} is not pinned`);
  if (uses?.startsWith('./') && !existsSync(join(ROOT, uses)))
    faults.push(`${uses} does not exist`);
  if (uses === undefined && steps.length === 0) faults.push('a job does nothing');
  if (uses === undefined && !(minutes > 0)) faults.push(`the job ${name} may run for ever`);
  if (name === 'publish' && ![needs].flat().includes('test')) faults.push('it publishes untested');
  return [...faults, ...steps.flatMap((step) => faultsOfStep(step, manifest))];
}

/** Lists the faults of a workflow's text, as sentences. */
export function workflowFaults(text, manifest) {
  const document = parseDocument(text, { strict: true });
  const broken = [...document.errors, ...document.warnings].map(({ message }) => message);
  if (broken.length > 0) return broken;
  const { name, on, permissions, jobs } = document.toJS() ?? {};
  const faults = [];
  if (typeof name !== 'string' || on === undefined) faults.push('it has no name, or never runs');
  if (JSON.stringify(permissions) !== '{"contents":"read"}')
    faults.push('its jobs may do more than read, unless they say so themselves');
  if (/\bsecrets\./.test(text)) faults.push('it needs a secret');
  for (const [key, job] of Object.entries(jobs ?? {})) {
    faults.push(...faultsOfJob(key, job, manifest));
    for (const one of [job.needs ?? []].flat())
      if (jobs[one] === undefined) faults.push(`${key} needs ${one}, which is no job`);
  }
  if (Object.keys(jobs ?? {}).length === 0) faults.push('it has no jobs');
  return faults;
}

/** Reads the workflows by their names. */
export const workflows = () =>
  new Map(
    readdirSync(join(ROOT, FOLDER)).map((name) => [
      name,
      readFileSync(join(ROOT, FOLDER, name), 'utf8'),
    ]),
  );
