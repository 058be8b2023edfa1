/** Options that calls of tables refuse. */
import { describe, expect, it } from 'vitest';
import { kindOf } from '../../support/error-kind.js';
import { expectSame } from '../../support/models/store-model.js';
import { type Any, NO_OPTIONS, NO_SIGNAL, refused, revoked, store } from './tables-refusing.js';

describe('options', () => {
  const calls: [
    name: string,
    call: (rows: Any, options: unknown) => Promise<unknown>,
    members: string[],
  ][] = [
    ['put', (rows, options) => rows.put({ id: 'b' }, options), ['signal', 'durability']],
    ['insert', (rows, options) => rows.insert({ id: 'b' }, options), ['signal', 'durability']],
    ['update', (rows, options) => rows.update('a', {}, options), ['signal', 'durability']],
    ['delete', (rows, options) => rows.delete('a', options), ['signal', 'durability']],
    ['deleteMany', (rows, options) => rows.deleteMany(['a'], options), ['signal']],
    [
      'deleteMany by a condition',
      (rows, options) => rows.deleteMany({ status: 'a' }, options),
      ['signal'],
    ],
    ['clear', (rows, options) => rows.clear(options), ['signal']],
    [
      'putMany',
      (rows, options) => rows.putMany([{ id: 'b' }], options),
      ['signal', 'durability', 'format', 'onProgress'],
    ],
    ['count', (rows, options) => rows.count(options), ['signal', 'wait']],
    ['toArray', (rows, options) => rows.toArray(options), ['signal', 'wait']],
    ['at', (rows, options) => rows.at(0, options), ['signal', 'wait']],
    [
      'toArray of a query',
      (rows, options) => rows.where({ status: 'a' }).toArray(options),
      ['signal', 'wait'],
    ],
    [
      'count of a filter',
      (rows, options) =>
        rows
          .all()
          .filter(() => 1)
          .count(options),
      ['signal', 'wait'],
    ],
    ['first', (rows, options) => rows.all().first(options), ['signal', 'wait']],
    [
      'delete of a query',
      (rows, options) => rows.where({ status: 'a' }).delete(options),
      ['signal'],
    ],
    ['tryMigration', (rows, options) => rows.tryMigration(options), ['signal']],
  ];
  it.each(calls)('of %s are checked', async (_, call, members) => {
    const db = await store();
    await db.issues.put({ id: 'a', status: 'a' });
    const { root } = db;
    const wrong: unknown[] = [...NO_OPTIONS, { unknown: 1 }];
    for (const name of members) {
      const values = name === 'signal' ? NO_SIGNAL : [null, 5, 'none', {}];
      wrong.push(...values.map((value) => ({ [name]: value })));
    }
    for (const options of wrong) {
      const error = await refused(() => call(db.issues, options));
      expect(kindOf(error)).toBe('invalid-argument');
    }
    expect(db.root).toBe(root);
  });

  it('number rows from 0', async () => {
    const db = await store();
    for (const n of [null, undefined, -1, 0.5, '1', Number.NaN, {}]) {
      const error = await refused(() => db.issues.at(n));
      expect([kindOf(error), error.message]).toEqual([
        'invalid-argument',
        expect.stringMatching(/^issues\.at takes/),
      ]);
    }
  });
});

it('sources are rows, or bytes', async () => {
  const row = { id: 'a', project: 'p', number: 1, done: true };
  const db = await store();
  for (const on of [db.issues, db.steps]) {
    for (const source of [null, undefined, 5, 'text', {}, revoked(), Symbol('s')]) {
      expect(kindOf(await refused(() => on.putMany(source)))).toBe('invalid-argument');
    }
    expect(kindOf(await refused(() => on.putMany([row], { format: 'json' })))).toBe(
      'invalid-argument',
    );
    const response = new Response('no', { status: 500 });
    expect(await refused(() => on.putMany(response))).toMatchObject({
      code: 'remote',
      detail: 'response',
      status: 500,
    });
    for (const empty of [[], new Set(), new Uint8Array(), new Blob([]), new Response('')]) {
      expect(await on.putMany(empty)).toMatchObject({ rows: 0 });
    }
  }
  expect(await db.count()).toBe(0);
});

it('a load reports its progress', async () => {
  const db = await store();
  const rows = Array.from({ length: 3000 }, (_, at) => ({
    id: `${at}`,
    project: 'p',
    number: at,
    done: true,
  }));
  const bytes = new Blob([JSON.stringify(rows)]);
  for (const on of [db.issues, db.steps]) {
    for (const source of [rows, bytes]) {
      const fractions: number[] = [];
      await on.putMany(source, { onProgress: ({ fraction }: Any) => fractions.push(fraction) });
      expect(fractions.at(-1)).toBe(1);
      expectSame(
        fractions,
        [...fractions].sort((a, b) => a - b),
      );
      expect(fractions.every((one) => one >= 0 && one <= 1)).toBe(true);
    }
  }
});

it('the calls of a closed store say so', async () => {
  const db = await store();
  await db.close();
  for (const call of [
    () => db.issues.get('a'),
    () => db.issues.put({ id: 'a' }),
    () => db.issues.putMany([{ id: 'a' }]),
    () => db.steps.putMany(new Blob(['{}'])),
    () => db.issues.toArray(),
    () => db.issues.where({ status: 'a' }).count(),
    () => db.issues.insert({ id: 'a' }),
    () => db.issues.update('a', {}),
    () => db.issues.deleteMany(['a']),
  ]) {
    expect((await refused(call)).code).toBe('closed');
  }
});
