/** The reasons for another run of the function of a transaction. */
import { describe, expect, it } from 'vitest';
import type { Store, Transaction } from '../../../src/index.js';
import { all, type Entry } from '../../support/models/store-model.js';
import { ABC, twoHandles } from '../../support/two-handles.js';

/** Returns how often the function runs if `other` happens once, after the first run has called `read`. */
async function runsOf(
  rows: readonly Entry[],
  read: (tx: Transaction) => unknown,
  other: (db: Store) => Promise<unknown>,
): Promise<number> {
  const [one, two] = await twoHandles(rows);
  let runs = 0;
  await one.transaction(async (tx) => {
    runs += 1;
    await read(tx);
    if (runs === 1) await other(two);
    tx.put('written', runs);
  });
  expect(await one.get('written')).toBe(runs);
  expect(await all(one)).toEqual(await all(await sameAs(two)));
  return runs;
}

async function sameAs(db: Store): Promise<Store> {
  await db.put('seen', 1);
  await db.delete('seen');
  return db;
}

describe('the function runs again', () => {
  const MANY = Array.from({ length: 500 }, (_, at): Entry => [`m${at + 1000}`, at]);
  const first = async (tx: Transaction, count: number, reverse = false) => {
    let left = count;
    for await (const _ of tx.scan({ prefix: 'm', reverse })) if (--left === 0) break;
  };
  const cases: Record<string, [(tx: Transaction) => unknown, (db: Store) => Promise<unknown>]> = {
    'when a value that it read was changed': [(tx) => tx.get('a'), (db) => db.put('a', 9)],
    'when a row that it read was deleted': [(tx) => tx.getMany(['x', 'a']), (db) => db.delete('a')],
    'when a row that it missed was added': [(tx) => tx.get('x'), (db) => db.put('x', 9)],
    'when one of many rows that it missed was added': [
      (tx) => tx.getMany(Array.from({ length: 100 }, (_, at) => `x${at}`)),
      (db) => db.put('x50', 9),
    ],
    'when a row that `has` missed was added': [(tx) => tx.has('x'), (db) => db.put('x', 9)],
    'when a row was added to what it counted': [
      (tx) => tx.count({ prefix: 'm' }),
      (db) => db.put('m', 9),
    ],
    'when the row with a number that it read was changed': [
      (tx) => tx.at(3),
      (db) => db.put('m1000', 9),
    ],
    'when the row with a number that it read has another number': [
      (tx) => tx.at(400, { prefix: 'm' }),
      (db) => db.put('m1000x', 9),
    ],
    'when a row came where it found none': [
      (tx) => tx.at(500, { prefix: 'm' }),
      (db) => db.put('m1000x', 9),
    ],
    'when a key has another rank': [(tx) => tx.rank('m1001'), (db) => db.put('m1000x', 9)],
    'when a row was added to what it scanned': [
      (tx) => tx.scan({ prefix: 'm' }).toArray(),
      (db) => db.put('mmm', 9),
    ],
    'when a key was deleted from what it scanned': [
      (tx) => tx.scan({ prefix: 'm' }).keys().toArray(),
      (db) => db.delete('m1499'),
    ],
    'when the last row that it took was changed': [
      (tx) => first(tx, 3),
      (db) => db.put('m1002', 9),
    ],
    'when a row was added to what it scanned in reverse': [
      (tx) => first(tx, 3, true),
      (db) => db.put('m1499x', 9),
    ],
  };
  for (const [title, [read, other]] of Object.entries(cases)) {
    it(title, async () => expect(await runsOf([...ABC, ...MANY], read, other)).toBe(2));
  }
  const others: typeof cases = {
    'nothing that it read was changed': [(tx) => tx.get('a'), (db) => db.put('b', 9)],
    'a value that it read was changed, and back': [
      (tx) => tx.get('a'),
      async (db) => {
        await db.put('a', 9);
        await db.put('a', 1);
        await db.put('b', 9);
      },
    ],
    'it read many other keys': [
      (tx) => tx.getMany(Array.from({ length: 100 }, (_, at) => `x${at}`)),
      (db) => db.put('x5x', 9),
    ],
    'the row that `has` found was changed': [(tx) => tx.has('a'), (db) => db.put('a', 9)],
    'a row that it counted was changed': [
      (tx) => tx.count({ prefix: 'm' }),
      (db) => db.put('m1000', 9),
    ],
    'a value was changed of which it read only the key': [
      (tx) => tx.scan({ prefix: 'm' }).keys().toArray(),
      (db) => db.put('m1000', 9),
    ],
    'a row was changed before the one with a number that it read': [
      (tx) => tx.at(400, { prefix: 'm' }),
      (db) => db.put('m1000', 9),
    ],
    'a row was added after those whose numbers it read': [
      async (tx) => [await tx.at(400, { prefix: 'm' }), await tx.rank('m1400')],
      (db) => db.put('m1400x', 9),
    ],
    'it did not read a row before where it began': [
      (tx) => tx.scan({ prefix: 'm', after: 'm1400' }).toArray(),
      (db) => db.put('m1400', 9),
    ],
    'a row that it did not reach was changed': [(tx) => first(tx, 3), (db) => db.put('m1003', 9)],
    'a row was changed beyond its limit': [
      (tx) => tx.scan({ prefix: 'm', limit: 3 }).toArray(),
      (db) => db.put('m1003', 9),
    ],
    'it did not reach a row in reverse': [(tx) => first(tx, 3, true), (db) => db.put('m1496', 9)],
    'it only wrote what others wrote': [
      (tx) => {
        tx.put('a', 'mine');
        tx.delete('b');
      },
      (db) => db.putMany([...ABC, ...MANY].map(([key]): Entry => [key, 'theirs'])),
    ],
    'it read what it had written itself': [
      async (tx) => {
        tx.put('a', 'mine');
        tx.put('m1000', 'mine');
        await tx.get('a');
        await tx.scan({ prefix: 'm', limit: 1 }).toArray();
      },
      (db) => db.putMany(['a', 'm1000'].map((key): Entry => [key, 'theirs'])),
    ],
  };
  describe('not when', () => {
    for (const [title, [read, other]] of Object.entries(others)) {
      it(title, async () => expect(await runsOf([...ABC, ...MANY], read, other)).toBe(1));
    }
  });
});
