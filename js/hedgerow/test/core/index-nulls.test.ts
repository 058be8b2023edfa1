/** Indexes with nulls, indexes of rows below a version, and `equals` together with bounds. */
import { beforeAll, describe, expect, it } from 'vitest';
import { loadWords } from '../../src/core/indexes/words-code.js';
import { type IndexDefinitions, memory, open } from '../../src/index.js';
import { ofKind } from '../support/error-kind.js';
import { type Entry, failure } from '../support/models/store-model.js';

beforeAll(loadWords);

describe('an index with nulls', () => {
  const indexes: IndexDefinitions = {
    owner: { path: '/owner', nulls: true },
    plain: { path: '/owner' },
    two: { path: ['/owner', '/age'], nulls: true },
  };
  const rows: Entry[] = [
    ['a', { owner: null, age: 1 }],
    ['b', { age: 2 }],
    ['c', { owner: 'x', age: null }],
    ['d', { owner: false }],
    ['e', { owner: {} }],
    ['f', 7],
  ];
  const opened = async () => {
    const db = await open('nulls', { storage: memory(), indexes });
    await db.putMany(rows);
    return db;
  };

  it('is read by null, and a null bound selects only nulls', async () => {
    const db = await opened();
    const keys = (range: object) =>
      db
        .scan({ index: 'owner', ...range })
        .keys()
        .toArray();
    expect(await keys({})).toEqual(['a', 'b', 'f', 'd', 'c']);
    expect(await keys({ equals: null })).toEqual(['a', 'b', 'f']);
    for (const bound of ['gte', 'lte'])
      expect(await keys({ [bound]: null })).toEqual(['a', 'b', 'f']);
    for (const bound of ['gt', 'lt']) expect(await keys({ [bound]: null })).toEqual([]);
    expect(await keys({ gt: null, lte: true })).toEqual(['d']);
    expect(await keys({ lte: true })).toEqual(['d']);
    expect(await keys({ after: [null, 'a'], limit: 1 })).toEqual(['b']);
    expect(await db.scan({ index: 'owner', limit: 2 }).toArray()).toEqual([
      ['a', { owner: null, age: 1 }, null],
      ['b', { age: 2 }, null],
    ]);
    expect(await db.at(1, { index: 'owner' })).toEqual(['b', { age: 2 }, null]);
    expect(await db.count({ index: 'two', equals: [null], gte: 1 })).toBe(2);
    expect(await db.count({ index: 'two', equals: null, lte: null })).toBe(1);
    expect(await db.count({ index: 'two', equals: [null, 2] })).toBe(1);
    expect(await db.deleteMany({ index: 'two', equals: null, gt: 1 })).toMatchObject({});
    expect(await keys({ equals: null })).toEqual(['a', 'f']);
    await db.close();
  });

  it('reaches watches and transactions, and its changes are not a patch', async () => {
    const db = await opened();
    const told: unknown[] = [];
    db.watch({ index: 'owner', equals: null }, (changes) => void told.push(...changes));
    await db.transaction(async (tx) => {
      tx.put('b', { owner: 'y' });
      tx.put('g', {});
      expect(await tx.scan({ index: 'owner', equals: null }).toArray()).toEqual([
        ['a', { owner: null, age: 1 }, null],
        ['f', 7, null],
        ['g', {}, null],
      ]);
      expect(await tx.count({ index: 'two', equals: [null, null] })).toBe(2);
    });
    await expect.poll(() => told.length).toBe(2);
    expect(told).toEqual([
      { op: 'delete', key: 'b', secondary: null, oldValue: { age: 2 } },
      { op: 'insert', key: 'g', secondary: null, newValue: {} },
    ]);
    await expect(db.applyPatch(told as never)).rejects.toEqual(failure('invalid-data/patch'));
    await db.close();
  });

  it('is the only index that takes null in a range', async () => {
    const db = await opened();
    const refused = expect.objectContaining({
      ...ofKind('invalid-argument'),
      message: expect.stringContaining('null'),
    });
    await expect(db.count({ index: 'plain', equals: null })).rejects.toEqual(refused);
    await expect(db.count({ index: 'plain', gt: null })).rejects.toEqual(refused);
    await expect(db.rank([null, 'a'], { index: 'plain' })).rejects.toEqual(refused);
    await db.close();
  });
});

