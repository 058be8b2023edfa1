/** Refused rows: they stay, are reported, and block no call; and dry runs. */

import { describe, expect, it } from 'vitest';
import { memory, open, rowType, table } from '../../../src/index.js';
import type { StandardSchema } from '../../../src/store/tables/standard-schema.js';
import { ofKind } from '../../support/error-kind.js';
import {
  closing,
  migrated,
  openV1,
  openV2,
  type TaskV1,
  type TaskV2,
  task,
  tasks,
  toV2,
} from '../../support/migration-tables.js';

const named = (value: unknown): value is TaskV2 => (value as TaskV2).name !== '';
/** A schema that requires names. */
const schema: StandardSchema<TaskV2, TaskV2> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) =>
      named(value) ? { value } : { issues: [{ message: 'no name', path: ['name'] }] },
  },
};

/** The error of rows with a refused rank. */
const THROWS = 91;
const OTHER_KEY = 92;
const NO_NAME = 93;
const NO_JSON = 94;
const NOTHING = 95;
const PROMISE = 96;

const strict = table({
  schema,
  key: 'id',
  indexes: { byState: ['state', 'rank'] },
  version: 2,
  migrate: (row: TaskV1): TaskV2 => {
    const made = toV2(row);
    if (row.rank === THROWS) throw new Error('never seen such a row');
    if (row.rank === OTHER_KEY) return { ...made, id: 'other' };
    if (row.rank === NO_NAME) return { ...made, name: '' };
    if (row.rank === NO_JSON) return { ...made, rank: Number.NaN };
    if (row.rank === NOTHING) return undefined as never;
    if (row.rank === PROMISE) return Promise.resolve(made) as never;
    return made;
  },
});

async function strictStore(rows: TaskV1[], raw: [string, unknown][] = []) {
  const storage = memory();
  const old = await openV1(storage);
  await old.tasks.putMany(rows);
  await old.putMany(raw);
  const db = closing(await open('tasks', { storage, tables: { tasks: strict } }));
  return { db, old, storage };
}

const BAD = [THROWS, OTHER_KEY, NO_NAME, NO_JSON, NOTHING, PROMISE];

