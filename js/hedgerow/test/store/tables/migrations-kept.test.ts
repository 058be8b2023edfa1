/** Lists by an index whose columns a migration leaves alone: they work while it runs. */
import { describe, expect, it } from 'vitest';
import { memory, open, rowType, table } from '../../../src/index.js';
import { live } from '../../../src/live/index.js';
import { ofKind } from '../../support/error-kind.js';
import {
  closing,
  migrated,
  type TaskV1,
  type TaskV2,
  task,
  tasks,
  toV2,
} from '../../support/migration-tables.js';

const indexes = {
  byState: ['state', 'rank'],
  byRank: ['rank'],
  byName: [{ words: 'name' }],
} as const;
const keeping = (migrate: (row: TaskV1) => TaskV2 = toV2) =>
  table({
    schema: rowType<TaskV2>(),
    key: 'id',
    indexes,
    version: 2,
    keeps: ['rank', 'name'],
    migrate,
  });

/** Makes a store of old rows whose next commits wait until `release` is called. */
async function waiting(definition = keeping()) {
  const storage = memory();
  const names = {
    tasks: table({
      schema: rowType<TaskV1>(),
      key: 'id',
      indexes: { byRank: ['rank'], byName: [{ words: 'name' }] },
    }),
  };
  const old = await open('tasks', { storage, tables: names });
  await old.tasks.putMany(tasks(30));
  await old.tasks.ready();
  await old.close();
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const opened = {
    ...storage,
    open: async (...how: Parameters<typeof storage.open>) => {
      const segments = await storage.open(...how);
      const write = segments.write.bind(segments);
      segments.write = async (...batch) => {
        await gate;
        return write(...batch);
      };
      return segments;
    },
  };
  const db = closing(await open('tasks', { storage: opened, tables: { tasks: definition } }));
  return { db, release };
}
const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

describe('columns that a migration keeps', () => {
  it('are listed during the migration, with rows in their newest form', async () => {
    const { db, release } = await waiting();
    const query = db.tasks.where({ rank: { gte: 10, lt: 20 } });
    const expected = tasks(10, 10).map(toV2);
    expect(await query.toArray({ wait: false })).toEqual(expected);
    expect(await query.count({ wait: false })).toBe(10);
    expect(await db.tasks.where({ name: { words: 'task 7' } }).toArray({ wait: false })).toEqual([
      toV2(task(7)),
    ]);
    const list = live(query);
    list.subscribe(() => {});
    await expect.poll(() => list.get().rows).toEqual(expected);
    using snapshot = db.snapshot();
    expect(await snapshot.tasks.orderBy('rank').limit(3).toArray()).toEqual(tasks(3).map(toV2));
    expect(
      ids(await db.transaction((tx) => tx.tasks.orderBy('rank', 'desc').limit(1).toArray())),
    ).toEqual([task(29).id]);
    // Others wait.
    const other = db.tasks.where({ state: 'open' });
    await expect(other.toArray({ wait: false })).rejects.toMatchObject({ code: 'not-ready' });
    const later = other.toArray();
    release();
    expect(await later).toHaveLength(10);
    await migrated(db);
    expect(await query.toArray()).toEqual(expected);
    expect(list.get().rows).toEqual(expected);
  });

  it('are checked: a row that changes one is refused, and holds back no other', async () => {
    const wrong = keeping((row) => {
      if (row.rank === 7) row.rank = 5;
      return toV2(row);
    });
    const { db, release } = await waiting(wrong);
    const refusal = {
      ...{ code: 'invalid-argument', detail: 'value', table: 'tasks', key: task(7).id },
      message: expect.stringContaining('it has changed rank, which keeps names'),
    };
    await expect(db.tasks.get(task(7).id)).rejects.toMatchObject(refusal);
    release();
    await migrated(db);
    const { refused, failed } = await db.tasks.migration();
    expect([refused, failed[0]?.error]).toMatchObject([1, refusal]);
    expect(await db.tasks.where({ rank: { gte: 8 } }).count()).toBe(22);
  });

  it('are named, in a list', async () => {
    for (const keeps of ['rank', [5], {}]) {
      const tables = { tasks: table({ schema: rowType<TaskV2>(), key: 'id', keeps } as never) };
      await expect(open('x', { storage: memory(), tables })).rejects.toMatchObject({
        ...ofKind('invalid-argument'),
        message: expect.stringContaining('keeps must be a list of columns'),
      });
    }
    // @ts-expect-error rows have no such member
    table({ schema: rowType<TaskV2>(), key: 'id', keeps: ['nothing'] });
  });
});