it('an index below a version lists older rows, and is empty once all rows are up to date', async () => {
  const indexes = { old: { path: '/~0v', prefix: 'k', nulls: true, below: 3 } };
  const storage = memory();
  const db = await open('versions', { storage, indexes });
  const many = Array.from({ length: 1000 }, (_, at): Entry => [`k${at}`, { '~v': 3, at }]);
  await db.putMany([...many, ['k-old', { at: 1 }], ['k-two', { '~v': 2 }], ['other', {}]]);
  const list = () => db.scan({ index: 'old' }).toArray();
  expect(await list()).toEqual([
    ['k-old', { at: 1 }, null],
    ['k-two', { '~v': 2 }, 2],
  ]);
  await db.transaction(async (tx) => {
    for await (const [key, value] of tx.scan({ index: 'old' })) {
      tx.put(key, { ...(value as object), '~v': 3 });
    }
    expect(await tx.count({ index: 'old' })).toBe(0);
  });
  expect(await list()).toEqual([]);
  expect(await db.health.verify({ checkIndexes: true })).toMatchObject({ ok: true });
  await db.close();
  // The index is also built for a store that has only older rows.
  const later = await open('versions', {
    storage,
    indexes: { older: { ...indexes.old, below: 4 } },
  });
  expect(await later.count({ index: 'older' })).toBe(1002);
  await later.close();
});

describe('equals together with bounds', () => {
  it('reads the next columns', async () => {
    const indexes = { state: { path: ['/state', '/day', '/n'] } };
    const db = await open('equals', { storage: memory(), indexes });
    await db.putMany(
      ['open', 'open!', 'shut'].flatMap((state) =>
        ['2025-05', '2025-06-01', '2025-06-30', '2025-07'].flatMap((day) =>
          [1, 2].map((n): Entry => [`${state} ${day} ${n}`, { state, day, n }]),
        ),
      ),
    );
    await db.put('open number', { state: 'open', day: 5, n: 1 });
    const keys = (range: object) =>
      db
        .scan({ index: 'state', ...range })
        .keys()
        .toArray();
    expect(await keys({ equals: ['open'], gte: '2025-06-30' })).toEqual([
      'open 2025-06-30 1',
      'open 2025-06-30 2',
      'open 2025-07 1',
      'open 2025-07 2',
    ]);
    expect(await keys({ equals: 'open', lt: '2025-06' })).toEqual([
      'open 2025-05 1',
      'open 2025-05 2',
    ]);
    expect(await keys({ equals: 'open', lt: 6 })).toEqual(['open number']);
    expect(await keys({ equals: 'open', prefix: '2025-06', gt: '2025-06-01' })).toEqual([
      'open 2025-06-30 1',
      'open 2025-06-30 2',
    ]);
    expect(await keys({ equals: ['open', '2025-07'], gt: 1 })).toEqual(['open 2025-07 2']);
    expect(await keys({ equals: 'open', gt: ['2025-07', 1] })).toEqual(['open 2025-07 2']);
    expect(await keys({ equals: 'shut', prefix: '2025-07', reverse: true })).toEqual([
      'shut 2025-07 2',
      'shut 2025-07 1',
    ]);
    await db.close();
  });

  it('must leave columns for the bounds', async () => {
    const indexes = { one: { path: '/a' }, two: { path: ['/a', '/b'] } };
    const db = await open('equals', { storage: memory(), indexes });
    for (const range of [
      { index: 'one', equals: 1, gt: 0 },
      { index: 'one', equals: 'a', prefix: 'a' },
      { index: 'two', equals: [1, 2], gt: 0 },
      { index: 'two', equals: 1, gt: [1, 2] },
      { index: 'two', equals: 1, gt: [] },
      { index: 'two', equals: 1, gt: 1, gte: 1 },
    ]) {
      await expect(db.count(range), JSON.stringify(range)).rejects.toEqual(
        failure('invalid-argument'),
      );
      expect(() => db.watch(range, () => {}), JSON.stringify(range)).toThrow(
        failure('invalid-argument'),
      );
    }
    await db.close();
  });
});

it.each([
  [{ path: { words: 'a' } }],
  [{ path: { words: '/a', more: 1 } }],
  [{ path: {} }],
  [{ path: [{ words: '/a' }, { words: '/b' }] }],
  [{ path: [null] }],
  [{ path: '/a', nulls: 1 }],
  [{ path: '/a', below: null }],
  [{ path: '/a', below: Number.NaN }],
  [{ path: '/a', below: [1] }],
  [{ path: '/a', below: '\ud800' }],
  [{ path: '/a', below: 'x'.repeat(250) }],
])('an index is not made of %j', async (definition) => {
  const opening = open('test', { storage: memory(), indexes: { one: definition as never } });
  await expect(opening).rejects.toEqual(failure('invalid-argument'));
});
