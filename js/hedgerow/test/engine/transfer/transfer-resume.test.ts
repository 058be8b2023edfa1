/** Imports that are cut off, repeated, or run during other writes. */
import { describe, expect, it } from 'vitest';
import { endOf, frameOf, headerOf } from '../../../src/engine/transfer/format.js';
import { HedgerowError, importStore, memory, open, type Storage } from '../../../src/index.js';
import type { Ref } from '../../../src/storage/segment-store.js';
import { faulty } from '../../support/doubles/faulty-storage.js';
import { watched } from '../../support/doubles/watched-storage.js';
import { all, type Entry, expectSame, failure, within } from '../../support/models/store-model.js';
import { below, forSampled } from '../../support/property.js';
import { random } from '../../support/random.js';
import {
  expectCopy,
  expectEmpty,
  exported,
  largeStore,
  storedIn,
} from '../../support/transferring.js';

/** Yields the bytes in parts of 100,000, then fails. */
async function* cutOff(bytes: Uint8Array, at: number, cause: unknown): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < at; from += 100_000) {
    yield bytes.slice(from, Math.min(at, from + 100_000));
    await new Promise((resolve) => setTimeout(resolve));
  }
  throw cause;
}

const lost = new Error('the network is gone');

async function cutImport(storage: Storage, bytes: Uint8Array, at = bytes.length * 0.6) {
  const importing = importStore('copy', cutOff(bytes, Math.floor(at), lost), { storage });
  await expect(importing).rejects.toBe(lost);
}

describe('an import that was cut off', () => {
  it('continues with the stored segments when it gets the same export again', async () => {
    const db = await largeStore(random(1));
    const bytes = await exported(db);
    const storage = watched(memory());
    await cutImport(storage, bytes);
    await expectEmpty(storage);
    const before = new Set((await storedIn(storage)).ids);
    expect(before.size).toBeGreaterThan(3);
    const written = storage.written.length;
    const result = await importStore('copy', [bytes], { storage });
    expect(result.stats.segmentsBefore).toBe(before.size);
    const again = storage.written.slice(written).flatMap(({ segments }) => segments);
    expect(again).toHaveLength(result.stats.segments);
    expect(result.stats.segments + before.size).toBe((await storedIn(storage)).ids.length);
    await expectCopy(db, storage);
  });

  it('can be aborted by a signal at any time, and continued', async () => {
    const db = await largeStore(random(2), 2 << 20);
    const bytes = await exported(db);
    const storage = memory();
    let most = 0;
    for (let calls = 1; ; calls += 7) {
      const abort = new AbortController();
      let left = calls;
      const importing = importStore('copy', [bytes], {
        storage,
        signal: abort.signal,
        onProgress: () => --left === 0 && abort.abort(),
      });
      const error = await importing.then(
        ({ stats: { segmentsBefore } }) => {
          most = segmentsBefore;
        },
        (cause: unknown) => cause,
      );
      if (error === undefined) break;
      expect(error).toEqual(failure('aborted'));
      await expectEmpty(storage);
    }
    expect(most).toBeGreaterThan(2);
    await expectCopy(db, storage);
    await expect(
      importStore('copy', [bytes], { storage, signal: AbortSignal.abort() }),
    ).rejects.toEqual(failure('aborted'));
  });

  const sources: [
    string,
    (bytes: Uint8Array, asked: number[]) => Parameters<typeof importStore>[1],
  ][] = [
    [
      'a function that returns the rest',
      (bytes, asked) => (offset) => {
        asked.push(offset);
        return new Response(bytes.slice(offset) as BodyInit, { status: offset > 0 ? 206 : 200 });
      },
    ],
    [
      'a function that returns all of it again',
      (bytes, asked) => async (offset) => {
        asked.push(offset);
        return [bytes];
      },
    ],
    ['a blob', (bytes) => new Blob([bytes as BlobPart])],
  ];
  for (const [title, source] of sources) {
    it(`continues from ${title}`, async () => {
      const db = await largeStore(random(3));
      const bytes = await exported(db);
      const storage = memory();
      await cutImport(storage, bytes);
      const asked: number[] = [];
      const result = await importStore('copy', source(bytes, asked), { storage });
      expect(result.stats.segmentsBefore).toBeGreaterThan(3);
      if (asked.length > 0) {
        expect(asked).toHaveLength(2);
        expect(asked[1]).toBeGreaterThan(bytes.length * 0.3);
      }
      await expectCopy(db, storage);
    });
  }

  it('continues from an export that begins at its offset', async () => {
    const db = await largeStore(random(4));
    const storage = memory();
    await cutImport(storage, await exported(db));
    const asked: number[] = [];
    const source = (from: number) => {
      asked.push(from);
      return db.backup.export({ from });
    };
    await importStore('copy', source, { storage });
    expect(asked).toHaveLength(2);
    await expectCopy(db, storage);
  });

  it('starts again with another export, and keeps only segments that are in both', async () => {
    const db = await largeStore(random(5));
    const bytes = await exported(db);
    const storage = memory();
    await cutImport(storage, bytes);
    await db.put('one more', 1);
    const other = await exported(db);
    const asked: number[] = [];
    const result = await importStore(
      'copy',
      (offset) => {
        asked.push(offset);
        return [other.slice(offset)];
      },
      { storage },
    );
    expect(asked).toEqual([0]);
    expect(result.stats.segmentsBefore).toBeGreaterThan(3);
    await expectCopy(db, storage);
    const third = await largeStore(random(6), 1 << 20);
    const copies = memory();
    await cutImport(copies, bytes);
    await importStore('copy', [await exported(third)], { storage: copies });
    await expectCopy(third, copies);
    const { ids, segments } = await storedIn(copies);
    const kept = segments.reduce((sum, { length }) => sum + length, 0);
    expect([ids.length > 0, kept < 1.2 * (1 << 20)]).toEqual([true, true]);
  });

  it('keeps its segments until rows are written to the store', async () => {
    const db = await largeStore(random(7));
    const bytes = await exported(db);
    const storage = memory();
    await cutImport(storage, bytes);
    const copy = await open('copy', { storage });
    await copy.health.compact();
    const { ids } = await storedIn(storage);
    expect(ids.length).toBeGreaterThan(3);
    const abort = new AbortController();
    const onProgress = () => abort.abort();
    await expect(
      importStore('copy', [bytes], { storage, signal: abort.signal, onProgress }),
    ).rejects.toEqual(failure('aborted'));
    await copy.put('k', 1);
    await expect(importStore('copy', [bytes], { storage })).rejects.toEqual(
      failure('invalid-argument'),
    );
    await copy.health.compact();
    const after = await storedIn(storage);
    expect(after.ids.some((id) => ids.includes(id))).toBe(false);
    expect(await all(copy)).toEqual([['k', 1]]);
    // When the store is empty again, an import works again, though the old segments are deleted.
    await copy.clear();
    await copy.health.compact();
    await importStore('copy', (offset) => [bytes.slice(offset)], { storage });
    await expectCopy(db, storage);
  });

  it('makes no write when it was complete before', async () => {
    const db = await largeStore(random(8), 1 << 20);
    const bytes = await exported(db);
    const storage = watched(memory());
    const first = await importStore('copy', [bytes], { storage });
    const written = storage.written.length;
    const second = await importStore('copy', [bytes], { storage });
    expect(second).toMatchObject({ root: first.root, rows: first.rows, stats: { segments: 0 } });
    expect(storage.written.length).toBe(written);
  });
});

