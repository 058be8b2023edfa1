/** An app shows a draft and its conflicts by the errors of merges and the list of branches. */
import { describe, expect, it } from 'vitest';
import { type Conflict, HedgerowError, memory, open } from '../../../src/index.js';
import type { Entry } from '../../support/models/store-model.js';

const caught = (call: Promise<unknown>) =>
  call.then(
    () => expect.fail('not refused'),
    (cause: unknown) => cause as HedgerowError,
  );

describe('the conflicts of a merge', () => {
  it('are a member of the error, in the order of keys, with deletions as `undefined`', async () => {
    const db = await open('test', { storage: memory() });
    const bytes = Uint8Array.of(1, 2);
    await db.putMany(['a', 'b', 'c', 'd', 'e'].map((key): Entry => [key, { from: 'base' }]));
    const draft = await db.branches.open('draft');
    await draft.putMany([
      ['a', 'draft'],
      ['c', bytes],
      ['e', 'same'],
      ['new', 1],
    ]);
    await draft.delete('b');
    await db.putMany([
      ['a', 'main'],
      ['b', 'main'],
      ['e', 'same'],
      ['new', 2],
    ]);
    await db.delete('c');
    const error = await caught(db.branches.merge('draft'));
    expect(error).toBeInstanceOf(HedgerowError);
    expect(error).toMatchObject({ code: 'conflict', retryable: true });
    const base = { from: 'base' };
    const conflicts: Conflict[] = [
      { key: 'a', base, ours: 'main', theirs: 'draft' },
      { key: 'b', base, ours: 'main', theirs: undefined },
      { key: 'c', base, ours: undefined, theirs: bytes },
      { key: 'new', base: undefined, ours: 2, theirs: 1 },
    ];
    expect(error.conflicts).toEqual(conflicts);
    expect(error.message).toContain('4 keys were changed in both branches: "a", "b", "c", "new"');
    // `onConflict` gets the same conflicts.
    const asked: Conflict[] = [];
    await caught(
      db.branches.merge('draft', {
        onConflict: async (conflict) => {
          asked.push(conflict);
          if (asked.length === conflicts.length) throw new Error('seen');
          return conflict.theirs;
        },
      }),
    );
    expect(asked).toEqual(conflicts);
    await db.close();
  });

  it('are listed up to 100, and the message has the total number', async () => {
    const db = await open('test', { storage: memory() });
    const rows = (value: string) =>
      Array.from({ length: 250 }, (_, at): Entry => [`k${at}`, value]);
    const draft = await db.branches.open('draft');
    await draft.putMany(rows('draft'));
    await db.putMany(rows('main'));
    const { conflicts = [], message } = await caught(db.branches.merge('draft'));
    expect(conflicts.length).toBe(100);
    const keys = rows('')
      .map(([key]) => key)
      .sort();
    expect(conflicts.map(({ key }) => key)).toEqual(keys.slice(0, 100));
    expect(message).toContain('250 keys');
    expect(message).toContain('...');
    expect(message.length).toBeLessThan(200);
    await db.close();
  });

  it('are absent from other errors', async () => {
    const db = await open('test', { storage: memory() });
    expect((await caught(db.branches.merge('none'))).conflicts).toBeUndefined();
    await db.close();
  });
});

describe('the list of branches', () => {
  it('has the base of each branch, so that its changes can be reviewed', async () => {
    const storage = memory();
    const db = await open('test', { storage });
    await db.putMany([
      ['a', 1],
      ['b', 1],
    ]);
    const base = db.root;
    const draft = await db.branches.open('draft/ü%');
    await db.put('a', 'main');
    await draft.put('b', 'draft');
    const child = await draft.branches.open('child');
    await child.put('c', 'child');
    const of = async (name: string) => (await db.branches.list()).find((one) => one.name === name);
    expect(await db.branches.list()).toEqual([
      { name: 'main', root: db.root },
      { name: 'child', root: child.root, parent: 'draft/ü%', base: draft.root },
      { name: 'draft/ü%', root: draft.root, parent: 'main', base },
    ]);
    const review = async (name: string) => {
      const branch = await of(name);
      const changes = await db.history.diff(branch?.base ?? '', branch?.root ?? '').toArray();
      return changes.map(({ op, key }) => `${op} ${key}`);
    };
    // Without the later changes of the main branch.
    expect(await review('draft/ü%')).toEqual(['update b']);
    expect(await review('child')).toEqual(['insert c']);
    // The base stays during later writes and collections.
    await db.putMany(Array.from({ length: 3000 }, (_, at): Entry => [`n${at}`, 'x'.repeat(99)]));
    await db.clear();
    await db.health.compact();
    expect(await review('draft/ü%')).toEqual(['update b']);
    // After a merge, only the changes since the merge.
    await db.branches.merge('draft/ü%', { onConflict: ({ theirs }) => theirs });
    expect((await of('draft/ü%'))?.base).toBe(draft.root);
    expect(await review('draft/ü%')).toEqual([]);
    await draft.put('later', 1);
    expect(await review('draft/ü%')).toEqual(['insert later']);
    await db.close();
    // Also after the store is opened again. A branch whose parent was deleted has no parent and base.
    const again = await open('test', { storage });
    await again.branches.delete('draft/ü%');
    expect(await again.branches.list()).toEqual([
      { name: 'main', root: again.root },
      { name: 'child', root: child.root },
    ]);
    await again.close();
  });
});
