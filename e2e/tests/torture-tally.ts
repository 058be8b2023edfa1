/** Shares checks among `torture.spec.ts`, `kills.spec.ts` and `full.spec.ts`. */
import { expect } from '@playwright/test';
import type { Tally } from '../torture/lib/tortures.mjs';

export const ROWS = 6000;
/** Of so many kills some surely come in mid-commit. */
const MANY = 10;
/** Determines phases and moments. `SEED=n` repeats them. */
export const seed = Number(process.env.SEED ?? process.env.SEED_BASE ?? Date.now()) % 2 ** 31;

/** Returns the address of the page that writes and checks. */
export function torturePage(baseURL: string | undefined): string {
  return new URL('/torture.html', baseURL).href;
}

/** Prints the tally of kills or crashes, and checks it. */
export function expectNothingLost(
  kind: 'kill' | 'crash',
  tally: Tally,
  cycles: number,
  first = 0,
): void {
  const { engine, version, lost, lostMore, torn, acknowledged, midCommit, wiped } = tally;
  console.log(
    `${kind}, ${version}, seed ${seed}: ${cycles} cycles, ${midCommit} in mid-commit, ${acknowledged} ` +
      `acknowledged; lost ${lost.hedgerow}, by the control ${lost.control}; torn ${torn.hedgerow}; ` +
      `origin wiped ${wiped.length}\n` +
      `  again: npm run torture -- --only ${kind} --engines ${engine} --cycles ${first + cycles} --seed ${seed}`,
  );
  // WebKitGTK may trap, rarely: `npm run torture` fails then, this test only reports it.
  for (const trap of tally.traps) console.log(`  trap: ${trap}`);
  expect(tally.blamed).toEqual([]);
  expect({ lostMore, torn: torn.hedgerow, cycles: tally.cycles }).toEqual({
    lostMore: 0,
    torn: 0,
    cycles,
  });
  // There was something to lose: in most phases some commits are awaited before the moment of the kill.
  expect(acknowledged).toBeGreaterThan(0);
  // Pages only commit: nearly every kill falls into a commit.
  if (cycles >= MANY) expect(midCommit).toBeGreaterThan(0);
}
