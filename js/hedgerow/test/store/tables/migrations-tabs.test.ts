/** Migrations with other handles: of the same version, of older ones, on branches; closing; and storage that fails. */

import { describe, expect, it, vi } from 'vitest';
import type { MigrationProgress } from '../../../src/index.js';
import { HedgerowError, memory, open } from '../../../src/index.js';
import { Migrations } from '../../../src/store/tables/migrate/migration-registry.js';
import { faulty } from '../../support/doubles/faulty-storage.js';
import { kindOf, ofKind } from '../../support/error-kind.js';
import {
  closing,
  migrated,
  openV1,
  openV2,
  openV3,
  type TaskV1,
  type TaskV2,
  task,
  tasks,
  tasksV2,
  toV2,
  toV3,
} from '../../support/migration-tables.js';

describe('two handles of the new version', () => {
  it('share the work, and each row comes out right', async () => {
    const storage = memory();
    const old = await openV1(storage);
    await old.tasks.putMany(tasks(9000));
    const dbs = [await openV2(storage), await openV2(storage), await openV2(storage)] as const;
    const counts = await Promise.all(dbs.map((db) => db.tasks.where({ state: 'open' }).count()));
    expect(counts).toEqual([3000, 3000, 3000]);
    const done = await Promise.all(dbs.map(async (db) => (await db.tasks.migration()).rows));
    expect(done.reduce((a, b) => a + b)).toBe(9000);
    expect(await dbs[1].tasks.toArray()).toEqual(tasks(9000).map(toV2));
    expect((await dbs[2].health.verify({ checkIndexes: true })).faults).toEqual([]);
  });

  it('leave the rows that an app changes in between', async () => {
    const storage = memory();
    const old = await openV1(storage);
    await old.tasks.putMany(tasks(3000));
    const one = await openV2(storage);
    const two = await openV3(storage, { name: 'tasks' });
    const changed = new Map<string, number>();
    for (let n = 0; n < 40; n++) {
      const id = task(n * 73).id;
      const by = n % 2 === 0 ? one : two;
      try {
        await by.tasks.update(id, { rank: 1000 + n } as object);
        changed.set(id, 1000 + n);
      } catch (error) {
        // The other one has brought it to version 3 already.
        expect(error).toMatchObject({ code: 'newer-version', detail: 'schema' });
      }
    }
    await migrated(two);
    expect(changed.size).toBeGreaterThan(20);
    const wanted = tasks(3000).map((row) => {
      const made = toV3(toV2(row));
      return { ...made, rank: changed.get(row.id) ?? row.rank };
    });
    expect(await two.tasks.toArray()).toEqual(wanted);
    expect((await two.health.verify({ checkIndexes: true })).faults).toEqual([]);
  });
});

