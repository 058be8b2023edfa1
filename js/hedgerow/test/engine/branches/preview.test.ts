/** Reviews of a branch: its changes since the fork, and the outcome of a merge. */
import { describe, expect, it } from 'vitest';
import { type Change, type Conflict, memory, open, type Store } from '../../../src/index.js';
import { type Model, merged, tabs } from '../../support/models/merge-model.js';
import {
  all,
  type Entry,
  expectSame,
  failure,
  sorted,
  storeOf,
} from '../../support/models/store-model.js';
import { forSeeds } from '../../support/property.js';
import type { Random } from '../../support/random.js';
import { add, change, del } from '../../support/watch-changes.js';

const ABC: Entry[] = [
  ['a', 1],
  ['b', 2],
  ['c', 3],
];

/** Returns the changes that lead from some rows to others. */
function between(before: Iterable<Entry>, after: Iterable<Entry>): Change[] {
  const [old, now] = [new Map(before), new Map(after)];
  const keys = sorted([...old, ...now]).map(([key]) => key);
  return keys.flatMap((key): Change[] => {
    const [oldValue, newValue] = [old.get(key), now.get(key)];
    if (!old.has(key)) return [{ op: 'insert', key, newValue }];
    if (!now.has(key)) return [{ op: 'delete', key, oldValue }];
    const isSame = JSON.stringify(oldValue) === JSON.stringify(newValue);
    return isSame ? [] : [{ op: 'update', key, oldValue, newValue }];
  });
}

describe('changesSinceFork', () => {
  it('has the changes of the branch, and no changes of the other branch', async () => {
    const db = await storeOf(ABC);
    const draft = await db.branches.open('draft');
    expect(await draft.history.sinceFork().toArray()).toEqual([]);
    await draft.putMany([
      ['b', 'draft'],
      ['d', 'draft'],
    ]);
    await draft.delete('c');
    await db.putMany([
      ['a', 'main'],
      ['e', 'main'],
    ]);
    const expected = [change('b', 2, 'draft'), del('c', 3), add('d', 'draft')];
    expect(await draft.history.sinceFork().toArray()).toEqual(expected);
    expect(await draft.history.sinceFork({ gt: 'b' }).toArray()).toEqual(expected.slice(1));
    expect(await draft.history.sinceFork().first()).toEqual(expected[0]);
    // The same as `diff` from the base that `branches` returns.
    const { base = '' } = (await db.branches.list()).find(({ name }) => name === 'draft') ?? {};
    expect(await db.history.diff(base, draft.root).toArray()).toEqual(expected);
  });

  it('starts again with each merge, in either direction', async () => {
    const db = await storeOf(ABC);
    const draft = await db.branches.open('draft');
    await draft.put('d', 1);
    await db.put('e', 1);
    await draft.branches.merge('main');
    // Changes that the draft has not passed on count; changes that it took do not.
    expect(await draft.history.sinceFork().toArray()).toEqual([add('d', 1)]);
    await db.branches.merge('draft');
    expect(await draft.history.sinceFork().toArray()).toEqual([]);
    await draft.delete('d');
    expect(await draft.history.sinceFork().toArray()).toEqual([del('d', 1)]);
  });

  it('of a branch of a branch starts at the second fork', async () => {
    const db = await storeOf(ABC);
    const draft = await db.branches.open('draft');
    await draft.put('d', 1);
    const inner = await draft.branches.open('draft/inner');
    await inner.put('e', 1);
    expect(await inner.history.sinceFork().toArray()).toEqual([add('e', 1)]);
    expect(await draft.history.sinceFork().toArray()).toEqual([add('d', 1)]);
  });

  it('works after the other branch was rewritten and compacted', async () => {
    const db = await open('test', { storage: memory() });
    const rows = (round: number): Entry[] =>
      Array.from({ length: 2000 }, (_, at) => [`k${at}`, { at, round }]);
    await db.putMany(rows(0));
    const draft = await db.branches.open('draft');
    await draft.put('k7', 'draft');
    for (let round = 1; round < 5; round++) {
      await db.putMany(rows(round));
      await db.health.compact();
    }
    expect(await draft.history.sinceFork().toArray()).toEqual([
      change('k7', { at: 7, round: 0 }, 'draft'),
    ]);
  });

  it('is refused without a fork', async () => {
    const db = await storeOf(ABC);
    const draft = await db.branches.open('draft');
    const inner = await draft.branches.open('inner');
    const none = failure('invalid-argument', {
      message: expect.stringContaining('sinceFork: main'),
    } as never);
    await expect(db.history.sinceFork().toArray()).rejects.toMatchObject(none);
    await expect(inner.history.sinceFork({ index: 'x' } as never).toArray()).rejects.toMatchObject(
      failure('invalid-argument'),
    );
    await expect(
      inner.history.sinceFork({ signal: AbortSignal.abort() }).toArray(),
    ).rejects.toMatchObject(failure('aborted'));
    await db.branches.delete('draft');
    await expect(inner.history.sinceFork().toArray()).rejects.toMatchObject(
      failure('invalid-argument'),
    );
    await expect(draft.history.sinceFork().toArray()).rejects.toMatchObject(
      failure('not-found/branch'),
    );
  });
});

