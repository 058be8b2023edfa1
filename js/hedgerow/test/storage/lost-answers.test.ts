/** When the answer to a write of refs is lost, every call reads storage to find out whether it took effect. */
import { afterEach, describe, expect, it } from 'vitest';
import { MAX_HISTORY } from '../../src/base/limits.js';
import { writeRefs } from '../../src/engine/history/ref-write.js';
import type { Transaction } from '../../src/engine/transaction/transaction.js';
import {
  HedgerowError,
  importStore,
  memory,
  open,
  repairStore,
  type Storage,
} from '../../src/index.js';
import { idb } from '../../src/storage/idb/idb.js';
import type { SegmentStore, StoreOptions } from '../../src/storage/segment-store.js';
import { mutators } from '../../src/sync/mutators/index.js';
import { HostileEngine } from '../support/doubles/hostile-idb/engine.js';
import { install } from '../support/doubles/hostile-idb/install.js';
import { json, ServerDouble } from '../support/doubles/mutators-server.js';
import { watched } from '../support/doubles/watched-storage.js';
import { all } from '../support/models/store-model.js';
import { noise } from '../support/noise.js';
import { random } from '../support/random.js';
import { chunksOfKind, Kind } from '../support/stored-chunks.js';
import { theirs } from '../support/worlds/mutators-app.js';

const LOST = new HedgerowError('unavailable/disconnected', 'the answer is lost');

/** Storage whose writes of refs take effect but reject, while `isLossy`. */
class Lossy {
  isLossy = false;
  /** Whether every read fails after a loss. */
  isDeafAfter = false;
  isDeaf = false;
  lost = 0;

  wrap(inner: Storage): Storage {
    // The store of a call must not know of a write whose answer is lost: so a twin writes it.
    const wrapped = (store: SegmentStore, twin: SegmentStore): SegmentStore => ({
      load: async (known, since) => {
        if (this.isDeaf) throw LOST;
        return store.load(known, since);
      },
      reserve: (freesSpace) => store.reserve(freesSpace),
      read: async (ids) => {
        if (this.isDeaf) throw LOST;
        return store.read(ids);
      },
      write: async (batch) => {
        const isLost = this.isLossy && (batch.move !== undefined || batch.also !== undefined);
        const isWritten = await (isLost ? twin : store).write(batch);
        if (!isWritten || !isLost) return isWritten;
        this.lost += 1;
        this.isDeaf = this.isDeafAfter;
        throw LOST;
      },
      history: async (name) => {
        if (this.isDeaf) throw LOST;
        return store.history(name);
      },
      delete: (...args) => store.delete(...args),
      close: async () => {
        await Promise.all([store.close(), twin.close()]);
      },
    });
    const opened = async (name: string, options: StoreOptions = {}) =>
      wrapped(await inner.open(name, options), await inner.open(name));
    return { ...inner, open: opened };
  }

  /** Loses all answers during `work`, and expects at least `least` of them. */
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

async function scene(inner = memory()) {
  const lossy = new Lossy();
  const storage = lossy.wrap(inner);
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
    await lossy.during(() => db.branches.reset(root));
    expect(await db.count()).toBe(2);
  });

  it('branch', async () => {
    const { lossy, storage, db } = await scene();
    const draft = await lossy.during(() => db.branches.open('draft'));
    await draft.put('c', 3);
    const other = await open('test', { storage });
    expect(await other.branches.list()).toMatchObject([
      { name: 'main' },
      { name: 'draft', parent: 'main', base: db.root, root: draft.root },
    ]);
    // It was created once.
    expect(lossy.lost).toBe(1);
  });

  it('deleteBranch', async () => {
    const { lossy, db } = await scene();
    const draft = await db.branches.open('draft');
    await lossy.during(() => db.branches.delete('draft'));
    expect(await db.branches.list()).toMatchObject([{ name: 'main' }]);
    await expect(draft.put('c', 3)).rejects.toMatchObject({ code: 'not-found', detail: 'branch' });
    await expect(db.branches.delete('draft')).rejects.toMatchObject({
      code: 'not-found',
      detail: 'branch',
    });
  });

  it('merge, with a commit and without one', async () => {
    const { lossy, db } = await scene();
    const draft = await db.branches.open('draft');
    await draft.put('c', 3);
    expect(await lossy.during(() => db.branches.merge('draft'))).toMatchObject({
      rows: 1,
      conflicts: 0,
    });
    // Both branches make the same change: only the ref of the ancestor moves.
    for (const one of [db, draft]) await one.put('d', 4);
    const { root } = db;
    expect(await lossy.during(() => db.branches.merge('draft'))).toEqual({
      root,
      rows: 0,
      conflicts: 0,
    });
    const [, listed] = await db.branches.list();
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
      for (const { start } of chunksOfKind([segment], Kind.commit)) {
        bytes[start + 40] = (bytes[start + 40] ?? 0) ^ 1;
      }
      return bytes;
    };
    const repaired = await lossy.during(() => repairStore('test', { storage }));
    expect(repaired).toMatchObject({ root, commitsDropped: 1 });
    const again = await open('test', { storage });
    expect(await all(again)).toEqual([['a', 1]]);
  });

  it('import', async () => {
    const { lossy, storage, db } = await scene();
    const parts: Uint8Array[] = [];
    for await (const part of await db.backup.export()) parts.push(part);
    const imported = await lossy.during(() => importStore('copy', parts, { storage }), 3);
    expect(imported).toMatchObject({ root: db.root });
    const copy = await open('copy', { storage });
    expect(await all(copy)).toEqual(await all(db));
  });
});

