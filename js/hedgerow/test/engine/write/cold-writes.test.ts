import { describe, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import { all, type Entry, expectSame, sorted } from '../../support/models/store-model.js';
import { noise } from '../../support/noise.js';

describe('a change that makes segments and must load others', () => {
  const rows = sorted(
    Array.from({ length: 20_000 }, (_, at): Entry => [`k${at}`, { at, text: noise(at, 100) }]),
  );
  it('is made', async () => {
    const storage = memory();
    await (await open('test', { storage })).putMany(rows);
    // Long slices: the step that needs a segment has also made segments.
    const db = await open('test', { storage, advanced: { cacheBytes: 0, sliceMs: 1000 } });
    const changed = rows.map(([key], at): Entry => [key, { changed: key, text: noise(-at, 100) }]);
    await db.putMany(changed);
    expectSame(await all(db), changed);
  });
});
