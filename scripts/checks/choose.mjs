// Parses the arguments of `npm test` and `npm run test:deep`.

import { parseArgs } from 'node:util';
import { CommandFailed } from '../lib/run.mjs';

const OPTIONS = {
  only: { type: 'string' },
  list: { type: 'boolean', default: false },
  force: { type: 'boolean', default: false },
  shard: { type: 'string' },
  repeat: { type: 'string' },
  'under-load': { type: 'boolean', default: false },
};

const USAGE = `npm test -- [options], and npm run test:deep -- [options]
  --list         lists the steps
  --only a,b     runs some of them, and builds what they need
  --force        runs steps that have passed since their inputs changed, too
  --shard 2/4    runs the second of four parts of about the same length
  --repeat 20    runs each step 20 times, and goes on after failures
  --under-load   keeps all cores busy meanwhile`;

/** Reads the arguments, for `steps`: `{ steps, list, force, repeat, underLoad }`. */
export function chooseSteps(args, steps) {
  const { only, list, force, shard, repeat, 'under-load': underLoad } = read(args, steps);
  const repeats = repeat === undefined ? 1 : wholeNumber(repeat);
  if (repeats === undefined) throw refusal(`--repeat takes a whole number, not ${repeat}`, steps);
  const named = only === undefined ? steps : stepsNamed(only.split(','), steps);
  const chosen = shard === undefined ? named : ofShard(shard, named, steps);
  // Repeated steps, and steps under load, have to run.
  const isForced = force || repeat !== undefined || underLoad;
  return { steps: chosen, list, force: isForced, repeats, underLoad };
}

/** Parts of one step are `vitest-1` and so on: its name without a number means all of them. */
function stepsNamed(names, steps) {
  const isMeant = (step, name) => step.name === name || step.name.replace(/-\d+$/, '') === name;
  const unknown = names.filter((name) => !steps.some((step) => isMeant(step, name)));
  if (unknown.length > 0) throw refusal(`no such step: ${unknown.join(', ')}`, steps);
  return withBuild(
    steps.filter((step) => names.some((name) => isMeant(step, name))),
    steps,
  );
}

/** Returns `chosen`, and the build if one of them needs it. */
function withBuild(chosen, steps) {
  const isNeeded = chosen.some(({ needs = [] }) => needs.includes('build'));
  return steps.filter((step) => chosen.includes(step) || (step.name === 'build' && isNeeded));
}

/** Returns the steps of a part, `nth/of`. Each part builds for itself; every other step is in one part alone. */
function ofShard(shard, chosen, steps) {
  const [, nth, of] = /^(\d+)\/(\d+)$/.exec(shard) ?? [];
  if (!(Number(nth) >= 1 && Number(nth) <= Number(of))) {
    throw refusal(`--shard takes one part of several, as 2/4, not ${shard}`, steps);
  }
  const parts = Array.from({ length: Number(of) }, () => ({ seconds: 0, steps: new Set() }));
  // The longest first, each to the part with the least work.
  const longestFirst = chosen
    .filter(({ name }) => name !== 'build')
    .sort((one, other) => other.seconds - one.seconds);
  for (const step of longestFirst) {
    const least = parts.reduce((a, b) => (b.seconds < a.seconds ? b : a));
    least.steps.add(step);
    least.seconds += step.seconds;
  }
  const part = parts[Number(nth) - 1].steps;
  return withBuild(
    chosen.filter((step) => part.has(step)),
    steps,
  );
}

function wholeNumber(text) {
  return /^[1-9]\d*$/.test(text) ? Number(text) : undefined;
}

function read(args, steps) {
  try {
    return parseArgs({ args, options: OPTIONS }).values;
  } catch (error) {
    throw refusal(error.message, steps);
  }
}

function refusal(why, steps) {
  return new CommandFailed(`${why}\n\n${USAGE}\n\n${describe(steps)}`);
}

/** Writes a line for each step: its time, and what it checks. */
export function describe(steps) {
  const line = ({ name, seconds, what }) =>
    `${name.padEnd(12)}${`${seconds} s`.padStart(6)}   ${what}`;
  return ['step          time   what it checks', ...steps.map(line)].join('\n');
}
