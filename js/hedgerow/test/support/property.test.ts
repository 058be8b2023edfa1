/** The seeds and items that a run takes, and the messages of its failures. */
import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

const NAMES = ['DEEP', 'FIRST_SEED', 'SEED', 'SEED_BASE', 'SEEDS'] as const;
type Variables = Partial<Record<(typeof NAMES)[number], string>>;

/** Loads the helpers, as a run with these variables has them. */
function withVariables(variables: Variables) {
  vi.resetModules();
  for (const name of NAMES) vi.stubEnv(name, variables[name]);
  return import('./property.js');
}

/** Returns the seeds that a run takes of `count`, and whether they are all. */
async function seedsOf(variables: Variables, count = 20) {
  const { forSeeds, hasAllSeeds } = await withVariables(variables);
  const seen: number[] = [];
  const seeds = await forSeeds(count, async (_from, seed) => {
    seen.push(seed);
  });
  expect(seeds).toEqual(seen);
  return [seen, hasAllSeeds(count)];
}

it('a run takes an eighth of the seeds, beginning at SEED_BASE', async () => {
  expect(await seedsOf({ SEED_BASE: '400' })).toEqual([[400, 401, 402], false]);
  expect(await seedsOf({ SEED_BASE: '400' }, 16)).toEqual([[400, 401], false]);
  expect(await seedsOf({ SEED_BASE: '401' }, 1)).toEqual([[401], false]);
});

it('a deep run takes all seeds, whatever SEED_BASE is', async () => {
  expect(await seedsOf({ DEEP: '1', SEED_BASE: '400' }, 4)).toEqual([[1, 2, 3, 4], true]);
});

it('SEED takes one seed, and SEEDS takes the seeds from FIRST_SEED up to it', async () => {
  for (const DEEP of ['1', undefined]) {
    const deep = DEEP ? { DEEP } : {};
    expect(await seedsOf({ ...deep, SEED: '7', SEEDS: '9' })).toEqual([[7], false]);
    expect(await seedsOf({ ...deep, SEEDS: '3' }, 3)).toEqual([[1, 2, 3], true]);
    expect(await seedsOf({ ...deep, SEEDS: '3' }, 4)).toEqual([[1, 2, 3], false]);
    const [FIRST_SEED, SEEDS] = ['11', '13'];
    expect(await seedsOf({ ...deep, FIRST_SEED, SEEDS }, 3)).toEqual([[11, 12, 13], true]);
  }
});

it('a run without seeds fails', async () => {
  await expect(seedsOf({ FIRST_SEED: '11', SEEDS: '3' })).rejects.toThrow('no seed from 11 to 3');
  await expect(seedsOf({ SEEDS: 'many' })).rejects.toThrow('no seed from 1 to many');
  await expect(seedsOf({ SEED: 'one' })).rejects.toThrow('no seed from one to one');
});

it.each([8, 5, 1])('each item is in a sample of one of %i bases', async (of) => {
  for (const length of [0, 1, 4, 5, 8, 16, 21]) {
    const items = Array.from({ length }, (_, at) => `item ${at}`);
    const samples: string[][] = [];
    for (let base = 400; base < 400 + of; base++) {
      const { sampled } = await withVariables({ SEED_BASE: `${base}` });
      samples.push(sampled(items, of));
    }
    // With fewer items than bases some samples are equal, and each has an item.
    const seen = length < of ? new Set(samples.flat()) : samples.flat();
    expect([...seen].sort()).toEqual([...items].sort());
    for (const sample of samples) expect(sample.length > 0).toBe(length > 0);
  }
});

it('one of eight bases takes each step, up to the first missing one', async () => {
  const stepsOf = async (variables: Variables) => {
    const { forSteps } = await withVariables(variables);
    const seen: number[] = [];
    const end = await forSteps(async (step) => {
      if (step < 21) seen.push(step);
      return step < 21;
    });
    expect(end).toBeGreaterThanOrEqual(21);
    return seen;
  };
  const seen: number[] = [];
  for (let base = 400; base < 408; base++) seen.push(...(await stepsOf({ SEED_BASE: `${base}` })));
  expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 21 }, (_, at) => at));
  expect(await stepsOf({ DEEP: '1', SEED_BASE: '3' })).toHaveLength(21);
});

it('a deep run takes every item', async () => {
  const { sampled } = await withVariables({ DEEP: '1', SEED_BASE: '3' });
  expect(sampled([1, 2, 3])).toEqual([1, 2, 3]);
});

/** Returns the message of a failure. */
const messageOf = (run: Promise<unknown>) => run.then(String, ({ message }) => message as string);

/** Returns the variables of the command in a message. */
function variablesOf(message: string): Variables {
  const command = /alone: (?:cd js && )?((?:[A-Z_]+=\d+ )+)np[xm] .*property\.test\.ts/.exec(
    message,
  );
  const words = (command?.[1] ?? '').trim().split(' ');
  return Object.fromEntries(words.map((word) => word.split('=')));
}

it('the command of a failed seed repeats it', async () => {
  const run = (variables: Variables) =>
    withVariables(variables).then(({ forSeeds }) =>
      messageOf(
        forSeeds(24, async (from, seed, begin) => {
          begin({ put: 'a' });
          begin({ get: 'a' });
          if (seed % 3 === 0) expect(from.below(1000)).toBe(seed);
        }),
      ),
    );
  const message = await run({ SEED_BASE: '400' });
  expect(message).toContain("SEED=402, step 1, { get: 'a' }: ");
  expect(message).toContain('  expected 402\n  got      ');
  expect(message).toContain("-t 'the command of a failed seed repeats it'");
  expect(variablesOf(message)).toEqual({ SEED: '402' });
  expect(await run(variablesOf(message))).toBe(message);
});

it('the command of a failed item repeats the sample', async () => {
  const run = (variables: Variables) =>
    withVariables(variables).then(({ forSampled }) =>
      messageOf(forSampled([10, 11, 12, 13, 14, 15], (item) => expect(item % 2).toBe(0), 3)),
    );
  const message = await run({ SEED_BASE: '400' });
  expect(message).toContain('SEED_BASE=400, 11: ');
  expect(variablesOf(message)).toEqual({ SEED_BASE: '400' });
  expect(await run(variablesOf(message))).toBe(message);
  expect(variablesOf(await run({ DEEP: '1', SEED_BASE: '402' }))).toEqual({ DEEP: '1' });
  expect(await run({ SEED_BASE: '401' })).toContain('SEED_BASE=401, 15: ');
});
