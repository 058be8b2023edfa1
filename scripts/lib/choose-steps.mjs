// Parses the arguments of `npm test`.

import { parseArgs } from 'node:util';
import { CommandFailed } from './run.mjs';

/** The steps that the arguments name, and the builds that they need; `undefined` for `--list`. */
export function chooseSteps(args, steps) {
  const { only, list } = read(args, steps);
  if (list) return undefined;
  if (only === undefined) return steps;
  const names = only.split(',');
  const unknown = names.filter((name) => !steps.some((step) => step.name === name));
  if (unknown.length > 0) {
    throw new CommandFailed(`no such step: ${unknown.join(', ')}\n\n${describe(steps)}`);
  }
  const chosen = steps.filter(({ name }) => names.includes(name));
  const needed = new Set(chosen.flatMap(({ needs = [] }) => needs));
  return steps.filter(
    (step) => chosen.includes(step) || (step.name === 'build' && needed.has('build')),
  );
}

function read(args, steps) {
  const options = { only: { type: 'string' }, list: { type: 'boolean', default: false } };
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new CommandFailed(
      `${error.message}\n\nnpm test -- [--only fmt,clippy] [--list]\n\n${describe(steps)}`,
    );
  }
}

/** A line for each step: how long it takes, and what it does. */
export function describe(steps) {
  const line = ({ name, seconds, what }) =>
    `${name.padEnd(9)}${`${seconds} s`.padStart(6)}   ${what}`;
  return ['step        time   what it does', ...steps.map(line)].join('\n');
}