describe('previewMerge', () => {
  async function both() {
    const db = await storeOf([...ABC, ['same', 0], ['gone', 0]]);
    const draft = await db.branches.open('draft');
    await draft.putMany([
      ['a', 'theirs'],
      ['b', 'theirs'],
      ['d', 'theirs'],
      ['same', 1],
    ]);
    await draft.delete('gone');
    await db.putMany([
      ['b', 'ours'],
      ['c', 'ours'],
      ['same', 1],
      ['gone', 'ours'],
    ]);
    return { db, draft };
  }

  it('returns changes and conflicts without a write', async () => {
    const { db, draft } = await both();
    const [before, roots] = [await all(db), [db.root, draft.root]];
    const branches = await db.branches.list();
    for (const branch of ['draft', draft]) {
      expect(await db.branches.preview(branch)).toEqual({
        changes: [change('a', 1, 'theirs'), add('d', 'theirs')],
        changed: 2,
        conflicts: [
          { key: 'b', base: 2, ours: 'ours', theirs: 'theirs' },
          { key: 'gone', base: 0, ours: 'ours', theirs: undefined },
        ],
      });
    }
    expect(await all(db)).toEqual(before);
    expect([db.root, draft.root]).toEqual(roots);
    expect(await db.branches.list()).toEqual(branches);
    await expect(db.branches.merge('draft')).rejects.toMatchObject({
      code: 'conflict',
      conflicts: (await db.branches.preview('draft')).conflicts,
    });
  });

  it('works from the branch, too, and is empty after a merge', async () => {
    const { db, draft } = await both();
    const preview = await draft.branches.preview('main');
    expect(preview.changes).toEqual([change('c', 3, 'ours')]);
    expect(preview.conflicts).toMatchObject([{ key: 'b', ours: 'theirs' }, { key: 'gone' }]);
    await db.branches.merge(draft, { onConflict: ({ ours }) => ours });
    expect(await db.branches.preview('draft')).toEqual({ changes: [], changed: 0, conflicts: [] });
    const back = await draft.branches.preview('main');
    expect(back.conflicts).toEqual([]);
    expect(back.changed).toBe((await draft.branches.merge('main')).rows);
  });

  it('keeps the first `limit` changes, and all conflicts', async () => {
    const db = await storeOf();
    const keys = Array.from({ length: 2500 }, (_, at) => `k${String(at).padStart(4, '0')}`);
    await db.putMany(keys.map((key) => [`c${key}`, 0]));
    const draft = await db.branches.open('draft');
    await draft.putMany(keys.flatMap((key) => [[key, 1] as const, [`c${key}`, 1] as const]));
    await db.putMany(keys.map((key) => [`c${key}`, 2]));
    for (const [limit, kept] of [
      [undefined, 1000],
      [0, 0],
      [3, 3],
      [Number.POSITIVE_INFINITY, 2500],
    ] as const) {
      const { changes, changed, conflicts } = await db.branches.preview('draft', { limit });
      expect(changes.map(({ key }) => key)).toEqual(keys.slice(0, kept));
      expect([changed, conflicts.length]).toEqual([2500, 2500]);
    }
  });

  it('is refused for the same reasons as a merge', async () => {
    const { db } = await both();
    const stranger = await open('stranger', { storage: memory() });
    for (const [branch, code] of [
      ['none', 'not-found/branch'],
      ['main', 'invalid-argument'],
      [stranger, 'invalid-argument'],
      [undefined, 'invalid-argument'],
    ] as const) {
      await expect(db.branches.preview(branch as Store)).rejects.toMatchObject(failure(code));
      await expect(db.branches.merge(branch as Store)).rejects.toMatchObject(failure(code));
    }
    for (const options of [{ limit: -1 }, { limit: 1.5 }, { onConflict: () => 1 }] as never[]) {
      await expect(db.branches.preview('draft', options)).rejects.toMatchObject(
        failure('invalid-argument'),
      );
    }
    await db.close();
    await expect(db.branches.preview('draft')).rejects.toMatchObject(failure('closed'));
  });

  it('holds no commit after it settles', async () => {
    const { db, draft } = await both();
    for (let at = 0; at < 10; at++) {
      await db.branches.preview('draft');
      await draft.history.sinceFork().toArray();
    }
    await draft.close();
    await db.branches.delete('draft');
    await db.clear();
    await db.health.compact();
    expect((await db.health.stats()).chunks).toBeLessThan(3);
  });
});

