/** Checks that the state after a crash is an allowed one. It does not use Vitest. */
import { isDeepStrictEqual } from 'node:util';
import { HedgerowError, open, type Store } from '../../../src/index.js';
import type { Storage } from '../../../src/storage/segment-store.js';
import { kindOf } from '../error-kind.js';
import { line } from '../one-line.js';
import type { Line } from './simulated-line.js';

const DAMAGE = new Set(['corrupt-chunk', 'missing-chunk']);

/** Returns whether an error reports lost bytes. */
export const isDamage = (cause: unknown) =>
  cause instanceof HedgerowError && DAMAGE.has(kindOf(cause));

/** Fails if the lines do not allow a store to hold `entries`. */
export function judge(
  lines: readonly Line[],
  entries: readonly (readonly [string, unknown])[],
  generation: number,
  isSettled: boolean,
): void {
  let seen = 0;
  for (const line of lines) {
    const own = new Map(entries.filter(([key]) => key.startsWith(line.prefix)));
    seen += own.size;
    if (!line.allows(own, generation, isSettled && line.isSettled)) {
      const keys = [...own.keys()].join(' ');
      const where = `line ${line.prefix}, generation ${generation}`;
      throw new Error(`${where}: found ${keys}; of\n${line}`);
    }
  }
  expectSame(seen, entries.length, 'rows of no line');
}

/**
 * Checks a store with lost bytes: each row is right, or its reader gets an error. `whole` has all bytes of the same
 * commit.
 */
export async function readWhatIsLeft(
  lines: readonly Line[],
  whole: Storage,
  db: Store,
  generation: number,
): Promise<void> {
  const intact = await open('test', { storage: whole });
  expectSame(intact.root, db.root, 'root');
  const truth = await intact.scan().toArray();
  judge(lines, truth, generation, false);
  for (const [key, value] of truth) {
    try {
      expectSame(await db.get(key), value, `row ${key} of a damaged store`);
    } catch (cause) {
      if (!isDamage(cause)) throw cause;
    }
  }
  await intact.close();
}

/** Fails unless two values are the same. */
export function expectSame(found: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(found, expected)) return;
  throw new Error(`${what}: expected ${line(expected)}, got ${line(found)}`);
}
