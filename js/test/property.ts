/**
 * Random tests. A failure prints its seed, the number of the step, what the step did, what was
 * expected and what came, and the command that runs this seed alone.
 *
 * `SEED=n` runs one seed, `SEEDS=n` runs the seeds from 1 to n, and `FIRST_SEED=m` with it those from m on.
 */
import { basename, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { line } from './one-line.js';
import { type Random, random } from './random.js';

const only = Number(process.env.SEED);

/** Whether `SEED` picks one seed. Totals over all seeds then mean nothing. */
export const isOneSeed = only > 0;

/** How many seeds to run: `SEEDS`, or `count`. */
export function seedCount(count: number): number {
  return Number(process.env.SEEDS ?? count);
}

/** The seeds to run: those from 1, or `FIRST_SEED`, to `count`, or the one that `SEED` names. */
export function seedsTo(count: number): number[] {
  const first = Number(process.env.FIRST_SEED ?? 1);
  return isOneSeed ? [only] : Array.from({ length: count - first + 1 }, (_, at) => at + first);
}

/** Begins a step, which does `what`. A failure names the step that began last. */
export type BeginStep = (what: unknown) => void;

/** Called when a seed begins; what each returns is called when it has passed. `browser/setup.ts` deletes stores so. */
export const aroundSeeds: (() => () => Promise<unknown>)[] = [];

type Body = (from: Random, seed: number, begin: BeginStep) => Promise<void>;

/** Runs `body` for each of the seeds that `seedsTo` tells. */
export async function forSeeds(count: number, body: Body): Promise<void> {
  for (const seed of seedsTo(count)) await runSeed(seed, body);
}

/** Runs `body` for one seed. */
export async function runSeed(seed: number, body: Body): Promise<void> {
  const { testPath, currentTestName } = expect.getState();
  let steps = 0;
  let last: unknown;
  const begin: BeginStep = (what) => {
    steps += 1;
    last = what;
  };
  const ends = aroundSeeds.map((begun) => begun());
  try {
    await body(random(seed), seed, begin);
    for (const end of ends) await end();
  } catch (cause) {
    const where = steps === 0 ? '' : `, step ${steps - 1}, ${line(last)}`;
    const command = commandOf(seed, testPath, currentTestName);
    throw explained(cause, `SEED=${seed}${where}`, command);
  }
}

/** The command that runs one seed of one test. */
function commandOf(seed: number, path = '', name = ''): string {
  // Vitest reads the name as a pattern: a dot stands for each character that a pattern, or a shell,
  // could take for something else.
  const pattern = name.replaceAll(' > ', ' ').replace(/[^\w ,;:-]/g, '.');
  const anyCount = isOneSeed ? pattern : pattern.replace(`${process.env.SEEDS}`, '.*');
  const { ENGINE } = process.env;
  const runs = ENGINE
    ? `SEED=${seed} npm run units -- --engines ${ENGINE} ${basename(path)}`
    : `cd js && SEED=${seed} npx vitest run ${relative(process.cwd(), path)}`;
  return `${runs} -t '${anyCount}'`;
}

/** The error `cause`, whose message says all of it. Vitest still finds what it compared in it. */
function explained(cause: unknown, where: string, command: string): Error {
  const error = cause instanceof Error ? cause : new Error(`${cause}`, { cause });
  const { expected, actual } = error as { expected?: unknown; actual?: unknown };
  const compared =
    expected === undefined && actual === undefined
      ? []
      : [`  expected ${line(expected)}`, `  got      ${line(actual)}`];
  error.message = [`${where}: ${error.message}`, ...compared, `  alone: ${command}`].join('\n');
  return error;
}

/** What is wrong with a step, in one line, or `undefined`: for steps that are checked later. */
export function stepFault(at: number, step: object, got: unknown, expected: unknown) {
  if (isDeepStrictEqual(got, expected)) return undefined;
  return `step ${at}, ${line(step)}: expected ${line(expected)}, got ${line(got)}`;
}

/** Fails with what `stepFault` found. */
export function expectNoFault(fault: string | undefined, where = ''): void {
  if (fault !== undefined) expect.fail(where === '' ? fault : `${where}, ${fault}`);
}
