import { describe, expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import type { Entry } from '../../support/models/store-model.js';
import { noise } from '../../support/noise.js';

describe('stats', () => {
  it.each([
    ['packed', () => 'x'.repeat(200)],
    ['not packed', (at: number) => noise(at, 200)],
  ])(
    'of a new handle equal the stats of the handle that wrote, where leaves are %s',
    async (_, textOf) => {
      const storage = memory();
      const db = await open('test', { storage });
      await db.putMany(Array.from({ length: 5000 }, (_, at): Entry => [`k${at}`, textOf(at)]));
      const fresh = await open('test', { storage });
      expect((await fresh.health.stats()).levels).toEqual((await db.health.stats()).levels);
    },
  );
});
