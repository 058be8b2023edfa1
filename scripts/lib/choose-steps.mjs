// Parses the arguments of `npm test`.

import { parseArgs } from 'node:util';
import { CommandFailed } from './run.mjs';

/**
 * The steps that the arguments name, and the builds that they need; `undefined` for `--list`. With `--engines all` steps
 * run their `everywhere` commands, if they have such.
 */
export function chooseSteps(args, all) {
  const { only, list, engines } = read(args, all);
  if (list) return undefined;
  if (engines !== undefined && engines !== 'all')
    throw refusal(`--engines is all, or left out`, all);
  const inAll = (step) => (step.everywhere ? { ...step, commands: step.everywhere } : step);
  const steps = engines === 'all' ? all.map(inAll) : all;
  if (only === undefined) return steps;
  const names = only.split(',');
  const unknown = names.filter((name) => !steps.some((step) => step.name === name));
  if (unknown.length > 0) {
    throw refusal(`no such step: ${unknown.join(', ')}`, steps);
  }
  const chosen = steps.filter(({ name }) => names.includes(name));
  const needed = new Set(chosen.flatMap(({ needs = [] }) => needs));
  return steps.filter(
    (step) => chosen.includes(step) || (step.name === 'build' && needed.has('build')),
  );
}

function read(args, steps) {
  const options = {
    only: { type: 'string' },
    engines: { type: 'string' },
    list: { type: 'boolean', default: false },
  };
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw refusal(error.message, steps);
  }
}

function refusal(why, steps) {
  const usage = 'npm test -- [--only fmt,clippy] [--engines all] [--list]';
  return new CommandFailed(`${why}\n\n${usage}\n\n${describe(steps)}`);
}

/** A line for each step: how long it takes, and what it does. */
export function describe(steps) {
  const line = ({ name, seconds, what }) =>
    `${name.padEnd(10)}${`${seconds} s`.padStart(6)}   ${what}`;
  return ['step        time   what it does', ...steps.map(line)].join('\n');
}
