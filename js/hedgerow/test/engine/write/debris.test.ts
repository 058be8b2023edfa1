/** A load writes segments before its end; a load that fails leaves no segment. */
import { describe, expect, it, vi } from 'vitest';
import { memory, open } from '../../../src/index.js';
import { watched } from '../../support/doubles/watched-storage.js';
import { all, type Entry, expectSame, failure, SOON } from '../../support/models/store-model.js';
import { random } from '../../support/random.js';

const BEFORE: Entry[] = [
  ['a', 1],
  ['b', Uint8Array.of(2)],
];

describe('the segments of a load are deleted after it fails', () => {
  /** Rows of 6 MB, so that segments are written before the end. */
  function* rows(): Generator<Entry> {
    const from = random(4);
    for (let at = 0; at < 160; at++) yield [`k${at + 100}`, from.bytes(40_000)];
  }

  const endings: [string, (from: Generator<Entry>) => Iterable<Entry>, unknown][] = [
    [
      'an error of the source',
      function* (all) {
        yield* all;
        throw new Error('mine');
      },
      new Error('mine'),
    ],
    [
      'a refused row',
      function* (all) {
        yield* all;
        yield ['\ud800', 1];
      },
      failure('invalid-argument/key', { row: 160 }),
    ],
  ];
  for (const [title, ending, error] of endings) {
    for (const before of [[], BEFORE]) {
      it(`by ${title}, in a store of ${before.length} rows`, async () => {
        const storage = watched(memory());
        const db = await open('test', { storage });
        await db.putMany(before);
        const stored = new Set(storage.stored.keys());
        const writes = storage.written.length;
        await expect(db.putMany(ending(rows()))).rejects.toEqual(error);
        // Rows that go among other rows are written only when all of them are known.
        if (before.length === 0) expect(storage.written.length).toBeGreaterThan(writes);
        expect(new Set(storage.stored.keys())).toEqual(stored);
        expect((await db.health.stats()).segments).toBe(stored.size);
        expectSame(await all(db), before);
        // The next load is whole, also for a handle that does not know of the failure.
        await db.putMany(rows());
        const again = await open('test', { storage });
        expectSame(await all(again), await all(db));
        expect(await again.count()).toBe(160 + before.length);
      });
    }
  }

  it('by an abort', async () => {
    const storage = watched(memory());
    const db = await open('test', { storage });
    const abort = new AbortController();
    storage.hooks.write = () => abort.abort();
    await expect(db.putMany(rows(), { signal: abort.signal })).rejects.toEqual(failure('aborted'));
    // The call rejects at once, and the segments are deleted after the write in progress.
    await vi.waitFor(() => expect(storage.written.length).toBeGreaterThan(0), SOON);
    await vi.waitFor(() => expect(storage.stored.size).toBe(0), SOON);
  });
});