describe('an older handle', () => {
  it('writes on: its rows are brought forward, and it is refused newer rows', async () => {
    const storage = memory();
    const onOutdated = vi.fn();
    const old = await openV1(storage, { onOutdated });
    await old.tasks.putMany(tasks(100));
    const db = await openV2(storage);
    await migrated(db);
    await expect.poll(() => onOutdated.mock.calls).toEqual([[{ table: 'tasks', version: 2 }]]);
    // Blind writes of the old tab pass, and are brought forward.
    await old.tasks.put(task(3, { status: 'mine' }));
    await old.tasks.put(task(1000, { status: 'mine' }));
    await old.tasks.putMany([task(1001, { status: 'mine' })]);
    await old.transaction((tx) => tx.tasks.put(task(5, { status: 'mine' })));
    await expect.poll(() => db.tasks.where({ state: 'mine' }).toArray()).toHaveLength(4);
    const mine = await db.tasks.where({ state: 'mine' }).toArray();
    expect(mine.map(({ id }) => id)).toEqual(['t01000', 't01001', 't00003', 't00005']);
    await migrated(db);
    for await (const [, stored] of db.scan()) expect(stored).toMatchObject({ '~v': 2 });
    // Calls that read first are refused, and have changed no row.
    const before = await db.tasks.get('t00007');
    for (const call of [
      old.tasks.get('t00007'),
      old.tasks.update('t00007', { name: 'harm' }),
      old.transaction((tx) => tx.tasks.update('t00007', (row) => ({ ...row, name: 'harm' }))),
      old.tasks.toArray(),
    ]) {
      await expect(call).rejects.toMatchObject({
        code: 'newer-version',
        detail: 'schema',
        table: 'tasks',
      });
    }
    expect(await db.tasks.get('t00007')).toEqual(before);
    // A delete needs no reading.
    await old.tasks.delete('t00007');
    await expect.poll(() => db.tasks.get('t00007')).toBeUndefined();
    expect(onOutdated).toHaveBeenCalledTimes(1);
  });

  it('is reported once, also by its reads', async () => {
    const storage = memory();
    const newer = await openV2(storage);
    await newer.tasks.putMany(tasks(3).map(toV2));
    const onOutdated = vi.fn();
    const old = await openV1(storage, { onOutdated });
    for (let n = 0; n < 3; n++) await old.tasks.get('t00000').catch(() => {});
    expect(onOutdated.mock.calls).toEqual([[{ table: 'tasks', version: 2 }]]);
    await newer.tasks.put(toV2(task(4)));
    // It hears of the row by a message.
    const told = () => old.tasks.get('t00004').catch(kindOf);
    await expect.poll(told).toBe('newer-version/schema');
    expect(onOutdated).toHaveBeenCalledTimes(1);
  });

  it('never makes a query wrong: it waits, or has every row', async () => {
    const storage = memory();
    const old = await openV1(storage);
    await old.tasks.putMany(tasks(300));
    const db = await openV2(storage);
    await migrated(db);
    // The old tab puts the same row again and again; it is open all the time.
    let isOver = false;
    const writing = (async () => {
      for (let n = 0; !isOver; n++) {
        await old.tasks.put(task(0, { name: `${n}` }));
        if (n % 4 === 0) await new Promise((resolve) => setTimeout(resolve, 3));
      }
    })();
    for (let n = 0; n < 60; n++) {
      const query = db.tasks.where({ state: 'open' });
      const count = await query.count({ wait: n % 2 === 0 }).catch((error) => {
        expect(error.code).toBe('not-ready');
        return 100;
      });
      expect(count).toBe(100);
      if (n % 5 === 0) expect(await query.toArray()).toHaveLength(100);
      if (n % 7 === 0) expect((await query.first())?.id).toBe('t00000');
    }
    isOver = true;
    await writing;
    await migrated(db);
    expect((await db.health.verify({ checkIndexes: true })).faults).toEqual([]);
  });
});

it('a query reads a commit without old rows, also if one is put right before it reads', async () => {
  const storage = memory();
  const old = await openV1(storage);
  await old.tasks.putMany(tasks(300));
  await old.close();
  const db = await openV2(storage);
  await migrated(db);
  const { whenReady } = Migrations.prototype;
  const spy = vi.spyOn(Migrations.prototype, 'whenReady');
  spy.mockImplementation(async function (this: Migrations, ...args) {
    await whenReady.apply(this, args);
    await args[0].put('tasks/t00000', task(0));
  });
  try {
    const query = db.tasks.where({ state: 'open' });
    for (let n = 0; n < 10; n++) {
      expect(await query.count()).toBe(100);
      expect(await query.toArray()).toHaveLength(100);
      expect((await query.first())?.id).toBe('t00000');
      let count = 0;
      for await (const _ of query) count += 1;
      expect(count).toBe(100);
      await expect(query.count({ wait: false })).rejects.toMatchObject({ code: 'not-ready' });
      await migrated(db);
    }
  } finally {
    spy.mockRestore();
  }
});