describe('an import at the same time as other writers', () => {
  it('fails when another writer commits first, and leaves no segment', async () => {
    const db = await largeStore(random(9));
    const bytes = await exported(db);
    const storage = memory();
    const other = await open('copy', { storage });
    let asked = 0;
    const importing = importStore('copy', [bytes], {
      storage,
      onProgress: () => {
        asked += 1;
        if (asked === 4) void other.putMany([['mine', 1]]);
        if (asked === 5) other.health.compact().catch(() => {});
      },
    });
    await expect(importing).rejects.toEqual(failure('conflict'));
    expectSame(await all(other), [['mine', 1]]);
    await other.health.compact();
    const { ids, refs } = await storedIn(storage);
    expect([ids.length, refs.has('import')]).toEqual([1, false]);
    expect((await other.health.verify()).ok).toBe(true);
  });

  it('does not rely on segments of another writer, which may delete them', async () => {
    const rows = Array.from(
      { length: 2500 },
      (_, at): Entry => [`k${at + 10_000}`, random(at).bytes(3000)],
    );
    const sources = memory();
    const db = await open('source', { storage: sources });
    await db.putMany(rows);
    const bytes = await exported(db);
    const storage = memory();
    const other = await open('copy', { storage });
    // The same rows, and so the same chunks, in a load that fails in the end.
    let fail = () => {};
    const gate = new Promise<void>((resolve) => {
      fail = resolve;
    });
    const loading = other.putMany(
      (async function* () {
        yield* rows;
        await gate;
        throw lost;
      })(),
    );
    loading.catch(() => {});
    const source = await storedIn(sources, 'source');
    const stored = async () => {
      const { tables } = await storedIn(storage);
      const isStored = ({ tableBytes }: (typeof tables)[0]) =>
        tables.some((one) => Buffer.compare(one.tableBytes, tableBytes) === 0);
      return source.tables.findIndex(isStored);
    };
    await expect.poll(stored, { timeout: 10_000 }).toBeGreaterThanOrEqual(0);
    // An export without a segment that the other writer has stored.
    const left = await stored();
    const others = source.tables
      .map(({ tableBytes }, at) => ({
        tableBytes,
        segmentBytes: source.segments[at] as Uint8Array,
      }))
      .filter((_, at) => at !== left)
      .flatMap(({ tableBytes, segmentBytes }, at) => [frameOf(at, tableBytes), segmentBytes]);
    const { commitBytes } = source.refs.get('main') as Ref;
    const header = headerOf([{ name: 'main', commitBytes }], 1000);
    const less = [header, ...others, endOf(source.tables.length - 1)];
    await expect(importStore('copy', less, { storage })).rejects.toEqual(failure('missing-chunk'));
    expect(await stored()).toBe(left);
    await importStore('copy', [bytes], { storage });
    fail();
    await expect(loading).rejects.toBe(lost);
    await other.health.compact();
    await other.close();
    await expectCopy(db, storage);
  });

  it('wins against an earlier import into the same store, which is whole then', async () => {
    const db = await largeStore(random(10));
    const bytes = await exported(db);
    for (let round = 0; round < 8; round++) {
      const storage = memory();
      const slow = importStore('copy', cutOff(bytes, bytes.length, lost), { storage });
      const settled = [slow.catch((cause: unknown) => cause)];
      await new Promise((resolve) => setTimeout(resolve, round * 6));
      settled.push(importStore('copy', [bytes], { storage }).catch((cause: unknown) => cause));
      for (const result of await Promise.all(settled)) {
        if (result === lost || !(result instanceof Error)) continue;
        expect(result).toEqual(failure('conflict'));
      }
      await importStore('copy', [bytes], { storage });
      await expectCopy(db, storage);
    }
  });

  it('refuses a store that has rows, or a branch with the name of an imported one', async () => {
    const db = await largeStore(random(11), 1 << 18);
    await (await db.branches.open('side')).put('k', 1);
    const bytes = await exported(db, { branches: true });
    for (const prepare of ['rows', 'branch']) {
      const storage = memory();
      const copy = await open('copy', { storage });
      if (prepare === 'rows') await copy.put('k', 1);
      else await copy.branches.open('side');
      const { root } = copy;
      await expect(importStore('copy', [bytes], { storage })).rejects.toEqual(
        failure('invalid-argument'),
      );
      expect((await open('copy', { storage })).root).toBe(root);
    }
  });

  it('works while the source store is written', async () => {
    const db = await largeStore(random(12));
    const { root } = db;
    const storage = memory();
    const copy = await db.backup.export();
    let at = 0;
    await importStore('copy', copy, {
      storage,
      onProgress: () => {
        db.put(`more/${at++}`, at).catch(() => {});
      },
    });
    expect((await open('copy', { storage })).root).toBe(root);
    await db.put('last', 1);
    expect(db.root).not.toBe(root);
  });
});

