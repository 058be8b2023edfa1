/** A bad value is refused before the store changes. */
import { describe, expect, it } from 'vitest';
import { ofKind } from '../../support/error-kind.js';
import { type Entry, failure, refuses, storeOf } from '../../support/models/store-model.js';

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

const circular: Record<string, unknown> = { a: 1 };
circular.self = { deep: [circular] };

const refused: [string, unknown][] = [
  ['undefined', undefined],
  ['a function', () => 1],
  ['a class', class {}],
  ['a symbol', Symbol('s')],
  ['a bigint', 5n],
  ['a bigint in an object', { a: 5n }],
  ['a bigint deep inside', { a: [{ b: [1, 5n] }] }],
  ['a boxed bigint', Object(5n)],
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['an object that holds itself', circular],
  ['an array that holds itself', [1, circular]],
  ['a Map', new Map([['a', 1]])],
  ['a Set', new Set([1])],
  ['an ArrayBuffer', new ArrayBuffer(4)],
  ['a DataView', new DataView(new ArrayBuffer(4))],
  ['a Float64Array', new Float64Array(1)],
  ['a Uint16Array', new Uint16Array(1)],
  ['an Int8Array', new Int8Array(1)],
  ['a Uint8ClampedArray', new Uint8ClampedArray(1)],
  ['an object whose toJSON gives nothing', { toJSON: () => undefined }],
  [
    'an object whose toJSON throws',
    {
      toJSON: () => {
        throw new Error('no');
      },
    },
  ],
  [
    'an object whose getter throws',
    {
      get a() {
        throw new Error('no');
      },
    },
  ],
  ['what is nested too deeply', nested(600)],
  ['what is nested too deeply for the stack', nested(100_000)],
  ['bytes of more than 64 MiB', new Uint8Array((64 << 20) + 1)],
];

describe('a value is refused:', () => {
  for (const [title, value] of refused) {
    it(title, async () => {
      const db = await storeOf([['a', 1]]);
      const code = 'invalid-argument/value';
      await refuses(db, () => db.put('b', value), expect.objectContaining(ofKind(code)));
      await refuses(db, () => db.put('a', value), expect.objectContaining(ofKind(code)));
      for (const at of [0, 2]) {
        const rows: Entry[] = [
          ['b', 1],
          ['c', Uint8Array.of(2)],
          ['d', 3],
        ];
        rows[at] = ['x', value];
        const atRow = failure(code, { row: at });
        await refuses(db, () => db.putMany(rows), atRow);
        await refuses(db, () => db.putMany(new Map(rows)), atRow);
        const asynchronous = async function* () {
          yield* rows;
        };
        await refuses(db, () => db.putMany(asynchronous()), atRow);
        const values = rows.map(([, row]) => row);
        await refuses(db, () => db.putMany(values, { key: () => 'k' }), atRow);
      }
    });
  }
});

it('the error of a bad value has its position in the whole source', async () => {
  const db = await storeOf([['a', 1]]);
  for (const at of [0, 4321, 29_999]) {
    for (const bad of [undefined, { a: [5n] }, Number.NaN, nested(600), new Map()]) {
      const rows = Array.from({ length: 30_000 }, (_, row): Entry => [`k${row}`, { row }]);
      rows[at] = ['bad', bad];
      await refuses(db, () => db.putMany(rows), failure('invalid-argument/value', { row: at }));
    }
  }
});

it('a bad value in rows with a pointer is refused, too', async () => {
  const db = await storeOf([['a', 1]]);
  for (const bad of [5n, nested(600)]) {
    const rows = [{ id: 'x' }, { id: 'y', bad }];
    await refuses(
      db,
      () => db.putMany(rows, { key: '/id' }),
      failure('invalid-argument/value', { row: 1 }),
    );
  }
});

it('the error keeps the cause that a value threw', async () => {
  const db = await storeOf();
  const cause = new Error('mine');
  const value = {
    toJSON() {
      throw cause;
    },
  };
  await expect(db.put('a', value)).rejects.toEqual(failure('invalid-argument/value', { cause }));
  await expect(db.putMany([['a', value]])).rejects.toEqual(
    failure('invalid-argument/value', { cause, row: 0 }),
  );
  await expect(db.putMany([['a', { in: value }]])).rejects.toEqual(
    failure('invalid-argument/value', { cause, row: 0 }),
  );
});

it('a value of exactly 64 MiB is kept', async () => {
  const db = await storeOf();
  const value = new Uint8Array(64 << 20);
  value[value.length - 1] = 7;
  await db.put('a', value);
  const found = await db.get<Uint8Array>('a');
  expect(found?.length).toBe(value.length);
  expect(found?.at(-1)).toBe(7);
  await db.close();
});

it('a refused put does not affect the others of its turn', async () => {
  const db = await storeOf();
  const settled = await Promise.allSettled([
    db.put('a', 1),
    db.put('b', undefined),
    db.put(5 as never, 1),
    db.put('c', 3),
  ]);
  expect(settled.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
    'fulfilled',
  ]);
  expect(await db.scan().toArray()).toEqual([
    ['a', 1],
    ['c', 3],
  ]);
});