describe('a load and a deletion that are under way', () => {
  it('win over the migration, which was there first', async () => {
    const storage = memory();
    const old = await openV1(storage);
    await old.tasks.putMany(tasks(50));
    const db = await openV2(storage);
    await db.count({ index: 'tasks.~v' });
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    async function* slowly() {
      yield { ...toV2(task(3)), state: 'loaded' };
      await finished;
      yield { ...toV2(task(4)), state: 'loaded' };
    }
    const loading = db.tasks.putMany(slowly());
    await migrated(db);
    expect(await db.tasks.get('t00004')).toEqual(toV2(task(4)));
    finish();
    await loading;
    const loaded = await db.tasks.where({ state: 'loaded' }).toArray();
    expect(loaded.map(({ id }) => id)).toEqual(['t00003', 't00004']);
    for (let round = 0; round < 10; round++) {
      const rows = tasks(50, 100);
      await old.tasks.putMany(rows);
      await expect.poll(() => db.tasks.count()).toBe(100);
      const deleting = db.deleteMany({ prefix: 'tasks/t001' });
      await db.tasks.where({ state: 'open' }).count();
      await deleting;
      expect(await db.tasks.count()).toBe(50);
    }
  });
});

describe('branches', () => {
  it('are brought forward when they are opened, and merge', async () => {
    const storage = memory();
    const old = await openV1(storage);
    await old.tasks.putMany(tasks(50));
    const oldDraft = await old.branches.open('draft');
    await oldDraft.tasks.put(task(1, { status: 'draft' }));
    await oldDraft.tasks.put(task(99, { status: 'draft' }));
    await old.close();
    const told: MigrationProgress[] = [];
    const db = await openV2(storage, { onMigration: (progress) => told.push(progress) });
    await migrated(db);
    expect(told.at(-1)?.rows).toBe(50);
    const draft = await db.branches.open('draft');
    expect(await draft.tasks.where({ state: 'draft' }).count()).toBe(2);
    expect((await draft.tasks.migration()).rows).toBe(51);
    // Both brought forward the unchanged rows alike; edits on one branch meet the migration of the other.
    const conflicts: string[] = [];
    const onConflict = ({ key, theirs }: { key: string; theirs: unknown }) => {
      conflicts.push(key);
      return theirs;
    };
    await db.branches.merge('draft', { onConflict });
    expect(conflicts).toEqual(['tasks/t00001']);
    expect(await db.tasks.where({ state: 'draft' }).count()).toBe(2);
    expect(await db.tasks.count()).toBe(51);
    // A handle that switches its branch goes on there.
    const again = await openV1(storage, { name: 'tasks' });
    const other = await again.branches.open('other');
    await other.put('tasks/t77777', task(77_777, { status: 'other' }));
    await db.branches.switchTo('other');
    expect(await db.tasks.where({ state: 'other' }).count()).toBe(1);
    expect((await db.health.verify({ checkIndexes: true })).faults).toEqual([]);
  });

  it('may be deleted during the migration, and made again', async () => {
    const storage = memory();
    const old = await openV1(storage);
    const oldDraft = await old.branches.open('draft');
    await oldDraft.tasks.putMany(tasks(9000));
    await oldDraft.close();
    const told: MigrationProgress[] = [];
    const db = await openV2(storage, { onMigration: (progress) => told.push(progress) });
    const draft = await db.branches.open('draft');
    const waiting = draft.tasks.where({ state: 'open' }).count();
    const outcome = waiting.then(
      () => 'done',
      (error) => kindOf(error),
    );
    await old.branches.delete('draft');
    expect(await outcome).toBe('not-found/branch');
    expect(await db.tasks.where({ state: 'open' }).count()).toBe(0);
    const anew = await old.branches.open('draft');
    await anew.tasks.putMany(tasks(3));
    await expect
      .poll(() =>
        draft.tasks
          .where({ state: 'open' })
          .count()
          .catch(() => 0),
      )
      .toBe(1);
  });
});

