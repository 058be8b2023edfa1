/** Snapshots, branches, merges and undo. */
import { describe, expect, it } from 'vitest';
import { memory, open, type Store } from '../../../src/index.js';
import { faulty } from '../../support/doubles/faulty-storage.js';
import { watched } from '../../support/doubles/watched-storage.js';
import { kindOf, ofKind } from '../../support/error-kind.js';
import { all, type Entry, expectSame } from '../../support/models/store-model.js';

function rows(count: number, round = 0): Entry[] {
  return Array.from(
    { length: count },
    (_, at): Entry => [`k${String(at).padStart(6, '0')}`, { at, text: `${round} ${at}`.repeat(9) }],
  );
}

/** Returns the error that a call rejects with. */
function caught(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (cause: unknown) => cause,
  );
}

/** Deletes all chunks that no commit reaches. */
async function collectAll(db: Store): Promise<void> {
  await db.health.compact();
}

describe('a snapshot', () => {
  it('reads the store as it was, by all reads, after later writes and collections', async () => {
    const db = await open('test', { storage: memory() });
    await db.putMany(rows(3000));
    const { root } = db;
    const snap = db.snapshot();
    await db.putMany(rows(3000, 1));
    await db.deleteMany({ gte: 'k000100' });
    await collectAll(db);
    expect(snap.root).toBe(root);
    expectSame(await snap.scan().toArray(), rows(3000));
    expectSame(await snap.get('k002999'), rows(3000)[2999]?.[1]);
    expectSame(await snap.getMany(['none', 'k000000']), [undefined, rows(1)[0]?.[1]]);
    expect([await snap.has('k000500'), await db.has('k000500')]).toEqual([true, false]);
    expect([await snap.count(), await db.count()]).toEqual([3000, 100]);
    expect((await db.history.diff(snap.root, db.root).toArray()).length).toBe(3000);
    snap.close();
    snap.close();
    await collectAll(db);
    expect(await caught(snap.get('k000000'))).toMatchObject({ code: 'closed' });
    expect(await caught(snap.scan().toArray())).toMatchObject({ code: 'closed' });
    const { storedBytes, liveBytes } = await db.health.stats();
    expect(storedBytes).toBeLessThan(1.3 * liveBytes);
  });

  it('is released by `using`, after the reads in progress', async () => {
    const db = await open('test', { storage: memory() });
    await db.putMany(rows(20_000));
    let reading: AsyncIterator<[string, unknown]>;
    {
      using snap = db.snapshot();
      reading = snap.scan()[Symbol.asyncIterator]();
      await reading.next();
    }
    await db.clear();
    await collectAll(db);
    let count = 1;
    while ((await reading.next()).done !== true) count += 1;
    expect(count).toBe(20_000);
    await collectAll(db);
    expect((await db.health.stats()).storedBytes).toBeLessThan(2000);
  });

  it('can be of an empty store, and fails after the store has closed', async () => {
    const db = await open('test', { storage: memory() });
    const snap = db.snapshot();
    await db.put('a', 1);
    expect([await snap.count(), await snap.get('a')]).toEqual([0, undefined]);
    await db.close();
    expect(await caught(snap.get('a'))).toMatchObject({ code: 'closed' });
    expect(() => db.snapshot()).toThrow(/closed/);
  });
});