describe('a storage call of an import that fails', () => {
  it('leaves the store empty or whole, and the next import makes it whole', async () => {
    const db = await largeStore(random(13), 3 << 20);
    await (await db.branches.open('side')).put('k', 1);
    const bytes = await exported(db, { branches: true });
    const error = new HedgerowError('quota-exceeded', 'for a test');
    const counting = faulty(memory());
    await importStore('copy', [bytes], { storage: counting });
    const calls = counting.calls();
    expect(calls).toBeGreaterThan(10);
    const faults = below(calls).flatMap((call) =>
      (['before', 'after'] as const).flatMap((when) =>
        [false, true].map((lasting) => ({ at: 1 + call, when, lasting })),
      ),
    );
    await forSampled(faults, async (fault) => {
      const inner = memory();
      const storage = faulty(inner, { ...fault, error });
      const importing = importStore('copy', [bytes], { storage });
      const failed = await within(
        importing.then(
          () => undefined,
          (cause: unknown) => cause,
        ),
      );
      // The last call closes the store: its failure does not fail the import.
      if (failed !== undefined) expect(failed).toBe(error);
      const found = await open('copy', { storage: inner });
      expect([db.root, '0'.repeat(64)]).toContain(found.root);
      if (failed === undefined) expect(found.root).toBe(db.root);
      await found.close();
      storage.heal();
      const { root } = await importStore('copy', [bytes], { storage });
      expect(root).toBe(db.root);
      await expectCopy(db, inner);
      const { refs } = await storedIn(inner);
      expect(refs.has('import')).toBe(false);
    });
  });
});