function edit(from: Random, rows: Model, round: number): Entry[] {
  const puts = Array.from(
    { length: 1 + from.below(from.pick([3, 60])) },
    (): Entry => [
      `k${from.below(from.pick([20, 500]))}`,
      from.below(3) === 0 ? from.below(3) : { round, text: 'x'.repeat(from.below(200)) },
    ],
  );
  for (const [key, value] of puts) rows.set(key, value);
  return puts;
}

it('a preview equals the merge after it, for random histories of two tabs', async () => {
  await forSeeds(60, async (from, _, begin) => {
    const storage = tabs();
    const first = await open('test', { storage });
    const second = await open('test', { storage });
    const rows: Record<'main' | 'draft', Model> = { main: new Map(), draft: new Map() };
    await first.putMany(edit(from, rows.main, 0));
    rows.draft = new Map(rows.main);
    let base: Model = new Map(rows.main);
    const draft = await first.branches.open('draft');
    for (let round = 1; round < 8; round++) {
      for (let edits = from.below(4); edits > 0; edits--) {
        const name = from.pick(['main', 'draft'] as const);
        const db = name === 'draft' ? draft : from.pick([first, second]);
        if (from.below(3) > 0) await db.putMany(edit(from, rows[name], round));
        else {
          const key = `k${from.below(20)}`;
          rows[name].delete(key);
          await db.delete(key);
        }
      }
      // The last common ancestor of the two is the last merged draft or main.
      begin({ round });
      expectSame(await draft.history.sinceFork().toArray(), between(base, rows.draft), 'review');
      const [into, name] = from.pick([
        [draft, 'main'],
        [first, 'draft'],
        [second, 'draft'],
      ] as const);
      const ours = rows[name === 'main' ? 'draft' : 'main'];
      const preview = await into.branches.preview(name);
      const decide = ({ key, ours: own, theirs }: Conflict) =>
        [own, theirs, undefined, 'decided'][key.length % 4];
      const expected = merged(base, ours, rows[name], decide);
      expect(preview.conflicts.map(({ key }) => key).sort()).toEqual(expected.conflicts);
      const before = await all(into);
      const asked: Conflict[] = [];
      const result = await into.branches.merge(name, {
        onConflict: (conflict) => {
          asked.push(conflict);
          return decide(conflict);
        },
      });
      expectSame(asked, preview.conflicts, 'conflicts');
      const isAsked = new Set(asked.map(({ key }) => key));
      const done = between(before, await all(into));
      expectSame(
        done.filter(({ key }) => !isAsked.has(key)),
        preview.changes,
        'changes',
      );
      expect(preview.changed).toBe(preview.changes.length);
      expect(result.conflicts).toBe(preview.conflicts.length);
      base = new Map(rows[name]);
      expectSame(await all(into), sorted(expected.result), 'merged');
      if (name === 'main') rows.draft = expected.result;
      else rows.main = expected.result;
    }
    for (const db of [draft, first, second]) await db.close();
  });
});
