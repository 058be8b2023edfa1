/** Export and import of a store: the copy has the same rows, branches and root. */
import { describe, expect, it } from 'vitest';
import type { ImportProgress } from '../../../src/engine/transfer/import-options.js';
import { importStore, memory, open } from '../../../src/index.js';
import { collectOnDemand } from '../../support/collect-on-demand.js';
import { watched } from '../../support/doubles/watched-storage.js';
import { all, type Entry, expectSame, failure, storeOf } from '../../support/models/store-model.js';
import { forSeeds } from '../../support/property.js';
import { type Random, random } from '../../support/random.js';
import {
  expectCopy,
  exported,
  inParts,
  joined,
  largeStore,
  storedIn,
} from '../../support/transferring.js';

const indexes = { byN: { path: '/n' }, byText: { path: ['/text', '/n'], prefix: 'b' } };

/** Makes a store with a past: rows of all sizes, changed and deleted, indexes, branches. */
async function storeWithPast(from: Random) {
  const storage = memory();
  const db = await open('source', { storage, ...(from.next() < 0.7 && { indexes }) });
  const value = () => {
    if (from.next() < 0.05) return from.bytes(from.pick([5000, 70_000, 200_000]));
    return { n: from.below(20), text: from.text(30), more: from.value() };
  };
  const change = async (store: typeof db) => {
    for (let round = from.below(5); round >= 0; round--) {
      const rows = Array.from({ length: from.below(from.pick([3, 60, 800])) }, (): Entry => {
        return [`${from.pick(['a', 'b', 'c'])}/${from.below(1000)}`, value()];
      });
      if (from.next() < 0.3) for (const [key, one] of rows.slice(0, 5)) await store.put(key, one);
      else await store.putMany(rows);
      if (from.next() < 0.3) await store.deleteMany({ prefix: `a/${from.below(9)}` });
    }
  };
  await change(db);
  const names = ['one', 'zwei/ü', '3 %'].slice(0, from.below(4));
  for (const name of names) {
    const branch = await db.branches.open(name);
    await change(branch);
    await branch.close();
  }
  if (from.next() < 0.5) await change(db);
  if (from.next() < 0.3) await db.health.compact();
  return { db, names };
}