describe('on IndexedDB', () => {
  let uninstall = () => {};
  afterEach(() => {
    uninstall();
  });

  it.each(['chromium', 'firefox', 'webkit'] as const)(
    'a put resolves whose segment is stored with the move of its ref, in %s',
    async (kind) => {
      const engine = new HostileEngine(kind, random(1));
      uninstall = install(engine);
      const { lossy, storage, db } = await scene(idb());
      await lossy.during(() => db.put('c', 3));
      await lossy.during(() => db.putMany([['d', 4]]));
      const other = await open('test', { storage });
      expect(await other.count()).toBe(4);
      await other.close();
      await db.close();
    },
  );
});

describe('a write of refs that failed', () => {
  const bytes = (length: number) => new Uint8Array(length).fill(7);
  const segment = { id: 1, segmentBytes: bytes(9), tableBytes: bytes(9) };
  const move = { name: 'main', commitBytes: bytes(32), generation: 1, expected: 0, format: 1 };
  const batch = { segments: [segment], move, durability: 'relaxed' } as const;

  /** Returns a store with the content that `kept` writes; all later writes reject without effect. */
  async function failing(kept: (store: SegmentStore) => Promise<unknown>): Promise<SegmentStore> {
    const store = await memory().open('test');
    await kept(store);
    return {
      load: (...args) => store.load(...args),
      reserve: (freesSpace) => store.reserve(freesSpace),
      read: (ids) => store.read(ids),
      write: () => Promise.reject(LOST),
      history: (name) => store.history(name),
      delete: (...args) => store.delete(...args),
      close: () => store.close(),
    };
  }

  it('took effect if its ref and its segments are stored', async () => {
    const store = await failing((inner) => inner.write(batch));
    expect(await writeRefs(store, batch)).toBe('found');
  });

  it('took effect although later moves of the ref fill its history', async () => {
    const store = await failing(async (inner) => {
      await inner.write(batch);
      for (let expected = 1; expected <= 2 * MAX_HISTORY; expected++) {
        const next = {
          ...move,
          commitBytes: bytes(32).fill(1),
          expected,
          generation: expected + 1,
        };
        await inner.write({ segments: [], move: next, durability: 'relaxed' });
      }
    });
    expect(await writeRefs(store, batch)).toBe('found');
  });

  it('took no effect if a browser kept only its segments', async () => {
    const store = await failing((inner) =>
      inner.write({ segments: [segment], durability: 'relaxed' }),
    );
    await expect(writeRefs(store, batch)).rejects.toBe(LOST);
  });

  it('took no effect if another writer made the same commit', async () => {
    const own = { ...segment, id: 2 };
    const store = await failing((inner) => inner.write({ ...batch, segments: [own] }));
    await expect(writeRefs(store, batch)).rejects.toBe(LOST);
  });
});

describe('a call whose outcome is unknown rejects with the cause', () => {
  it.each(['put', 'branch', 'deleteBranch', 'merge', 'resetTo'] as const)('%s', async (call) => {
    const { lossy, storage, db } = await scene();
    const { root } = db;
    const old = await db.branches.open('old');
    await old.put('c', 3);
    const calls = {
      put: () => db.put('e', 5),
      branch: () => db.branches.open('draft'),
      deleteBranch: () => db.branches.delete('old'),
      merge: () => db.branches.merge('old'),
      resetTo: () => db.branches.reset(old.root),
    };
    lossy.isDeafAfter = true;
    await expect(lossy.during<unknown>(calls[call])).rejects.toBe(LOST);
    lossy.isDeafAfter = false;
    lossy.isDeaf = false;
    // In either case, all handles find the same head, and can write.
    const other = await open('test', { storage });
    await db.put('f', 6);
    await expect.poll(() => other.root).toBe(db.root);
    expect(await db.health.verify()).toMatchObject({ ok: true });
    expect(root).not.toBe(db.root);
  });

  it('calls of mutators, whose queue and rows are two branches', async () => {
    const lossy = new Lossy();
    const storage = lossy.wrap(memory());
    const db = await open('test', { storage });
    const server = new ServerDouble(theirs);
    const app = await db.connect(
      mutators({
        mutators: { note: (tx: Transaction, text: string) => void tx.put('length', text.length) },
        pull: (request) => json(server.pull(request)),
        push: (request) => json(server.push(request)),
      }),
    );
    await app.pull();
    lossy.isDeafAfter = true;
    // The queue stores segments before the transaction that moves both branches.
    const texts = Array.from({ length: 40 }, (_, at) => noise(at, 200_000));
    const noted = lossy.during(() => Promise.all(texts.map((text) => app.mutate.note(text))));
    await expect(noted).rejects.toBe(LOST);
    lossy.isDeafAfter = false;
    lossy.isDeaf = false;
    const other = await open('test', { storage });
    expect(await other.health.verify()).toMatchObject({ ok: true });
    await app.mutate.note('short');
    const names = app.calls().map(({ args }) => (args as string).length);
    expect(names).toEqual([...texts.map(() => 200_000), 5]);
  });
});
