/** Refs are written, and the answer is lost: storage is asked what became of it, whichever call wrote them. */
import { describe, expect, it } from 'vitest';
import { HedgerowError, importStore, memory, open, repair, type Storage } from '../src/index.js';
import type { SegmentStore } from '../src/storage/segment-store.js';
import { all } from './model.js';
import { chunksOf, watched } from './watched-storage.js';

const COMMIT = 0xc0;
const LOST = new HedgerowError('disconnected', 'the answer is lost');

/** Storage whose writes of refs take effect and reject, while it `isLossy`. */
class Lossy {
  isLossy = false;
  /** After a loss nothing can be read. */
  isDeafAfter = false;
  isDeaf = false;
  lost = 0;

  wrap(inner: Storage): Storage {
    const wrapped = (store: SegmentStore): SegmentStore => ({
      load: async (known, since) => {
        if (this.isDeaf) throw LOST;
        return store.load(known, since);
      },
      reserve: (makesRoom) => store.reserve(makesRoom),
      read: async (ids) => {
        if (this.isDeaf) throw LOST;
        return store.read(ids);
      },
      write: async (batch) => {
        const isWritten = await store.write(batch);
        if (!isWritten || !this.isLossy || (!batch.move && !batch.also)) return isWritten;
        this.lost += 1;
        this.isDeaf = this.isDeafAfter;
        throw LOST;
      },
      history: async (name) => {
        if (this.isDeaf) throw LOST;
        return store.history(name);
      },
      delete: (...args) => store.delete(...args),
      close: () => store.close(),
    });
    return { ...inner, open: async (name, options) => wrapped(await inner.open(name, options)) };
  }

  /** Loses all answers during `work`, at least `least` of them. */
  async during<T>(work: () => Promise<T>, least = 1): Promise<T> {
    const before = this.lost;
    this.isLossy = true;
    try {
      return await work();
    } finally {
      this.isLossy = false;
      expect(this.lost - before).toBeGreaterThanOrEqual(least);
    }
  }
}

async function scene() {
  const lossy = new Lossy();
  const storage = lossy.wrap(memory());
  const db = await open('test', { storage });
  await db.putMany([
    ['a', 1],
    ['b', 2],
  ]);
  return { lossy, storage, db };
}

describe('a call whose answer was lost, though it took effect, resolves', () => {
  it('put, transaction and resetTo', async () => {
    const { lossy, db } = await scene();
    const { root } = db;
    await lossy.during(() => db.put('c', 3));
    await lossy.during(() => db.transaction((tx) => tx.put('d', 4)));
    expect(await db.count()).toBe(4);
    await lossy.during(() => db.resetTo(root));
    expect(await db.count()).toBe(2);
  });

  it('branch', async () => {
    const { lossy, storage, db } = await scene();
    const draft = await lossy.during(() => db.branch('draft'));
    await draft.put('c', 3);
    const other = await open('test', { storage });
    expect(await other.branches()).toMatchObject([
      { name: 'main' },
      { name: 'draft', parent: 'main', base: db.root, root: draft.root },
    ]);
    // It was made once.
    expect(lossy.lost).toBe(1);
  });

  it('deleteBranch', async () => {
    const { lossy, db } = await scene();
    const draft = await db.branch('draft');
    await lossy.during(() => db.deleteBranch('draft'));
    expect(await db.branches()).toMatchObject([{ name: 'main' }]);
    await expect(draft.put('c', 3)).rejects.toMatchObject({ code: 'branch-not-found' });
    await expect(db.deleteBranch('draft')).rejects.toMatchObject({ code: 'branch-not-found' });
  });

  it('merge, with a commit and without one', async () => {
    const { lossy, db } = await scene();
    const draft = await db.branch('draft');
    await draft.put('c', 3);
    expect(await lossy.during(() => db.merge('draft'))).toMatchObject({ applied: 1, conflicts: 0 });
    // The same change on both: only the ancestor moves.
    for (const one of [db, draft]) await one.put('d', 4);
    const { root } = db;
    expect(await lossy.during(() => db.merge('draft'))).toEqual({ root, applied: 0, conflicts: 0 });
    const [, listed] = await db.branches();
    expect(listed).toMatchObject({ name: 'draft', base: draft.root });
  });

  it('repair', async () => {
    const lossy = new Lossy();
    const inner = watched(memory());
    const storage = lossy.wrap(inner);
    const db = await open('test', { storage });
    await db.put('a', 1);
    const { root } = db;
    const before = new Set(inner.stored.keys());
    await db.put('b', 2);
    await db.close();
    inner.hooks.read = (id, bytes) => {
      const segment = inner.stored.get(id);
      if (segment === undefined || before.has(id)) return bytes;
      for (const { start } of chunksOf(segment)) {
        if (bytes[start] === COMMIT) bytes[start + 40] = (bytes[start + 40] ?? 0) ^ 1;
      }
      return bytes;
    };
    const repaired = await lossy.during(() => repair('test', { storage }));
    expect(repaired).toMatchObject({ root, commitsDropped: 1 });
    const again = await open('test', { storage });
    expect(await all(again)).toEqual([['a', 1]]);
  });

  it('import', async () => {
    const { lossy, storage, db } = await scene();
    const parts: Uint8Array[] = [];
    for await (const part of await db.export()) parts.push(part);
    const imported = await lossy.during(() => importStore('copy', parts, { storage }), 3);
    expect(imported).toMatchObject({ root: db.root });
    const copy = await open('copy', { storage });
    expect(await all(copy)).toEqual(await all(db));
  });
});

describe('a call of which nobody can tell what became rejects with the cause', () => {
  it.each(['put', 'branch', 'deleteBranch', 'merge', 'resetTo'] as const)('%s', async (call) => {
    const { lossy, storage, db } = await scene();
    const { root } = db;
    const old = await db.branch('old');
    await old.put('c', 3);
    const calls = {
      put: () => db.put('e', 5),
      branch: () => db.branch('draft'),
      deleteBranch: () => db.deleteBranch('old'),
      merge: () => db.merge('old'),
      resetTo: () => db.resetTo(old.root),
    };
    lossy.isDeafAfter = true;
    await expect(lossy.during<unknown>(calls[call])).rejects.toBe(LOST);
    lossy.isDeafAfter = false;
    lossy.isDeaf = false;
    // Whichever it was, all handles find the same, and can write.
    const other = await open('test', { storage });
    await db.put('f', 6);
    await expect.poll(() => other.root).toBe(db.root);
    expect(await db.verify()).toMatchObject({ ok: true });
    expect(root).not.toBe(db.root);
  });
});
