import { describe, expect, it } from 'vitest';
import { memory, open } from '../src/index.js';
import type { Entry } from './model.js';

describe('stats', () => {
  it('of a handle just opened are those of the handle that wrote', async () => {
    const storage = memory();
    const db = await open('test', { storage });
    await db.putMany(Array.from({ length: 5000 }, (_, at): Entry => [`k${at}`, 'x'.repeat(200)]));
    const fresh = await open('test', { storage });
    expect((await fresh.stats()).levels).toEqual((await db.stats()).levels);
  });
});
