/** Migrations of tables by one handle: the new rows, reads in between, and rows that are refused. */

import { describe, expect, it, vi } from 'vitest';
import { type MigrationProgress, memory, open, rowType, table } from '../../../src/index.js';
import { ofKind } from '../../support/error-kind.js';
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
  toV2,
  toV3,
} from '../../support/migration-tables.js';

const v3Of = (row: TaskV1) => toV3(toV2(row));

/** Makes a store by version 1, and closes it. */
async function oldStore(count: number) {
  const storage = memory();
  const db = await openV1(storage);
  await db.tasks.putMany(tasks(count));
  await db.close();
  return storage;
}

describe('rows of a lower version', () => {
  it('are brought forward once, stamped with their version, in all indexes', async () => {
    const storage = await oldStore(500);
    const told: MigrationProgress[] = [];
    const db = await openV2(storage, { onMigration: (progress) => told.push(progress) });
    expect(await db.tasks.where({ state: 'open' }).count()).toBe(167);
    expect(await db.get('tasks/t00001')).toEqual({ ...toV2(task(1)), '~v': 2 });
    expect(await db.tasks.toArray()).toEqual(tasks(500).map(toV2));
    expect((await db.health.verify({ checkIndexes: true })).faults).toEqual([]);
    expect(await db.tasks.migration()).toEqual({
      table: 'tasks',
      rows: 500,
      remaining: 0,
      refused: 0,
      failed: [],
      error: undefined,
    });
    expect(told.at(0)).toMatchObject({ rows: 0, remaining: 500 });
    expect(told.at(-1)).toMatchObject({ rows: 500, remaining: 0 });
    const { root } = db;
    await db.close();
    const again = await openV2(storage, { onMigration: () => expect.fail('nothing is left') });
    expect(await again.tasks.where({ state: 'closed' }).count()).toBe(167);
    expect(again.root).toBe(root);
  });

  it('go from 1 to 2 to 3, and from 1 to 3, and a mix of them', async () => {
    for (const steps of [[2, 3], [3]]) {
      const storage = await oldStore(60);
      if (steps.includes(2)) {
        const two = await openV2(storage);
        await migrated(two);
        await two.close();
      }
      const db = await openV3(storage);
      expect(await db.tasks.where({ labels: 'even' }).count()).toBe(30);
      expect(await db.tasks.toArray()).toEqual(tasks(60).map(v3Of));
    }
    const storage = await oldStore(40);
    const db = await open('tasks', { storage });
    for (const row of tasks(20)) {
      if (row.rank % 2 === 0) await db.put(`tasks/${row.id}`, { ...toV2(row), '~v': 2 });
    }
    // Version 1 may also be stated.
    await db.put('tasks/t00001', { ...task(1), '~v': 1 });
    await db.close();
    const three = await openV3(storage);
    expect(await three.tasks.where({ state: 'open' }).count()).toBe(14);
    expect(await three.tasks.toArray()).toEqual(tasks(40).map(v3Of));
    for await (const [, row] of three.scan()) expect(row).toMatchObject({ '~v': 3 });
  });

  it('are read in their newest form before they are brought forward', async () => {
    const storage = await oldStore(3000);
    const db = await openV2(storage);
    const [one, many, page, at] = await Promise.all([
      db.tasks.get('t02999'),
      db.tasks.getMany(['t02998', 'none', 't00000']),
      db.tasks.all().reverse().limit(2).toArray(),
      db.tasks.at(7),
    ]);
    expect(one).toEqual(toV2(task(2999)));
    expect(many).toEqual([toV2(task(2998)), undefined, toV2(task(0))]);
    expect(page).toEqual([toV2(task(2999)), toV2(task(2998))]);
    expect(at).toEqual(toV2(task(7)));
    expect((await db.tasks.migration()).remaining).toBeGreaterThan(0);
    await db.tasks.update('t02999', { state: 'mine' });
    await db.tasks.delete('t02998');
    await migrated(db);
    expect(await db.tasks.where({ state: 'mine' }).toArray()).toEqual([
      { ...toV2(task(2999)), state: 'mine' },
    ]);
    expect(await db.tasks.count()).toBe(2999);
  });

  it('let queries by an index wait, or refuse them', async () => {
    const storage = await oldStore(6000);
    const db = await openV2(storage);
    const open = db.tasks.where({ state: 'open' });
    await expect(open.count({ wait: false })).rejects.toMatchObject({ code: 'not-ready' });
    await expect(open.toArray({ wait: false })).rejects.toMatchObject({ code: 'not-ready' });
    // The indexes are made before.
    await db.count({ index: 'tasks.byState' });
    await db.count({ index: 'tasks.~v' });
    expect((await db.tasks.migration()).remaining).toBeGreaterThan(0);
    await expect(open.count({ wait: false })).rejects.toMatchObject({
      code: 'not-ready',
      table: 'tasks',
    });
    using snapshot = db.snapshot();
    await expect(snapshot.tasks.where({ state: 'open' }).count()).rejects.toMatchObject({
      code: 'not-ready',
      table: 'tasks',
    });
    expect(await snapshot.tasks.get('t00005')).toEqual(toV2(task(5)));
    const inTransaction = db.transaction((tx) => tx.tasks.where({ state: 'open' }).count());
    await expect(inTransaction).rejects.toMatchObject({ code: 'not-ready', table: 'tasks' });
    const ending = new AbortController();
    const aborted = open.count({ signal: ending.signal });
    ending.abort();
    await expect(aborted).rejects.toMatchObject({ code: 'aborted' });

    const seen: string[] = [];
    for await (const { id } of open) seen.push(id);
    expect(seen.length).toBe(2000);
    expect(await db.tasks.where({ state: 'open' }).orderBy('rank').first()).toEqual(toV2(task(0)));
    expect(await open.count({ wait: false })).toBe(2000);
    using later = db.snapshot();
    expect(await later.tasks.where({ state: 'open' }).count()).toBe(2000);
    expect(await db.transaction((tx) => tx.tasks.where({ state: 'open' }).count())).toBe(2000);
    // The earlier snapshot stays as it is.
    await expect(snapshot.tasks.where({ state: 'open' }).count()).rejects.toMatchObject({
      code: 'not-ready',
    });
  });

  it('may be changed in place by migrate, also where watchers share them', async () => {
    const storage = await oldStore(20);
    const inPlace = table({
      schema: rowType<TaskV2>(),
      key: 'id',
      indexes: { byState: ['state'] },
      version: 2,
      migrate: (row: TaskV1 & TaskV2) => {
        if (row.status === undefined) throw new Error('it was changed already');
        row.state = row.status;
        delete (row as Partial<TaskV1>).status;
        return row;
      },
    });
    const db = closing(await open('tasks', { storage, tables: { tasks: inPlace } }));
    // A watch that cannot read a row reports that.
    const reports = vi.spyOn(console, 'error');
    const seen: unknown[][] = [[], []];
    for (const list of seen) db.tasks.watch((changes) => list.push(...changes), { initial: true });
    await migrated(db);
    await expect.poll(() => seen.map((list) => list.length >= 20)).toEqual([true, true]);
    for (const list of seen) {
      expect(list.slice(0, 2)).toEqual([
        { op: 'insert', key: 't00000', newValue: toV2(task(0)) },
        { op: 'insert', key: 't00001', newValue: toV2(task(1)) },
      ]);
    }
    expect(await db.tasks.toArray()).toEqual(tasks(20).map(toV2));
    // A tab with version 1 puts a row: each watch gets its own copy.
    await db.put('tasks/t99999', { ...task(99_999) });
    const added = { op: 'insert', key: 't99999', newValue: toV2(task(99_999)) };
    await expect.poll(() => seen.map((list) => list.at(-1))).toEqual([added, added]);
    expect(reports).not.toHaveBeenCalled();
    reports.mockRestore();
  });

  it('stay in their keys: a custom prefix, and neighbours', async () => {
    const storage = memory();
    const raw = await open('tasks', { storage });
    await raw.putMany(tasks(30).map((row) => [`x:${row.id}`, row]));
    await raw.put('x', { id: 'before' });
    await raw.put('x;', { id: 'after' });
    await raw.close();
    const v2 = table({
      schema: rowType<TaskV2>(),
      key: 'id',
      prefix: 'x:',
      indexes: { byState: ['state'] },
      version: 2,
      migrate: (row: TaskV1) => toV2(row),
    });
    const db = closing(await open('tasks', { storage, tables: { tasks: v2 } }));
    expect(await db.tasks.where({ state: 'open' }).count()).toBe(10);
    expect(await db.get('x')).toEqual({ id: 'before' });
    expect(await db.get('x;')).toEqual({ id: 'after' });
    expect(await db.get('x:t00001')).toEqual({ ...toV2(task(1)), '~v': 2 });
    expect(await db.tasks.count()).toBe(30);
  });

  it('of the longest keys are brought forward when they are read, and put', async () => {
    const storage = memory();
    const old = await openV1(storage);
    const idOf = (bytes: number) => 'k'.repeat(bytes - 'tasks/'.length);
    const [short, long] = [1014, 1024].map((bytes) => task(1, { id: idOf(bytes) }));
    await old.tasks.putMany([short as TaskV1, long as TaskV1]);
    await old.put(`tasks/${idOf(1013)}`, { ...task(1), id: idOf(1013), '~v': 1 });
    await old.close();
    const db = await openV2(storage);
    await migrated(db);
    expect((await db.tasks.migration()).rows).toBe(2);
    expect(await db.tasks.get(idOf(1024))).toEqual(toV2(long as TaskV1));
    expect(await db.get(`tasks/${idOf(1024)}`)).toEqual(long);
    await db.tasks.update(idOf(1024), {});
    expect(await db.get(`tasks/${idOf(1024)}`)).toMatchObject({ '~v': 2 });
  });

  it('have structured values, and rows keyed by several members', async () => {
    const storage = memory();
    interface V1 {
      day: number;
      n: number;
      at: Date;
      tags: Set<string>;
    }
    interface V2 extends Omit<V1, 'at'> {
      began: Date;
      size: bigint;
    }
    const key = ['day', 'n'] as const;
    const one = table({ schema: rowType<V1>(), key, values: 'structured' });
    const two = table({
      schema: rowType<V2>(),
      key,
      values: 'structured',
      indexes: { byBegan: ['began'] },
      version: 2,
      migrate: ({ at, ...row }: V1) => ({ ...row, began: at, size: BigInt(row.n) }),
    });
    const old = await open('log', { storage, tables: { log: one } });
    const row = (n: number): V1 => ({
      day: n % 7,
      n,
      at: new Date(1e12 + n),
      tags: new Set(['a', `t${n}`]),
    });
    await old.log.putMany(Array.from({ length: 40 }, (_, n) => row(n)));
    await old.close();
    const db = closing(await open('log', { storage, tables: { log: two } }));
    const found = await db.log.where({ began: { gte: new Date(1e12 + 38) } }).toArray();
    expect(found).toEqual([38, 39].map((n) => two.definition.migrate(row(n))));
    expect(await db.log.get([3, 10])).toEqual(two.definition.migrate(row(10)));
    expect((await db.log.migration()).rows).toBe(40);
    await db.log.putMany(found);
    for await (const [, stored] of db.scan()) expect(stored).toMatchObject({ '~v': 2 });
  });
});

