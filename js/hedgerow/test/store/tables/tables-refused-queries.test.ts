/** Queries that tables refuse. */

import { describe, expect, it } from 'vitest';
import type { HedgerowError } from '../../../src/index.js';
import { kindOf } from '../../support/error-kind.js';
import { thrown } from '../../support/models/store-model.js';
import { type Any, refused, store } from './tables-refusing.js';

describe('a query', () => {
  const wrong: [what: string, call: (rows: Any) => unknown, message: RegExp][] = [
    ...[null, undefined, 5, 'text', [], () => true].map(
      (given) =>
        [
          `where(${String(given)})`,
          (rows: Any) => rows.where(given),
          /where takes conditions/,
        ] as never,
    ),
    ['an empty condition', (rows) => rows.where({ status: {} }), /status is an empty condition/],
    ['an unknown bound', (rows) => rows.where({ status: { min: 1 } }), /status has no bound min/],
    [
      'two lower bounds',
      (rows) => rows.where({ status: { gt: 1, gte: 1 } }),
      /status has one of gt/,
    ],
    [
      'two upper bounds',
      (rows) => rows.where({ status: { lt: 1, lte: 1 } }),
      /status has one of gt/,
    ],
    [
      'a number that begins a text',
      (rows) => rows.where({ status: { startsWith: 5 } }),
      /startsWith of status/,
    ],
    [
      'a start and a bound',
      (rows) => rows.where({ status: { startsWith: 'a', lt: 'b' } }),
      /startsWith of status/,
    ],
    [
      'two columns with bounds',
      (rows) => rows.where({ a: { gt: 1 }, b: { gt: 1 } }),
      /not a and b/,
    ],
    ['a column twice', (rows) => rows.where({ a: 1 }).where({ a: 2 }), /a has two conditions/],
    [
      'a value and bounds',
      (rows) => rows.where({ a: 1 }).where({ a: { gt: 2 } }),
      /a has two conditions/,
    ],
    ['an unknown direction', (rows) => rows.orderBy('status', 'up'), /direction is asc or desc/],
    ...[null, undefined, 5, [], [5], {}].map(
      (given) =>
        [`orderBy(${String(given)})`, (rows: Any) => rows.orderBy(given), /orderBy takes/] as never,
    ),
    [
      'a missing bound',
      (rows) => rows.between('status', undefined, 'b'),
      /where: gte of status is undefined/,
    ],
    ...[null, 5, 'text', [], undefined].map(
      (given) =>
        [
          `after(${String(given)})`,
          (rows: Any) => rows.all().after(given),
          /after takes a row/,
        ] as never,
    ),
    ...[null, 5, 'text', {}].map(
      (given) =>
        [
          `filter(${String(given)})`,
          (rows: Any) => rows.all().filter(given),
          /filter takes a function/,
        ] as never,
    ),
    ...['limit', 'offset'].flatMap((name) =>
      [null, -1, 1.5, Number.NaN, '5', {}].map(
        (given) =>
          [
            `${name}(${String(given)})`,
            (rows: Any) => rows.all()[name](given),
            /must be a whole number/,
          ] as never,
      ),
    ),
    [
      'watch without a function',
      (rows) => rows.where({ status: 'a' }).watch(5),
      /watch takes a function/,
    ],
    [
      'watch of a part',
      (rows) =>
        rows
          .all()
          .limit(5)
          .watch(() => {}),
      /watch follows all rows/,
    ],
    ['watch without an index', (rows) => rows.where({ other: 1 }).watch(() => {}), /no index/],
    [
      'watch with unknown options',
      (rows) => rows.watch(() => {}, { first: true }),
      /takes no first/,
    ],
    [
      'live of a filter',
      (rows) =>
        rows
          .all()
          .filter(() => true)
          .source(),
      /live takes no filter/,
    ],
  ];
  it.each(wrong)('with %s throws at once', async (_, call, message) => {
    const db = await store();
    const error = thrown(() => call(db.issues));
    expect([kindOf(error), error.message]).toEqual([
      'invalid-argument',
      expect.stringMatching(/^issues/),
    ]);
    expect(error.message).toMatch(message);
  });

  const VALUES = [
    Number.NaN,
    Number.POSITIVE_INFINITY,
    5n,
    Symbol('s'),
    ['a'],
    new Set(),
    () => 1,
    new Date(0),
  ];
  const unread: [what: string, query: (rows: Any) => Any, message: RegExp][] = [
    ['no index', (rows) => rows.where({ modified: 5 }), /no index has.*\['modified'\].*scan\(\)/],
    [
      'no index in this order',
      (rows) => rows.where({ status: 'a' }).orderBy('title'),
      /'status', 'title'/,
    ],
    [
      'an unknown index',
      (rows) => rows.all().using('byNone'),
      /no index byNone, but byState, byTitle/,
    ],
    ['another kind of index', (rows) => rows.all().using(5), /no index 5/],
    [
      'an index of something else',
      (rows) => rows.where({ title: 'a' }).using('byState'),
      /the index byState does not/,
    ],
    // A hint names only calls that would not be refused in turn.
    [
      'an order without an index',
      (rows) => rows.orderBy('other'),
      /: add an index \['other'\] to issues$/,
    ],
    [
      'an order without an index, scanned',
      (rows) => rows.orderBy('other').scan(),
      /: add an index \['other'\] to issues$/,
    ],
    [
      'conditions without an index',
      (rows) => rows.where({ other: 1 }),
      /: add an index \['other'\] to issues, or read all rows with scan\(\)$/,
    ],
    [
      'words in an order without an index',
      (rows) => rows.where({ title: { words: 'a' } }).orderBy('other'),
      /: leave out orderBy, or add an index \['other'\] and read it with scan\(\)$/,
    ],
    [
      'words in another order',
      (rows) => rows.where({ title: { words: 'a' } }).orderBy('status'),
      /: leave out orderBy, or read all rows with scan\(\)$/,
    ],
    ['an index that lacks rows', (rows) => rows.orderBy('title'), /'title'/],
    ['null in an index without', (rows) => rows.where({ title: null }), /'title'/],
    ['null as a key', (rows) => rows.where({ id: null }), /id cannot be compared with null/],
    ['a number as a key', (rows) => rows.where({ id: { gt: 5 } }), /id cannot be compared with 5/],
    [
      'null as a bound',
      (rows) => rows.where({ status: { gte: null } }),
      /status has no bound null/,
    ],
    [
      'a bound of half a character',
      (rows) => rows.where({ status: { gte: '\ud83d' } }),
      /status cannot/,
    ],
    [
      'after a row without its key',
      (rows) => rows.all().after({ title: 'a' }),
      /the member id is undefined/,
    ],
    [
      'after a row with several places',
      (rows) => rows.orderBy('tags').after({ id: 'a', tags: ['a', 'b'] }),
      /several places/,
    ],
    ...VALUES.flatMap(
      (value) =>
        [
          [
            `where ${String(value)}`,
            (rows: Any) => rows.where({ status: value }),
            /status|structured/,
          ],
          [
            `where ${String(value)}, scanned`,
            (rows: Any) => rows.where({ x: value }).scan(),
            /x cannot|structured/,
          ],
          [
            `a bound ${String(value)}`,
            (rows: Any) => rows.where({ status: { lt: value } }),
            /status|structured/,
          ],
        ] as never,
    ),
  ];
  it.each(unread)('that has %s rejects when it is read', async (_, make, message) => {
    const db = await store();
    await db.issues.put({ id: 'a', status: 'a', title: 'a', tags: ['a', 'b'] });
    using snapshot = db.snapshot();
    const iterate = async (query: Any) => {
      for await (const _ of query);
    };
    const reads = (query: Any) => [
      ...['toArray', 'count', 'first'].map((name) => () => query[name]()),
      () => query.at(0),
      () => iterate(query),
    ];
    const check = (error: HedgerowError) => {
      expect([kindOf(error), error.table]).toEqual([
        expect.stringMatching(/^invalid-argument(\/key)?$/),
        'issues',
      ]);
      expect(error.message).toMatch(message);
    };
    const query = make(db.issues);
    for (const call of [...reads(query), () => query.delete(), ...reads(make(snapshot.issues))]) {
      check(await refused(call));
    }
    await db.transaction(async (tx: Any) => {
      const inner = make(tx.issues);
      for (const call of [...reads(inner), () => inner.delete()]) check(await refused(call));
    });
    if (!/member id|several/.test(String(message))) check(thrown(() => query.watch(() => {})));
    expect(await db.issues.count()).toBe(1);
  });

  it('is ended by its signal', async () => {
    const db = await store();
    await db.issues.putMany(
      Array.from({ length: 3000 }, (_, at) => ({ id: `${at}`, status: 'a' })),
    );
    const signal = AbortSignal.abort();
    const query = db.issues.where({ status: 'a' });
    for (const call of [
      () => query.toArray({ signal }),
      () => query.count({ signal }),
      () => query.first({ signal }),
      () => query.at(1, { signal }),
      () => query.delete({ signal }),
      () => query.filter(() => true).toArray({ signal }),
      () => query.filter(() => true).delete({ signal }),
      () => db.issues.clear({ signal }),
      () => db.issues.deleteMany({ status: 'a' }, { signal }),
      () => db.issues.deleteMany(['1'], { signal }),
      () => db.issues.putMany([{ id: 'new' }], { signal }),
    ]) {
      expect((await refused(call)).code).toBe('aborted');
    }
    const controller = new AbortController();
    const filtered = query.filter(() => controller.abort()).toArray({ signal: controller.signal });
    expect((await refused(() => filtered)).code).toBe('aborted');
    expect(await db.issues.count()).toBe(3000);
  });

  it('gives an error of a filter as it is, and ends the reading', async () => {
    const db = await store();
    await db.issues.put({ id: 'a' });
    const own = new Error('of the app');
    const query = db.issues.all().filter(() => {
      throw own;
    });
    await expect(query.toArray()).rejects.toBe(own);
    await expect(query.count()).rejects.toBe(own);
    await expect(query.delete()).rejects.toBe(own);
    expect(await db.issues.count()).toBe(1);
  });
});