describe('a store that is exported and imported', () => {
  it('is the same, with its indexes and its branches', async () => {
    await forSeeds(12, async (from, _, begin) => {
      const { db, names } = await storeWithPast(from);
      const copies = memory();
      const bytes = await exported(db, { branches: true });
      const progress: ImportProgress[] = [];
      const result = await importStore('copy', inParts(bytes, from), {
        storage: copies,
        onProgress: (one) => progress.push(one),
      });
      expect(result).toMatchObject({ root: db.root, rows: await db.count() });
      expect([...result.branches].sort()).toEqual([...names].sort());
      const parts = progress.map(({ fraction }) => fraction);
      expect(parts).toEqual([...parts].sort((a, b) => a - b));
      if (db.root !== '0'.repeat(64)) expect(parts.at(-1)).toBeCloseTo(1, 6);
      const { refs, ids } = await storedIn(copies);
      expect(refs.has('import')).toBe(false);
      // It leaves no garbage: if the source was compacted during its export, no commit needs some of the segments.
      expect(ids.length).toBeLessThanOrEqual(result.stats.segments);
      await expectCopy(db, copies);
      const copy = await open('copy', { storage: copies });
      expect(await copy.branches.list()).toEqual(await db.branches.list());
      for (const name of names) {
        begin({ branch: name });
        const [one, other] = [await db.branches.open(name), await copy.branches.open(name)];
        expectSame(await all(other), await all(one));
        // The forks were copied, too: both stores merge in the same way.
        const merging = { onConflict: () => 'theirs' as const };
        await db.branches.merge(one, merging);
        await copy.branches.merge(other, merging);
        expect(copy.root).toBe(db.root);
      }
      // A copy of the copy is the same, too.
      const again = memory();
      await importStore('copy', [await exported(copy)], { storage: again });
      await expectCopy(copy, again);
    });
  });

  it('does not build its indexes again', async () => {
    const db = await open('source', { storage: memory(), indexes });
    await db.putMany(Array.from({ length: 500 }, (_, at): Entry => [`b${at}`, { n: at % 7 }]));
    const storage = memory();
    await importStore('copy', await db.backup.export(), { storage });
    const copy = await open('copy', { storage, indexes });
    const scan = { index: 'byN', equals: 3 } as const;
    expectSame(await copy.scan(scan).toArray(), await db.scan(scan).toArray());
    expect(copy.root).toBe(db.root);
  });

  it('can be read from a stream, a response, a blob, or parts', async () => {
    const db = await largeStore(random(1), 1 << 20);
    const bytes = await exported(db);
    const sources = [
      () => db.backup.export(),
      async () => (await db.backup.export()).stream(),
      async () => new Response((await db.backup.export()).stream()),
      async () => new Blob([bytes as BlobPart]),
      async () => bytes,
      async () => bytes.buffer as ArrayBuffer,
      async () => [bytes.subarray(0, 9), new Uint8Array(), bytes.subarray(9)],
      async () => async () => (await db.backup.export()).stream(),
    ];
    for (const source of sources) {
      const storage = memory();
      const { root, rows } = await importStore('copy', await source(), { storage });
      expect([root, rows]).toEqual([db.root, await db.count()]);
    }
    const storage = memory();
    for (const none of [undefined, 7, 'text', ['text'], [7]]) {
      const importing = importStore('copy', none as unknown as Uint8Array[], { storage });
      await expect(importing).rejects.toEqual(failure('invalid-argument'));
    }
  });

  it('has the length that the export says, in parts of at most a segment', async () => {
    const db = await largeStore(random(2));
    const copy = await db.backup.export();
    let length = 0;
    for await (const part of copy) {
      length += part.length;
      expect(part.length).toBeLessThan(700_000);
    }
    expect([copy.bytes, copy.root]).toEqual([length, db.root]);
    expect(() => copy[Symbol.asyncIterator]()).toThrow(failure('closed'));
  });

  it('may be empty', async () => {
    const db = await storeOf();
    const storage = memory();
    const result = await importStore('copy', await db.backup.export(), { storage });
    expect(result).toMatchObject({ root: db.root, rows: 0, stats: { segments: 0 } });
    await expectCopy(db, storage);
  });

  it('may have rows in a branch alone: the rows of the main branch are counted', async () => {
    const db = await open('test', { storage: memory() });
    await db.putMany([
      ['a', 1],
      ['b', 2],
    ]);
    const draft = await db.branches.open('draft');
    await db.clear();
    const copies = memory();
    const rows: number[] = [];
    const result = await importStore('copy', await exported(db, { branches: true }), {
      storage: copies,
      onProgress: (progress) => rows.push(progress.rows),
    });
    expect(result).toMatchObject({ root: db.root, rows: 0, branches: ['draft'] });
    expect(new Set(rows)).toEqual(new Set([0]));
    const copy = await open('copy', { storage: copies });
    expect(await all(await copy.branches.open('draft'))).toEqual(await all(draft));
  });

  it('may be a branch, which becomes the main branch of the copy', async () => {
    const db = await storeOf([['k', 1]]);
    const branch = await db.branches.open('side');
    await branch.put('l', 2);
    const storage = memory();
    const copy = await branch.backup.export({ branches: true });
    expect(copy.branches).toEqual([]);
    await importStore('copy', copy, { storage });
    await expectCopy(branch, storage);
    const main = branch.backup.export({ branches: ['main'] });
    await expect(main).rejects.toEqual(failure('invalid-argument'));
    await expect(db.backup.export({ branches: ['none'] })).rejects.toEqual(
      failure('not-found/branch'),
    );
    expect((await db.backup.export({ branches: ['side'] })).branches).toEqual(['side']);
  });

  it('leaves out segments that no exported commit reaches', async () => {
    const db = await largeStore(random(3), 2 << 20);
    const branch = await db.branches.open('large');
    const from = random(9);
    await branch.putMany((await all(db)).map(([key]): Entry => [key, from.bytes(2900)]));
    const [one, both] = [await db.backup.export(), await db.backup.export({ branches: true })];
    expect(one.bytes).toBeLessThan(both.bytes * 0.6);
    const storage = memory();
    await importStore('copy', one, { storage });
    await expectCopy(db, storage);
    both.close();
  });
});