describe('a branch', () => {
  it('has its own reads and writes, and costs no bytes', async () => {
    const storage = watched(memory());
    const db = await open('test', { storage });
    await db.putMany(rows(1000));
    const [before, base] = [storage.stored.size, db.root];
    const draft = await db.branches.open('draft');
    expect(storage.stored.size).toBe(before);
    expect([draft.branches.current, db.branches.current, draft.root]).toEqual([
      'draft',
      'main',
      db.root,
    ]);
    await draft.put('k000001', 'draft');
    await db.put('k000002', 'main');
    expect(await draft.getMany(['k000001', 'k000002'])).toEqual(['draft', rows(3)[2]?.[1]]);
    expect(await db.getMany(['k000001', 'k000002'])).toEqual([rows(3)[1]?.[1], 'main']);
    await draft.transaction(async (tx) => {
      tx.put('n', ((await tx.get<number>('n')) ?? 0) + 1);
    });
    expect([await draft.get('n'), await db.get('n')]).toEqual([1, undefined]);
    expect(await db.branches.list()).toEqual([
      { name: 'main', root: db.root },
      { name: 'draft', root: draft.root, parent: 'main', base },
    ]);
    // The same holds for another handle, in this tab and after the store was opened again.
    const twin = await db.branches.open('draft');
    await twin.put('n', 7);
    expect([draft.root, await draft.get('n')]).toEqual([twin.root, 7]);
    await draft.put('n', 8);
    expect(await twin.get('n')).toBe(8);
    await draft.close();
    expect(await caught(draft.get('n'))).toMatchObject({ code: 'closed' });
    expect(await twin.get('n')).toBe(8);
    await db.close();
    expect(await caught(twin.get('n'))).toMatchObject({ code: 'closed' });
    const again = await (await open('test', { storage })).branches.open('draft');
    expect(await again.get('n')).toBe(8);
  });

  it('keeps its chunks from collection until it is deleted', async () => {
    const db = await open('test', { storage: memory() });
    await db.putMany(rows(5000));
    const draft = await db.branches.open('draft');
    await draft.close();
    await db.putMany(rows(5000, 1));
    await collectAll(db);
    const again = await db.branches.open('draft');
    expectSame(await all(again), rows(5000));
    await again.put('more', 1);
    await collectAll(db);
    expectSame(await all(again), [...rows(5000), ['more', 1]]);
    await db.branches.delete('draft');
    expect(await caught(again.get('more'))).toMatchObject({ code: 'not-found', detail: 'branch' });
    expect(await caught(again.put('more', 1))).toMatchObject({
      code: 'not-found',
      detail: 'branch',
    });
    await collectAll(db);
    const { storedBytes, liveBytes } = await db.health.stats();
    expect(storedBytes).toBeLessThan(1.3 * liveBytes);
    expectSame(await all(db), rows(5000, 1));
    // A new branch of the same name is another branch.
    const anew = await db.branches.open('draft');
    await anew.put('k000000', 'anew');
    expect(await again.get('k000000')).toBe('anew');
    expect((await db.branches.list()).length).toBe(2);
  });

  it('forks from a snapshot and from a stored root', async () => {
    const db = await open('test', { storage: memory() });
    await db.putMany(rows(2000));
    const { root } = db;
    using snap = db.snapshot();
    await db.putMany(rows(2000, 1));
    await collectAll(db);
    const one = await db.branches.open('one', { from: snap });
    const two = await db.branches.open('two', { from: root });
    expect([one.root, two.root]).toEqual([root, root]);
    expectSame(await all(two), rows(2000));
    const gone = db.root;
    await db.putMany(rows(2000, 2));
    await collectAll(db);
    const error = await caught(db.branches.open('three', { from: gone }));
    expect(error).toMatchObject({ code: 'missing-chunk' });
    expect(await caught(db.branches.open('three', { from: 'f'.repeat(64) }))).toMatchObject({
      code: 'missing-chunk',
    });
    expect((await db.branches.list()).map(({ name }) => name)).toEqual(['main', 'one', 'two']);
  });

  it('can be the branch of a handle', async () => {
    const db = await open('test', { storage: memory() });
    await db.put('a', 1);
    const draft = await db.branches.open('draft');
    await draft.put('a', 2);
    const put = db.put('b', 1);
    await db.branches.switchTo('draft');
    await put;
    expect([db.branches.current, await db.get('a'), await db.get('b')]).toEqual([
      'draft',
      2,
      undefined,
    ]);
    await db.put('c', 3);
    expect(await draft.get('c')).toBe(3);
    const load = db.putMany(rows(3000));
    await db.branches.switchTo('main');
    await load;
    expect([db.branches.current, await db.get('a'), await db.get('b'), await db.get('c')]).toEqual([
      'main',
      1,
      1,
      undefined,
    ]);
    expect(await draft.count()).toBe(3002);
    expect(await db.count()).toBe(2);
    const writer = db.writer();
    expect(await caught(db.branches.switchTo('draft'))).toMatchObject({ code: 'blocked' });
    await writer.abort();
    await db.branches.switchTo('draft');
    await db.branches.delete('draft');
    expect(await caught(db.get('a'))).toMatchObject({ code: 'not-found', detail: 'branch' });
    await db.branches.switchTo('main');
    expect(await db.get('a')).toBe(1);
  });

  it('is refused when it does not exist or has no name', async () => {
    const db = await open('test', { storage: memory() });
    await db.put('a', 1);
    const codes = async (...calls: (() => Promise<unknown>)[]) =>
      Promise.all(calls.map(async (call) => kindOf(await caught(call()))));
    expect(
      await codes(
        () => db.branches.switchTo('none'),
        () => db.branches.merge('none'),
        () => db.branches.delete('none'),
        () => db.branches.reset('none'),
      ),
    ).toEqual(['not-found/branch', 'not-found/branch', 'not-found/branch', 'not-found/branch']);
    expect(await db.get('a')).toBe(1);
    const bad = ['', '\ud800', 'x'.repeat(1025), 7 as unknown as string];
    for (const name of bad) {
      expect(
        await codes(
          () => db.branches.open(name),
          () => db.branches.switchTo(name),
          () => db.branches.delete(name),
          () => db.branches.merge(name),
        ),
      ).toEqual(Array(4).fill('invalid-argument'));
    }
    expect(await codes(() => db.branches.delete('main'))).toEqual(['invalid-argument']);
    expect(await codes(() => db.branches.merge('main'))).toEqual(['invalid-argument']);
    expect(await codes(() => db.branches.open('x', { from: 'nothing' }))).toEqual([
      'invalid-argument',
    ]);
    // This name looks like a part of another ref.
    for (const name of ['a/b', 'branch/a', 'fork/a/b', '%2F', '__proto__', '🌿', '\u0000']) {
      const branch = await db.branches.open(name);
      await branch.put('name', name);
      await db.branches.merge(name);
      expect(await db.get('name')).toBe(name);
      await db.branches.delete(name);
    }
    expect((await db.branches.list()).length).toBe(1);
    await db.close();
    expect(
      await codes(
        () => db.branches.open('x'),
        () => db.branches.list(),
        () => db.branches.switchTo('x'),
        () => db.branches.merge('x'),
        () => db.branches.reset('x'),
        () => db.branches.delete('x'),
      ),
    ).toEqual(Array(6).fill('closed'));
  });
});