describe('rows that are refused', () => {
  it('stay as they are, are listed with the reason, and block no call', async () => {
    const { db } = await strictStore(tasks(300));
    expect(await db.tasks.where({ state: 'open', rank: { lt: 91 } }).count()).toBe(91);
    await migrated(db);
    const { rows, remaining, refused, failed, error } = await db.tasks.migration();
    expect({ rows, remaining, refused, error }).toEqual({
      rows: 282,
      remaining: 0,
      refused: 18,
      error: undefined,
    });
    expect(failed.map(({ key }) => key)).toEqual(
      [0, 100, 200].flatMap((from) =>
        BAD.map((rank) => `tasks/t00${String(from + rank).padStart(3, '0')}`),
      ),
    );
    expect(failed.slice(0, 6).map(({ error }) => error)).toMatchObject([
      {
        ...ofKind('invalid-argument/value'),
        table: 'tasks',
        key: 't00091',
        message: expect.stringContaining('never seen such a row'),
        cause: { message: 'never seen such a row' },
      },
      {
        ...ofKind('invalid-argument/value'),
        message: expect.stringContaining('changed the key'),
      },
      {
        ...ofKind('invalid-argument/value'),
        pointer: '/name',
        issues: [{ message: 'no name' }],
        key: 't00093',
      },
      { code: 'invalid-argument', detail: 'value', pointer: '/rank' },
      {
        ...ofKind('invalid-argument/value'),
        message: expect.stringContaining('not undefined'),
      },
      { code: 'invalid-argument', detail: 'value', message: expect.stringContaining('at once') },
    ]);
    expect(await db.get('tasks/t00091')).toEqual(task(91));
    expect(await db.get('tasks/t00093')).toEqual(task(93));
    await expect(db.tasks.get('t00091')).rejects.toMatchObject({
      ...ofKind('invalid-argument/value'),
      table: 'tasks',
      key: 't00091',
    });
    // All other calls work.
    await db.tasks.put({ ...toV2(task(500)), state: 'mine' });
    expect(await db.tasks.where({ state: 'mine' }).count({ wait: false })).toBe(1);
    using snapshot = db.snapshot();
    expect(await snapshot.tasks.where({ state: 'mine' }).count()).toBe(1);
    const found = db.transaction((tx) => tx.tasks.where({ state: 'mine' }).toArray());
    expect(await found).toHaveLength(1);
    await db.tasks.delete('t00091');
    expect((await db.tasks.migration()).refused).toBeLessThanOrEqual(18);
    await expect.poll(async () => (await db.tasks.migration()).refused).toBe(17);
    expect((await db.health.verify({ checkIndexes: true })).faults).toEqual([]);
  });

  it('are tried again when an older tab has put another row in their place', async () => {
    const { db, old } = await strictStore([task(1), task(THROWS), task(2)]);
    await migrated(db);
    expect((await db.tasks.migration()).refused).toBe(1);
    // The number of old rows stays the same.
    await old.tasks.put(task(THROWS, { rank: 7, status: 'mine' }));
    await expect
      .poll(() => db.tasks.where({ state: 'mine' }).toArray())
      .toEqual([{ ...toV2(task(THROWS)), rank: 7, state: 'mine' }]);
    await migrated(db);
    // One refused row goes, and a good one comes, in one commit.
    await old.tasks.put(task(THROWS));
    await expect.poll(async () => (await db.tasks.migration()).refused).toBe(1);
    await old.transaction(async (tx) => {
      tx.tasks.delete(task(THROWS).id);
      tx.tasks.put(task(3, { status: 'mine' }));
    });
    await expect.poll(() => db.tasks.where({ state: 'mine' }).count()).toBe(1);
    expect(await db.get('tasks/t00003')).toMatchObject({ '~v': 2, state: 'mine' });
  });

  it('may be all of them, and very many', async () => {
    const { db } = await strictStore(tasks(2500).map((row) => ({ ...row, rank: THROWS })));
    expect(await db.tasks.where({ state: 'mine' }).count()).toBe(0);
    await migrated(db);
    const { refused, failed, rows } = await db.tasks.migration();
    expect({ refused, rows, listed: failed.length }).toEqual({
      refused: 2500,
      rows: 0,
      listed: 1000,
    });
    for (let n = 0; n < 5; n++) {
      await db.tasks.put({ ...toV2(task(9000 + n)), state: 'mine' });
      expect(await db.tasks.where({ state: 'mine' }).count()).toBe(n + 1);
    }
  });

  it('may have any version, or be no row at all', async () => {
    const versions = [
      0,
      -1,
      1.5,
      1e300,
      null,
      true,
      false,
      'x',
      '2',
      [],
      [1],
      [1, 1.5],
      {},
      { a: 1 },
    ];
    const raw = versions.map((version, n): [string, unknown] => [
      `tasks/h${String(n).padStart(2, '0')}`,
      { ...task(n), id: `h${String(n).padStart(2, '0')}`, '~v': version },
    ]);
    const others: [string, unknown][] = [null, 1, 'text', [1], [], new Uint8Array([1])].map(
      (value, n) => [`tasks/o${n}`, value],
    );
    const { db } = await strictStore(tasks(20), [...raw, ...others]);
    expect(await db.tasks.where({ state: 'open' }).count()).toBe(7);
    await migrated(db);
    expect(await db.tasks.where({ state: 'open' }).count({ wait: false })).toBe(7);
    // Each is there as it was.
    for (const [key, value] of [...raw, ...others]) expect(await db.get(key)).toEqual(value);
    for (const [key] of raw) {
      const refusal =
        key === 'tasks/h03' ? {} : { code: 'invalid-argument', detail: 'value', pointer: '/~0v' };
      await expect(db.tasks.get(key.slice(6)), key).rejects.toMatchObject(refusal);
    }
    const { rows, failed } = await db.tasks.migration();
    expect(rows).toBe(20);
    expect(failed.map(({ key }) => key)).toEqual(expect.arrayContaining(['tasks/h00', 'tasks/o2']));
    expect((await db.health.verify({ checkIndexes: true })).faults).toEqual([]);
  });
});