describe('an export', () => {
  it('has the head at its call, during later writes and collections', async () => {
    // Another collection could move the segments first.
    collectOnDemand();
    const from = random(5);
    const storage = watched(memory());
    const db = await open('source', { storage });
    for (let round = 0; round < 3; round++) {
      const rows = Array.from({ length: 900 }, (_, at): Entry => [`k${at}`, from.bytes(3000)]);
      await db.putMany(rows.filter((_, at) => round === 0 || at % 3 === round));
    }
    const [root, before] = [db.root, await all(db)];
    const copy = await db.backup.export();
    const parts: Uint8Array[] = [];
    let collected = 0;
    for await (const part of copy) {
      parts.push(part);
      if (parts.length !== 3 && parts.length !== 7) continue;
      await db.putMany(before.map(([key]): Entry => [key, from.bytes(1000)]));
      collected += (await db.health.compact()).segmentsDeleted;
    }
    expect(collected).toBeGreaterThan(0);
    // Some segments were deleted before they were read; the segments with their live chunks came later.
    expect(joined(parts).length).not.toBe(copy.bytes);
    expect(db.root).not.toBe(root);
    const copies = memory();
    expect(await importStore('copy', parts, { storage: copies })).toMatchObject({ root });
    const other = await open('copy', { storage: copies });
    expectSame(await all(other), before);
    expect((await other.health.verify()).ok).toBe(true);
  });

  it('keeps its commits from collections until its release', async () => {
    const db = await largeStore(random(6), 2 << 20);
    const copy = await db.backup.export();
    await db.clear();
    await db.health.compact();
    const held = await db.health.stats();
    expect(held.storedBytes).toBeGreaterThan(2 << 20);
    copy.close();
    copy.close();
    await db.health.compact();
    expect((await db.health.stats()).storedBytes).toBe(0);
    expect(() => copy.stream()).toThrow(failure('closed'));
    // Also after a reader stops early.
    await db.putMany(Array.from({ length: 900 }, (_, at): Entry => [`${at}`, { at }]));
    for await (const _ of await db.backup.export()) break;
    await (await db.backup.export()).stream().cancel();
    const reader = (await db.backup.export()).stream().getReader();
    await reader.read();
    await reader.cancel();
    await db.clear();
    await db.health.compact();
    expect((await db.health.stats()).storedBytes).toBe(0);
  });

  it('is the same each time between writes, and begins at `from`', async () => {
    const db = await largeStore(random(7), 2 << 20);
    const bytes = await exported(db);
    expectSame(await exported(db), bytes);
    for (const from of [0, 1, 16, 70, 100_000, 600_000, 1_500_000, bytes.length - 3]) {
      expect((await db.backup.export({ from })).bytes).toBe(bytes.length - from);
      expectSame(await exported(db, { from }), bytes.slice(from), `from ${from}`);
    }
    for (const from of [bytes.length, 2 ** 50])
      expect((await exported(db, { from })).length).toBe(0);
    for (const from of [-1, 1.5, Number.NaN]) {
      await expect(db.backup.export({ from })).rejects.toEqual(failure('invalid-argument'));
    }
  });

  it('reads a part only when it is asked for, and ends with its signal and with close', async () => {
    const storage = watched(memory());
    const db = await open('source', { storage });
    const from = random(8);
    await db.putMany(Array.from({ length: 3000 }, (_, at): Entry => [`${at}`, from.bytes(3000)]));
    let reads = 0;
    storage.hooks.read = (_, bytes) => {
      reads += 1;
      return bytes;
    };
    const abort = new AbortController();
    const copy = (await db.backup.export({ signal: abort.signal }))[Symbol.asyncIterator]();
    reads = 0;
    for (let part = 0; part < 5; part++) await copy.next();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(reads).toBeLessThanOrEqual(4);
    abort.abort();
    const rest = async () => {
      for await (const _ of copy);
    };
    await expect(rest()).rejects.toEqual(failure('aborted'));
    const other = (await db.backup.export())[Symbol.asyncIterator]();
    for (let part = 0; part < 3; part++) await other.next();
    await db.close();
    await expect(
      (async () => {
        for (;;) if ((await other.next()).done) return;
      })(),
    ).rejects.toEqual(failure('closed'));
    await expect(db.backup.export()).rejects.toEqual(failure('closed'));
  });

  it('of a damaged store fails', async () => {
    const storage = watched(memory());
    const db = await open('source', { storage });
    const from = random(10);
    await db.putMany(Array.from({ length: 600 }, (_, at): Entry => [`${at}`, from.bytes(3000)]));
    const damages: ((bytes: Uint8Array) => Uint8Array | undefined)[] = [
      (bytes) => bytes.with(bytes.length >> 1, (bytes[bytes.length >> 1] ?? 0) ^ 4),
      (bytes) => bytes.slice(0, -1),
      (bytes) => new Uint8Array([...bytes, 0]),
    ];
    for (const damage of damages) {
      const copy = await db.backup.export();
      storage.hooks.read = (_, bytes) => damage(bytes);
      const reading = (async () => {
        for await (const _ of copy);
      })();
      await expect(reading).rejects.toEqual(failure('corrupt-chunk'));
      storage.hooks.read = (_, bytes) => bytes;
    }
    expect(await exported(db)).toBeInstanceOf(Uint8Array);
  });
});