describe('an undo', () => {
  it('with a failed storage call takes effect as a whole or not at all, and reports the error', async () => {
    const storage = faulty(memory());
    const db = await open('test', { storage });
    await db.put('a', 1);
    using snap = db.snapshot();
    const error = new Error('for a test');
    for (const when of ['before', 'after'] as const) {
      for (let at = 1; at <= 3; at++) {
        await db.put('a', 2);
        storage.fail({ at: storage.calls() + at, when, error, lasting: at === 3 });
        const failed = await caught(db.branches.reset(snap));
        storage.heal();
        if (failed !== undefined) expect(failed).toBe(error);
        const again = await open('test', { storage });
        const value = await again.get('a');
        if (failed === undefined) expect(value).toBe(1);
        else expect([1, 2]).toContain(value);
        await db.branches.reset(snap);
        expect([await db.get('a'), db.root]).toEqual([1, snap.root]);
        await again.close();
      }
    }
  });

  it('is one move of a pointer, to a snapshot, a root or a branch', async () => {
    const storage = watched(memory());
    const db = await open('test', { storage });
    await db.putMany(rows(1000));
    const { root } = db;
    const snap = db.snapshot();
    await db.put('k000000', 'changed');
    const later = db.root;
    const before = storage.stored.size;
    await db.branches.reset(snap);
    expect([db.root, storage.stored.size]).toEqual([root, before]);
    await db.branches.reset(later);
    expect(await db.get('k000000')).toBe('changed');
    const draft = await db.branches.open('draft');
    await draft.put('k000001', 'draft');
    await db.branches.reset('draft');
    expect(db.root).toBe(draft.root);
    await db.branches.reset(snap);
    snap.close();
    await db.branches.reset(root);
    expectSame(await all(db), rows(1000));
    await db.branches.delete('draft');
    await collectAll(db);
    expect(await caught(db.branches.reset(later))).toMatchObject({ code: 'missing-chunk' });
    expect(db.root).toBe(root);
    const other = await open('other', { storage: memory() });
    expect(await caught(db.branches.reset(other.snapshot()))).toMatchObject({
      ...ofKind('invalid-argument'),
    });
  });
});
