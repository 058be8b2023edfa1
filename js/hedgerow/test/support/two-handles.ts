/** Two handles of one store, and three rows. */
import { memory, open, type Storage } from '../../src/index.js';
import type { Entry } from './models/store-model.js';
import { startCore } from './start-core.js';

export async function twoHandles(rows: readonly Entry[] = [], storage: Storage = memory()) {
  const one = await open('test', { storage });
  await one.putMany(rows);
  const two = await open('test', { storage });
  await startCore(two);
  return [one, two] as const;
}

export const ABC: Entry[] = [
  ['a', 1],
  ['b', 2],
  ['c', 3],
];