describe('rows that are written', () => {
  it('are stamped by each call, also when they are loaded as bytes', async () => {
    const db = await openV2(memory());
    const rows = tasks(8).map(toV2);
    await db.tasks.put(rows[0] as TaskV2);
    await db.tasks.insert(rows[1] as TaskV2);
    await db.transaction(async (tx) => {
      tx.tasks.put(rows[2] as TaskV2);
      await tx.tasks.insert(rows[3] as TaskV2);
      await tx.tasks.update('t00000', { rank: 77 });
    });
    await db.applyPatch([db.tasks.op.put(rows[4] as TaskV2)]);
    await db.tasks.putMany([rows[5] as TaskV2]);
    await db.tasks.putMany(new Blob([JSON.stringify(rows[6])]));
    await db.tasks.putMany(new Response(JSON.stringify([rows[7]])));
    const stored = await db.scan().values().toArray();
    expect(stored).toEqual(
      rows.map((row, n) => ({ ...row, rank: n === 0 ? 77 : row.rank, '~v': 2 })),
    );
    expect(await db.tasks.toArray()).toMatchObject(rows.map(({ id }) => ({ id })));
    for (const row of await db.tasks.toArray()) expect(row).not.toHaveProperty('~v');
    expect((await db.tasks.migration()).rows).toBe(0);
  });

  it('need a valid version, and a function', async () => {
    const migrate = (row: TaskV2) => row;
    const key = 'id';
    const indexes = { '~v': ['rank'] } as const;
    for (const definition of [
      { key, version: 0 },
      { key, version: 1.5, migrate },
      { key, version: '2', migrate },
      { key, version: 2 },
      { key, version: 2, migrate: 'x' },
      { key, version: 2, migrate, indexes },
    ]) {
      const tables = {
        tasks: table({ schema: rowType<TaskV2>(), ...(definition as { key: 'id' }) }),
      };
      await expect(open('x', { storage: memory(), tables })).rejects.toMatchObject({
        ...ofKind('invalid-argument'),
        table: 'tasks',
      });
    }
    for (const call of ['onMigration', 'onOutdated']) {
      const options = { storage: memory(), tables: {}, [call]: 1 };
      await expect(open('x', options)).rejects.toMatchObject(ofKind('invalid-argument'));
    }
  });
});
