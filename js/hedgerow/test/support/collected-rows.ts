/** The rows that the tests of a collection overwrite, the bytes that they take, and a wait. */

import type { watched } from './doubles/watched-storage.js';
import type { Entry } from './models/store-model.js';
import { noise } from './noise.js';

/** Returns rows of about 130 bytes, whose values differ in each round. */
export function rows(count: number, round: number): Entry[] {
  return Array.from(
    { length: count },
    (_, at): Entry => [
      `k${String(at).padStart(6, '0')}`,
      { at, round, text: noise(at * 1000 + round, 100) },
    ],
  );
}

/** Returns the bytes of all stored segments. */
export function storedBytes({ stored }: ReturnType<typeof watched>): number {
  return [...stored.values()].reduce((sum, { segmentBytes }) => sum + segmentBytes.length, 0);
}

/** Resolves once the condition holds. */
export async function settled(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
}