describe('a migration that is cut short', () => {
  it('resumes after a close at any time', async () => {
    const storage = memory();
    const old = await openV1(storage);
    await old.tasks.putMany(tasks(12_000));
    await old.close();
    let handles = 0;
    for (let left = 12_000; left > 0; handles++) {
      let seen = left;
      const db = await openV2(storage, {
        onMigration: ({ remaining }) => {
          seen = remaining;
        },
      });
      const waiting = db.tasks.where({ state: 'open' }).count();
      await Promise.race([
        waiting,
        new Promise<void>((resolve) => {
          const look = () => (seen < left ? resolve() : setTimeout(look, 1));
          look();
        }),
      ]);
      await db.close();
      const isDone = await waiting.then(
        () => true,
        (error) => {
          expect(error.code).toBe('closed');
          return false;
        },
      );
      left = isDone ? 0 : seen;
    }
    expect(handles).toBeGreaterThan(1);
    const db = await openV2(storage);
    expect(await db.tasks.where({ state: 'open' }).count()).toBe(4000);
    expect(await db.tasks.toArray()).toEqual(tasks(12_000).map(toV2));
    expect((await db.health.verify({ checkIndexes: true })).faults).toEqual([]);
  });

  it('rests while storage refuses it, and resumes', async () => {
    for (const code of ['quota-exceeded', 'unavailable/disconnected'] as const) {
      const inner = memory();
      const old = await openV1(inner);
      await old.tasks.putMany(tasks(9000));
      await old.close();
      const storage = faulty(inner);
      const told: MigrationProgress[] = [];
      const db = await openV2(storage, { onMigration: (progress) => told.push(progress) });
      await db.count({ index: 'tasks.byState' });
      await db.count({ index: 'tasks.~v' });
      const error = new HedgerowError(code, 'for a test');
      storage.fail({ call: 'write', at: 1, lasting: true, when: 'before', error });
      // Waiting calls reject, instead of waiting for space that may never come.
      await expect(db.tasks.where({ state: 'open' }).count()).rejects.toMatchObject(ofKind(code));
      expect((await db.tasks.migration()).error).toMatchObject(ofKind(code));
      expect(told.at(-1)).toMatchObject({ error: ofKind(code) });
      expect(await db.tasks.get('t08999')).toEqual(toV2(task(8999)));
      storage.heal();
      // The next query retries it at once; without a query, a timer does.
      if (code === 'quota-exceeded') {
        expect(await db.tasks.where({ state: 'open' }).count()).toBe(3000);
      } else {
        await expect
          .poll(async () => (await db.tasks.migration()).remaining, { timeout: 10_000 })
          .toBe(0);
      }
      await expect.poll(async () => (await db.tasks.migration()).error).toBeUndefined();
      expect(await db.tasks.toArray()).toEqual(tasks(9000).map(toV2));
      expect((await db.health.verify({ checkIndexes: true })).faults).toEqual([]);
    }
  });

  it('is right for each call of storage that fails once, before or after it took effect', async () => {
    const rows = tasks(400);
    for (const when of ['before', 'after'] as const) {
      for (let at = 1; ; at++) {
        const inner = memory();
        const old = await openV1(inner);
        await old.tasks.putMany(rows);
        await old.close();
        const error = new HedgerowError('unavailable/disconnected', 'for a test');
        const storage = faulty(inner);
        const db = await openV2(storage);
        const first = storage.calls();
        storage.fail({ at: first + at, when, error });
        await db.tasks
          .where({ state: 'open' })
          .count()
          .catch((cause) => {
            expect(kindOf(cause)).toBe('unavailable/disconnected');
          });
        const calls = storage.calls() - first;
        storage.heal();
        expect(await db.tasks.where({ state: 'open' }).count()).toBe(134);
        expect(await db.tasks.toArray()).toEqual(rows.map(toV2));
        await db.close();
        if (calls < at) break;
      }
    }
  });
});

it('a fresh store, and one that is closed at once, need no migration', async () => {
  const storage = memory();
  for (let n = 0; n < 5; n++) {
    const db = await open('empty', { storage, tables: { tasks: tasksV2 } });
    await db.close();
    await expect(db.tasks.migration()).rejects.toMatchObject({ code: 'closed' });
    await expect(db.tasks.tryMigration()).rejects.toMatchObject({ code: 'closed' });
    await expect(db.tasks.where({ state: 'x' }).count()).rejects.toMatchObject({ code: 'closed' });
  }
  const db = closing(await open('empty', { storage, tables: { tasks: tasksV2 } }));
  expect(await db.tasks.where({ state: 'x' }).count()).toBe(0);
  const rows: (TaskV1 | TaskV2)[] = await db.tasks.toArray();
  expect(rows).toEqual([]);
});
