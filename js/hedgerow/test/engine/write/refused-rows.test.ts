/** Sources, options and rows that `putMany` refuses. */
import { describe, it } from 'vitest';
import { type Entry, failure, refuses, storeOf } from '../../support/models/store-model.js';

const PAIRS: Entry[] = [
  ['b', { n: 1 }],
  ['a', Uint8Array.of(2)],
];

describe('a bad argument of putMany is refused:', () => {
  const db = storeOf(PAIRS);
  const error = failure('invalid-argument');
  const sources = [
    null,
    undefined,
    5,
    'text',
    true,
    {},
    Symbol('rows'),
    () => [],
    Promise.resolve([]),
  ];
  it.each(sources.map((source) => [source]))('the source %s', async (source) => {
    await refuses(await db, async () => (await db).putMany(source as never), error);
  });
  it.each(['id', 'a/b', '/a~', '/a~2', '~', ' /id'])('the pointer %j', async (key) => {
    const rows = [{ id: 'a' }];
    await refuses(await db, async () => (await db).putMany(rows, { key: key as never }), error);
  });
  it.each(['\ud800', 'x'.repeat(1025), 5 as never])('the prefix %j', async (prefix) => {
    await refuses(
      await db,
      async () => (await db).putMany(PAIRS, { prefix }),
      failure('invalid-argument/key'),
    );
  });
});

describe('a row without a key is refused:', () => {
  const atRow = failure('invalid-argument/key', { row: 1 });
  const notPairs = [5, 'a', 'ab', null, undefined, { key: 'a' }, [], [5, 1], [null, 1], [['a'], 1]];
  it.each(notPairs.map((row) => [JSON.stringify(row), row]))('%s among pairs', async (_, row) => {
    const db = await storeOf(PAIRS);
    await refuses(db, () => db.putMany([['x', 1], row] as Entry[]), atRow);
  });
  it.each([
    {},
    { id: 5 },
    { id: null },
    { id: ['a'] },
    { id: { id: 'a' } },
    { ID: 'a' },
    [],
    ['id'],
    'id',
    5,
    null,
    undefined,
    true,
  ])('%j with a pointer', async (row) => {
    const db = await storeOf(PAIRS);
    await refuses(db, () => db.putMany([{ id: 'x' }, row], { key: '/id' }), atRow);
  });
  it('with a function that returns no key', async () => {
    const db = await storeOf(PAIRS);
    await refuses(
      db,
      () => db.putMany([{ id: 'x' }, { no: 1 }], { key: (row) => row.id as string }),
      atRow,
    );
  });
});
