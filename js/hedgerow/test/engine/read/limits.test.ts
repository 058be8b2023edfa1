/** `limit` is a whole number and means the same in all calls. */
import { describe, expect, it } from 'vitest';
import type { Rows } from '../../../src/engine/read/scan.js';
import { memory, open, type Store, type Transaction } from '../../../src/index.js';
import { type Entry, failure } from '../../support/models/store-model.js';

const ROWS = Array.from({ length: 9 }, (_, at): Entry => [`k${at}`, { n: at }]);

/** The number of rows that come, of nine; `undefined` where the limit is refused. */
const LIMITS: readonly [limit: unknown, rows: number | undefined][] = [
  [0, 0],
  [-0, 0],
  [1, 1],
  [2, 2],
  [8, 8],
  [9, 9],
  [10, 9],
  [2 ** 31, 9],
  [2 ** 32, 9],
  [2 ** 32 + 1, 9],
  [Number.MAX_SAFE_INTEGER, 9],
  [2 ** 60, 9],
  [2 ** 64, 9],
  [Number.MAX_VALUE, 9],
  [Number.POSITIVE_INFINITY, 9],
  [undefined, 9],
  [0.5, undefined],
  [1.5, undefined],
  [8.999, undefined],
  [5e-324, undefined],
  [-1, undefined],
  [-0.5, undefined],
  [Number.NEGATIVE_INFINITY, undefined],
  [Number.NaN, undefined],
  [5n, undefined],
  [0n, undefined],
  ['5', undefined],
  [null, undefined],
  [true, undefined],
];

type Options = { readonly limit: never; readonly index?: string; readonly reverse?: boolean };

async function counts(scan: (options: Options) => Rows<unknown>, options: Options) {
  const byHand = async () => {
    let count = 0;
    for await (const _ of scan(options)) count += 1;
    return count;
  };
  const [all, one] = [await scan(options).toArray(), await byHand()];
  expect(one).toBe(all.length);
  return all.length;
}

async function opened(): Promise<Store> {
  const db = await open('test', { storage: memory(), indexes: { n: { path: '/n' } } });
  await db.putMany(ROWS);
  await db.count({ index: 'n' });
  return db;
}

const within = async (db: Store, read: (tx: Transaction) => Promise<number>, edit: boolean) =>
  db.transaction((tx) => {
    // The same rows: one is put again, one is deleted and put back.
    if (edit) {
      tx.put('k3', { n: 3 });
      tx.delete('k5');
      tx.put('k5', { n: 5 });
      tx.delete('none');
    }
    return read(tx);
  });

const places: Record<string, (db: Store, options: Options) => Promise<number>> = {
  'a store': (db, options) => counts((how) => db.scan(how), options),
  'the keys of a store': (db, options) => counts((how) => db.scan(how).keys(), options),
  'the values of a store': (db, options) => counts((how) => db.scan(how).values(), options),
  'a snapshot': (db, options) => counts((how) => db.snapshot().scan(how), options),
  'a branch': async (db, options) => {
    const draft = await db.branches.open('draft');
    return counts((how) => draft.scan(how), options).finally(() => draft.close());
  },
  'a transaction': (db, options) =>
    within(db, (tx) => counts((how) => tx.scan(how), options), false),
  'a transaction with own edits': (db, options) =>
    within(db, (tx) => counts((how) => tx.scan(how), options), true),
  'the keys of a transaction with own edits': (db, options) =>
    within(db, (tx) => counts((how) => tx.scan(how).keys(), options), true),
};

const SHAPES: readonly Omit<Options, 'limit'>[] = [
  {},
  { reverse: true },
  { index: 'n' },
  { index: 'n', reverse: true },
];

describe.each(Object.entries(places))('the limit of a scan of %s', (_, read) => {
  it.each(LIMITS)('a limit of %s returns %s rows', async (limit, rows) => {
    const db = await opened();
    for (const shape of SHAPES) {
      const reading = read(db, { ...shape, limit: limit as never });
      const what = JSON.stringify(shape);
      if (rows === undefined)
        await expect(reading, what).rejects.toEqual(failure('invalid-argument'));
      else expect(await reading, what).toBe(rows);
    }
    // A refused limit does not trap the core.
    expect(await db.count()).toBe(9);
    await db.close();
  });
});