describe('a dry run', () => {
  it('does not write, and predicts the migration', async () => {
    const storage = memory();
    const old = await openV1(storage);
    await old.tasks.putMany(tasks(300));
    await old.close();
    // The migration itself is held up.
    let isHeld = true;
    const held = table({
      ...strict.definition,
      migrate: (row: TaskV1) => {
        if (isHeld) throw new Error('not yet');
        return strict.definition.migrate(row);
      },
    });
    const db = closing(await open('tasks', { storage, tables: { tasks: held } }));
    await migrated(db);
    expect((await db.tasks.migration()).refused).toBe(300);
    const { root } = db;
    isHeld = false;
    const trial = await db.tasks.tryMigration();
    expect(trial).toMatchObject({ rows: 300, refused: 18 });
    expect(db.root).toBe(root);
    expect(await db.get('tasks/t00000')).toEqual(task(0));
    // Any old row makes the migration try all of them again.
    await db.put('tasks/t90000', task(90_000));
    await expect.poll(async () => (await db.tasks.migration()).refused).toBe(18);
    const { failed, rows } = await db.tasks.migration();
    expect(rows).toBe(283);
    const told = (all: typeof failed) => all.map(({ key, error }) => `${key}: ${error}`);
    expect(told(failed)).toEqual(told(trial.failed));
    expect(await db.tasks.tryMigration()).toMatchObject({ rows: 18, refused: 18 });
  });

  it('ends with a signal, and is empty for version 1', async () => {
    const { db, old } = await strictStore(tasks(10));
    expect(await old.tasks.tryMigration()).toEqual({ rows: 0, refused: 0, failed: [] });
    expect(await old.tasks.migration()).toMatchObject({ rows: 0, remaining: 0, refused: 0 });
    await expect(db.tasks.tryMigration({ signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'aborted',
    });
    await expect(db.tasks.tryMigration({ all: true } as never)).rejects.toMatchObject({
      ...ofKind('invalid-argument'),
    });
  });
});

it('a read gives the stored row once the row is brought forward', async () => {
  const storage = memory();
  const old = await openV1(storage);
  await old.tasks.putMany(tasks(3));
  const trims: StandardSchema<TaskV2, TaskV2> = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => {
        const row = value as TaskV2;
        return { value: { ...row, name: row.name.trim() } };
      },
    },
  };
  const tables = {
    tasks: table({
      schema: trims,
      key: 'id',
      version: 2,
      migrate: (row: TaskV1) => ({ ...toV2(row), name: ` ${row.name} `, more: undefined }),
    }),
  };
  const db = closing(await open('tasks', { storage, tables }));
  using before = db.snapshot();
  const read = [await before.tasks.get('t00001'), (await before.tasks.toArray())[1]];
  await migrated(db);
  const stored = await db.tasks.get('t00001');
  expect(stored).toStrictEqual(toV2(task(1)));
  expect(read).toStrictEqual([stored, stored]);
});

describe('custom values', () => {
  it('must be objects, and have no version of their own', async () => {
    const coded = (encode: (row: TaskV2) => unknown) =>
      table({
        schema: rowType<TaskV2>(),
        key: 'id',
        version: 2,
        migrate: (row: TaskV2) => row,
        values: { encode, decode: (stored: unknown) => stored as TaskV2 },
      });
    for (const encode of [
      (row: TaskV2) => JSON.stringify(row),
      (row: TaskV2) => [row],
      (row: TaskV2) => ({ ...row, '~v': 7 }),
    ]) {
      const tables = { tasks: coded(encode) };
      const db = closing(await open('coded', { storage: memory(), tables }));
      await expect(db.tasks.put(toV2(task(1)))).rejects.toMatchObject({
        ...ofKind('invalid-argument/value'),
      });
    }
    const tables = { tasks: coded((row) => ({ packed: row })) };
    const db = closing(await open('coded', { storage: memory(), tables }));
    await db.tasks.put(toV2(task(1)));
    expect(await db.get('tasks/t00001')).toEqual({ packed: toV2(task(1)), '~v': 2 });
  });
});

it('a version that goes back finds rows of a newer one, and harms no row', async () => {
  const storage = memory();
  const newer = await openV2(storage);
  await newer.tasks.putMany(tasks(5).map(toV2));
  await newer.close();
  const older = await openV1(storage);
  for (const read of [
    () => older.tasks.get('t00001'),
    () => older.tasks.toArray(),
    () => older.tasks.update('t00001', { name: 'harm' }),
    () => older.tasks.update('t00001', () => task(1)),
    () => older.transaction((tx) => tx.tasks.update('t00001', { name: 'harm' })),
  ]) {
    await expect(read()).rejects.toMatchObject({
      code: 'newer-version',
      detail: 'schema',
      table: 'tasks',
    });
  }
  expect(await older.get('tasks/t00001')).toEqual({ ...toV2(task(1)), '~v': 2 });
});
