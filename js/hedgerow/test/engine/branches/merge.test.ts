/** Merges of branches: single cases. */
import { describe, expect, it } from 'vitest';
import { type Conflict, HedgerowError, memory, open } from '../../../src/index.js';
import { kindOf, ofKind } from '../../support/error-kind.js';
import { expectStore, type Model } from '../../support/models/merge-model.js';
import { all, type Entry } from '../../support/models/store-model.js';

async function expectConflict(call: Promise<unknown>, keys: string[]): Promise<void> {
  const error = await call.catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(HedgerowError);
  expect(kindOf(error)).toBe('conflict');
  for (const key of keys) expect(String(error)).toContain(JSON.stringify(key));
}

describe('a merge', () => {
  it('brings the changes of the branch in once', async () => {
    const db = await open('test', { storage: memory() });
    const rows: Model = new Map(
      Array.from({ length: 3000 }, (_, at): Entry => [`k${at}`, { at, text: 'x'.repeat(at % 90) }]),
    );
    await db.putMany([...rows]);
    const draft = await db.branches.open('draft');
    await draft.put('k1', 'draft');
    await draft.delete('k2');
    await draft.put('new', new Uint8Array(30_000).fill(7));
    await db.put('k3', 'main');
    await db.delete('k4');
    rows.set('k1', 'draft').set('k3', 'main').set('new', new Uint8Array(30_000).fill(7));
    rows.delete('k2');
    rows.delete('k4');
    const result = await db.branches.merge('draft');
    expect(result).toEqual({ root: db.root, rows: 3, conflicts: 0 });
    await expectStore(db, rows);
    expect(await db.branches.merge(draft)).toEqual({ root: db.root, rows: 0, conflicts: 0 });
    // Only later changes; a key that both branches changed to the same value is no conflict.
    await db.put('k1', 'main again');
    await draft.put('k5', 'draft');
    await draft.put('k6', 'both');
    await db.put('k6', 'both');
    expect(await db.branches.merge(draft)).toMatchObject({ rows: 1, conflicts: 0 });
    rows.set('k1', 'main again').set('k5', 'draft').set('k6', 'both');
    await expectStore(db, rows);
    // The other direction is the same.
    await draft.branches.merge('main');
    await expectStore(draft, rows);
    await db.health.compact();
    await draft.put('k7', 'draft');
    await db.branches.merge('draft');
    await expectStore(db, rows.set('k7', 'draft'));
  });

  it('works with an empty branch on either side, and with all rows deleted', async () => {
    const db = await open('test', { storage: memory() });
    const draft = await db.branches.open('draft');
    await db.put('a', 1);
    await draft.put('b', 2);
    expect(await db.branches.merge('draft')).toMatchObject({ rows: 1, conflicts: 0 });
    await expectStore(
      db,
      new Map([
        ['a', 1],
        ['b', 2],
      ]),
    );
    const other = await db.branches.open('other');
    await other.clear();
    await db.put('c', 3);
    expect(await db.branches.merge('other')).toMatchObject({ rows: 2, conflicts: 0 });
    await expectStore(db, new Map([['c', 3]]));
    const empty = await db.branches.open('empty');
    await db.clear();
    await empty.put('d', 4);
    await db.branches.merge('empty');
    await expectStore(db, new Map([['d', 4]]));
  });

  it('with a conflict leaves the store as it is, or stores the value of `onConflict`', async () => {
    const db = await open('test', { storage: memory() });
    const rows: Entry[] = ['a', 'b', 'c', 'd', 'e', 'f'].map((key) => [key, 0]);
    await db.putMany(rows);
    const draft = await db.branches.open('draft');
    await draft.putMany([
      ['a', 'draft'],
      ['b', 'draft'],
      ['c', 'draft'],
      ['e', 'same'],
      ['g', 'draft'],
    ]);
    await draft.delete('d');
    await db.putMany([
      ['a', 'main'],
      ['b', 'main'],
      ['d', 'main'],
      ['e', 'same'],
    ]);
    await db.delete('c');
    const before = [db.root, await all(db), await db.branches.list()];
    await expectConflict(db.branches.merge('draft'), ['a', 'b', 'c', 'd']);
    await expect(
      db.branches.merge('draft', {
        onConflict: () => {
          throw new Error('mine');
        },
      }),
    ).rejects.toThrow('mine');
    expect([db.root, await all(db), await db.branches.list()]).toEqual(before);
    const asked: Conflict[] = [];
    const result = await db.branches.merge('draft', {
      onConflict: async (conflict) => {
        asked.push(conflict);
        const { key, ours, theirs } = conflict;
        return { a: ours, b: theirs, c: { decided: true } }[key];
      },
    });
    expect(asked).toEqual([
      { key: 'a', base: 0, ours: 'main', theirs: 'draft' },
      { key: 'b', base: 0, ours: 'main', theirs: 'draft' },
      { key: 'c', base: 0, ours: undefined, theirs: 'draft' },
      { key: 'd', base: 0, ours: 'main', theirs: undefined },
    ]);
    expect(result).toMatchObject({ rows: 4, conflicts: 4 });
    await expectStore(
      db,
      new Map<string, unknown>([
        ['a', 'main'],
        ['b', 'draft'],
        ['c', { decided: true }],
        ['e', 'same'],
        ['f', 0],
        ['g', 'draft'],
      ]),
    );
    expect(await db.branches.merge('draft')).toMatchObject({ rows: 0, conflicts: 0 });
  });

  it('runs again when another writer commits first, and keeps the changes of both', async () => {
    const db = await open('test', { storage: memory() });
    const rows = Array.from({ length: 4000 }, (_, at): Entry => [`k${at}`, at]);
    await db.putMany(rows);
    const draft = await db.branches.open('draft');
    await draft.putMany(rows.map(([key]): Entry => [key, 'draft']));
    await db.put('k0', 'main');
    let [isOver, puts] = [false, 0];
    const writing = (async () => {
      while (!isOver) {
        await db.put(`own${puts++}`, puts);
        // Storage in memory never waits, and would give the merge no turn.
        await new Promise((resolve) => setTimeout(resolve));
      }
    })();
    let asked = 0;
    const result = await db.branches.merge('draft', {
      onConflict: ({ theirs }) => {
        asked += 1;
        return theirs;
      },
    });
    isOver = true;
    await writing;
    expect([result.rows, result.conflicts, asked]).toEqual([4000, 1, 1]);
    expect(await db.count({ prefix: 'own' })).toBe(puts);
    expect(await db.getMany(['k0', 'k1', 'k3999'])).toEqual(['draft', 'draft', 'draft']);
  });

  it('of branches without a common ancestor is refused', async () => {
    const db = await open('test', { storage: memory() });
    await db.put('a', 1);
    const [one] = [await db.branches.open('one'), await db.branches.open('two')];
    await expect(one.branches.merge('two')).rejects.toMatchObject(ofKind('invalid-argument'));
    const child = await one.branches.open('child');
    await child.put('b', 2);
    await expect(db.branches.merge('child')).rejects.toMatchObject(ofKind('invalid-argument'));
    await one.branches.merge('child');
    await db.branches.merge(one);
    expect(await db.get('b')).toBe(2);
    const other = await open('test', { storage: memory() });
    await expect(db.branches.merge(other)).rejects.toMatchObject(ofKind('invalid-argument'));
  });

  it('with any failed storage call takes effect as a whole or not at all', async () => {
    const { faulty } = await import('../../support/doubles/faulty-storage.js');
    const storage = faulty(memory());
    const db = await open('test', { storage });
    await db.putMany(Array.from({ length: 500 }, (_, at): Entry => [`k${at}`, at]));
    const draft = await db.branches.open('draft');
    let round = 0;
    for (const when of ['before', 'after'] as const) {
      for (let at = 1; at <= 6; at++) {
        round += 1;
        await draft.put('k7', round);
        await db.put('k8', round);
        const before = await db.get('k7');
        const error = new Error('for a test');
        storage.fail({ at: storage.calls() + at, when, error });
        const made = await db.branches.merge('draft').then(
          () => true,
          (cause: unknown) => {
            expect(cause).toBe(error);
            return false;
          },
        );
        storage.heal();
        expect(await db.get('k8')).toBe(round);
        const value = await db.get('k7');
        if (made) expect(value).toBe(round);
        else expect([before, round]).toContain(value);
        await db.branches.merge('draft');
        expect(await db.get('k7')).toBe(round);
      }
    }
  });
});
