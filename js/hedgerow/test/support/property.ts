/**
 * Random tests. A failure prints its seed, the number of the step, the step itself, the expected and the actual value,
 * and the command that runs this seed alone.
 *
 * A run takes an eighth of the seeds, from `SEED_BASE` on, which changes from day to day; `DEEP=1` takes all, from 1
 * on. `SEED=n` runs one seed, `SEEDS=n` runs the seeds from 1 to n, and `FIRST_SEED=m` with it the seeds from m to n.
 */
import { basename, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import { line } from './one-line.js';
import { type Random, random } from './random.js';

const { DEEP, ENGINE, FIRST_SEED, SEED, SEED_BASE, SEEDS } = process.env;
const base = Number(SEED_BASE ?? 1);

/** A deep run takes so many times more seeds than another one. */
const SHARE = 8;

/** Whether everything runs. */
export const isDeep = DEEP === '1';

/** Variables that make another run take the same sample. */
const AGAIN = isDeep ? 'DEEP=1' : `SEED_BASE=${base}`;

/** A test that only deep runs can afford and that has no smaller form; other runs skip it. */
export const deep = it.skipIf(!isDeep);

/** Returns the seeds that this run takes of the `count` of a deep one. */
function seedsOf(count: number): number[] {
  if (SEED) return seedsIn(SEED, SEED);
  if (SEEDS) return seedsIn(FIRST_SEED ?? '1', SEEDS);
  const first = isDeep ? 1 : base;
  return below(isDeep ? count : Math.ceil(count / SHARE)).map((at) => first + at);
}

/** Returns the seeds from `first` to `last`. Fails if there are no seeds: such a run would pass. */
function seedsIn(first: string, last: string): number[] {
  const count = Number(last) - Number(first) + 1;
  if (!(count >= 1)) throw new Error(`there is no seed from ${first} to ${last}`);
  return below(count).map((at) => Number(first) + at);
}

/** Whether this run takes at least `count` fixed seeds. With fewer or moving seeds, totals are a matter of chance. */
export function hasAllSeeds(count: number): boolean {
  return (isDeep || SEEDS !== undefined) && seedsOf(count).length >= count;
}

/** Begins a step, which `what` describes. A failure names the step that began last. */
export type BeginStep = (what: unknown) => void;

/**
 * Functions that run when a seed begins; the function that each returns runs when the seed has passed.
 * `browser/setup.ts` uses them to delete stores.
 */
export const aroundSeeds: (() => () => Promise<unknown>)[] = [];

type Body = (from: Random, seed: number, begin: BeginStep) => Promise<void>;

/** Runs `body` for each seed that this run takes of `count`; resolves to those seeds. */
export async function forSeeds(count: number, body: Body): Promise<number[]> {
  const seeds = seedsOf(count);
  for (const seed of seeds) await runSeed(seed, body);
  return seeds;
}

/** Runs `body` for one seed. */
export async function runSeed(seed: number, body: Body): Promise<void> {
  await explained(`SEED=${seed}`, `SEED=${seed}`, (begin) => body(random(seed), seed, begin));
}

/**
 * Returns every `of`-th of `items`; the first one moves with `SEED_BASE`, so that each gets its turn. Deep runs take
 * all. Nested loops take one sample of the pairs: two samples would meet in few of them.
 */
export function sampled<T>(items: Iterable<T>, of = SHARE): T[] {
  const all = [...items];
  const first = base % Math.min(of, all.length);
  return isDeep ? all : all.filter((_, at) => at % of === first);
}

/** Runs `body` for a sample of `items`. A failure names the item, and prints the command that runs this sample again. */
export async function forSampled<T>(
  items: Iterable<T>,
  body: (item: T, begin: BeginStep) => Promise<void> | void,
  of = SHARE,
): Promise<void> {
  for (const item of sampled(items, of)) {
    await explained(`${AGAIN}, ${line(item)}`, AGAIN, async (begin) => body(item, begin));
  }
}

/**
 * Runs `body` for steps from 0 on, until it resolves to `false` because there is no such step: for each step in deep
 * runs, else for every `of`-th. Resolves to the missing step.
 */
export async function forSteps(
  body: (step: number, begin: BeginStep) => Promise<boolean>,
  of = SHARE,
): Promise<number> {
  let isThere = true;
  let step = isDeep ? 0 : base % of;
  for (; ; step += isDeep ? 1 : of) {
    await explained(`${AGAIN}, step ${step} of the test`, AGAIN, async (begin) => {
      isThere = await body(step, begin);
    });
    if (!isThere) return step;
  }
}

/** Returns the numbers from 0 to below `end`. */
export function below(end: number): number[] {
  return Array.from({ length: end }, (_, at) => at);
}

/** Calls `run`. An error says `where` it happened, and which `variables` repeat it. */
async function explained(
  where: string,
  variables: string,
  run: (begin: BeginStep) => Promise<void>,
): Promise<void> {
  const { testPath, currentTestName } = expect.getState();
  let steps = 0;
  let last: unknown;
  const begin: BeginStep = (what) => {
    steps += 1;
    last = what;
  };
  const ends = aroundSeeds.map((begun) => begun());
  try {
    await run(begin);
    for (const end of ends) await end();
  } catch (cause) {
    const step = steps === 0 ? '' : `, step ${steps - 1}, ${line(last)}`;
    throw explanation(cause, `${where}${step}`, commandOf(variables, testPath, currentTestName));
  }
}

/** Returns the command that runs one test with some variables. */
function commandOf(variables: string, path = '', name = ''): string {
  // Vitest reads the name as a pattern: dots replace the characters that a pattern or a shell could interpret.
  const pattern = name.replaceAll(' > ', ' ').replace(/[^\w ,;:-]/g, '.');
  const runs = ENGINE
    ? `${variables} npm run units -- --engines ${ENGINE} ${basename(path)}`
    : `cd js && ${variables} npx vitest run ${relative(process.cwd(), path)}`;
  return `${runs} -t '${pattern}'`;
}

/** Returns the error `cause` with the full message. Vitest still finds the compared values in it. */
function explanation(cause: unknown, where: string, command: string): Error {
  const error = cause instanceof Error ? cause : new Error(`${cause}`, { cause });
  const { expected, actual } = error as { expected?: unknown; actual?: unknown };
  const compared =
    expected === undefined && actual === undefined
      ? []
      : [`  expected ${line(expected)}`, `  got      ${line(actual)}`];
  error.message = [`${where}: ${error.message}`, ...compared, `  alone: ${command}`].join('\n');
  return error;
}

/** Returns the fault of a step in one line, or `undefined`: for steps that are checked later. */
export function stepFault(at: number, step: object, got: unknown, expected: unknown) {
  if (isDeepStrictEqual(got, expected)) return undefined;
  return `step ${at}, ${line(step)}: expected ${line(expected)}, got ${line(got)}`;
}

/** Fails with the result of `stepFault`. */
export function expectNoFault(fault: string | undefined, where = ''): void {
  if (fault !== undefined) expect.fail(where === '' ? fault : `${where}, ${fault}`);
}
