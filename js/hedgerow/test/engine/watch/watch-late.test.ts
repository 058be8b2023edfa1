import { expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import { rest } from '../../support/watching.js';

it('a watch that begins while older changes are gathered does not get them, forth or back', async () => {
  const db = await open('late', { storage: memory() });
  const stop = db.watch({}, () => {});
  const told: unknown[] = [];
  for (let round = 0; round < 10; round++) {
    const rows = Array.from({ length: 5000 }, (_, at) => [`row/${at}`, { round, at }] as const);
    await db.putMany(rows as [string, unknown][]);
    // The pass over these rows has begun, or is about to.
    for (let at = 0; at < 5; at++) {
      await db.put('last', { round, at });
      const end = db.watch({}, (changes) => told.push(...changes));
      await new Promise((resolve) => setTimeout(resolve, 5 * at));
      end();
    }
    await rest();
  }
  expect(told).toEqual([]);
  stop();
  await db.close();
});
