/** Rows and keys that tables refuse: errors name the table, the key and the member. */
import { describe, expect, it, vi } from 'vitest';
import type { HedgerowError } from '../../../src/index.js';
import { kindOf } from '../../support/error-kind.js';
import { SOON, thrown } from '../../support/models/store-model.js';
import { line } from '../../support/one-line.js';
import {
  type Any,
  circular,
  NO_OBJECT,
  named,
  type Row,
  refused,
  store,
} from './tables-refusing.js';

const NO_ROWS: [row: unknown, code: string, message: RegExp, pointer: string | undefined][] = [
  ...NO_OBJECT.map(
    (row) => [row, 'invalid-argument/value', /row of a table is an object/, ''] as never,
  ),
  [{}, 'invalid-argument/key', /the member id is undefined/, '/id'],
  [{ id: 5 }, 'invalid-argument/key', /the member id is number.*key: \['id'\]/, '/id'],
  [{ id: 12n }, 'invalid-argument/key', /the member id is bigint/, '/id'],
  [{ id: null }, 'invalid-argument/key', /the member id is null/, '/id'],
  [{ id: ['a'] }, 'invalid-argument/key', /the member id is Array/, '/id'],
  [{ id: 'x'.repeat(1100) }, 'invalid-argument/key', /1024/, undefined],
  [{ id: '\ud800' }, 'invalid-argument/key', /surrogate/, undefined],
  [{ id: 'a', '~v': 2 }, 'newer-version/schema', /its form is of version 2/, undefined],
  [{ id: 'a', '~v': '2' }, 'invalid-argument/value', /~v .* is no version/, '/~0v'],
  [{ id: 'a', n: { x: Number.NaN } }, 'invalid-argument/value', /NaN/, '/n/x'],
  [{ id: 'a', n: 5n }, 'invalid-argument/value', /bigint/, '/n'],
  [{ id: 'a', set: new Set() }, 'invalid-argument/value', /Set/, '/set'],
  [{ id: 'a', f() {} }, 'invalid-argument/value', /function/, '/f'],
  [{ id: 'a', at: new Date(0) }, 'invalid-argument/value', /values: 'structured'/, '/at'],
  [{ id: 'a', list: [{ s: Symbol('s') }] }, 'invalid-argument/value', /symbol/, '/list/0/s'],
  [circular, 'invalid-argument/value', /circular|too deep/, undefined],
];

describe('a value that is no row', () => {
  const hasKey = (row: unknown) => typeof (row as Row | null)?.id === 'string';

  const titled = NO_ROWS.map((one) => [line(one[0]).slice(0, 60), ...one] as const);
  it.each(titled)('%s is refused by each call', async (_, row, code, message, pointer) => {
    const db = await store();
    await db.issues.put({ id: 'there', status: 'open' });
    const { root } = db;
    // The store checks the rest once it gets the operation.
    const isOfTable =
      !/^.(1024|surrogate|NaN|bigint|Set).$/.test(String(message)) || pointer === '/id';
    const check = (error: HedgerowError, isKeyKnown = true) => {
      expect([kindOf(error), error.table, error.message]).toEqual([
        code,
        'issues',
        expect.stringMatching(/^issues/),
      ]);
      expect(error.message).toMatch(message);
      if (pointer !== undefined) expect(error.pointer).toBe(pointer);
      if (hasKey(row) && isKeyKnown) expect(error.key).toBe((row as Row).id);
      expect(error.message.length).toBeLessThan(500);
    };
    check(await refused(() => db.issues.put(row)));
    check(await refused(() => db.issues.insert(row)));
    if (isOfTable) check(thrown(() => db.issues.op.put(row)));
    else {
      const patch = async () => db.applyPatch([db.issues.op.put(row)]);
      expect(kindOf(await refused(patch))).toBe('invalid-data/patch');
    }
    for (const source of [[{ id: 'b' }, row, { id: 'c' }], new Set([{ id: 'b' }, row]).values()]) {
      const error = await refused(() => db.issues.putMany(source));
      check(error, isOfTable || Array.isArray(source));
      expect([error.row, error.message]).toEqual([1, expect.stringContaining('row 1')]);
    }
    const later = async function* () {
      yield { id: 'b' };
      yield row;
    };
    const error = await refused(() => db.issues.putMany(later()));
    check(error, isOfTable);
    expect(error.row).toBe(1);
    await db.transaction(async (tx: Any) => {
      check(thrown(() => tx.issues.put(row)));
      check(await refused(() => tx.issues.insert(row)), isOfTable);
    });
    // A function that returns undefined leaves the row as it is, and another key is refused before.
    const made = hasKey(row) ? { ...(row as Row), id: 'there' } : row;
    if (row != null && !/1024|surrogate/.test(String(message))) {
      check(await refused(() => db.issues.update('there', () => made)), false);
    }
    expect(db.root).toBe(root);
    expect(await db.issues.count()).toBe(1);
  });

  it('is named by its position in bytes', async () => {
    const db = await store();
    const lines = (...rows: string[]) => new Blob([rows.join('\n')]);
    const good = '{"id":"a"}';
    for (const [bytes, row] of [
      [lines(good, good, '{"id":5}'), 2],
      [lines(good, '{"id":"b"'), 1],
      [lines('[1]'), 0],
      [lines(good, '"text"'), 1],
      [lines(`[${good}`, ',5]'), 1],
    ] as const) {
      const error = await refused(() => db.issues.putMany(bytes));
      expect([kindOf(error), error.row, error.table]).toEqual(['invalid-data/row', row, 'issues']);
    }
    for (const [bytes, code, row, pointer] of [
      [lines('{"project":"a","number":1}'), 'invalid-argument/key', 0, '/done'],
      [lines('{"project":"a","number":1,"done":true}', '5'), 'invalid-argument/value', 1, ''],
      [
        lines('[{"project":"a","number":1,"done":true},', '{"project":'),
        'invalid-data/row',
        1,
        undefined,
      ],
    ] as const) {
      const error = await refused(() => db.steps.putMany(bytes));
      expect([kindOf(error), error.row, error.table, error.pointer]).toEqual([
        code,
        row,
        'steps',
        pointer,
      ]);
    }
    expect(await db.count()).toBe(0);
    await db.issues.put({ id: 'still' });
    expect(await db.issues.count()).toBe(1);
  });

  it('ends its source, also before its first row', async () => {
    const db = await store();
    const ended: string[] = [];
    const source = (name: string, ...rows: unknown[]) => ({
      [Symbol.iterator]() {
        let at = 0;
        return {
          next: () => ({ done: false, value: rows[at++] }),
          return() {
            ended.push(name);
            return { done: true, value: undefined };
          },
        };
      },
    });
    const later = (name: string, ...rows: unknown[]) => ({
      [Symbol.asyncIterator]() {
        const { next, return: end } = source(name, ...rows)[Symbol.iterator]();
        return { next: async () => next(), return: async () => end() };
      },
    });
    const bytes = new TextEncoder().encode('{"id":5}\n');
    const signal = AbortSignal.abort();
    await refused(() => db.issues.putMany(source('rows', { id: 'a' }, { id: 5 })));
    await refused(() => db.issues.putMany(later('later', { id: 'a' }, { id: 5 })));
    await refused(() => db.issues.putMany(source('bytes', bytes)));
    await refused(() => db.steps.putMany(source('parts', bytes)));
    await refused(() => db.steps.putMany(later('later parts', bytes)));
    await refused(() => db.steps.putMany(source('format', { id: 'a' }), { format: 'json' }));
    await refused(() => db.steps.putMany(later('no part', bytes.subarray(0, 3), 'text')));
    const all = ['bytes', 'format', 'later', 'later parts', 'no part', 'parts', 'rows'];
    await vi.waitFor(() => expect([...ended].sort()).toEqual(all), SOON);
    const error = await refused(() => db.steps.putMany(later('aborted', bytes), { signal }));
    expect(error.code).toBe('aborted');
    // The call rejects with the exception of its source.
    const own = new Error('of the source');
    for (const on of [db.issues, db.steps]) {
      const throwing = async function* () {
        yield { id: 'a', project: 'a', number: 1, done: true };
        throw own;
      };
      await expect(on.putMany(throwing())).rejects.toBe(own);
    }
    expect(await db.count()).toBe(0);
  });

  it('does not hold up the store, which goes on', async () => {
    const db = await store();
    let isOpen = true;
    const endless = async function* () {
      for (let at = 0; isOpen; at++) yield { id: `${at}` };
      yield { id: 5 };
    };
    const load = refused(() => db.issues.putMany(endless()));
    for (let at = 0; at < 20; at++) await db.issues.put({ id: `own${at}` });
    expect(await db.issues.count()).toBe(20);
    isOpen = false;
    expect(kindOf(await load)).toBe('invalid-argument/key');
    expect(await db.issues.count()).toBe(20);
  });
});

describe('keys', () => {
  const NO_KEYS = [undefined, null, 5, 5n, true, {}, [], ['a'], Symbol('s')];
  const reads = (place: Any, key: unknown) => [
    () => place.get(key),
    () => place.has(key),
    () => place.getMany([key]),
    () => place.getMany(['ok', key].values()),
    () => place.rank(key),
  ];

  it.each([...NO_KEYS, '\ud800', 'x'.repeat(1100)])('%o is no key of a text', async (key) => {
    const db = await store();
    const message = typeof key === 'string' ? /^issues: .*(surrogate|1024)/ : /^issues: the key is/;
    const expected = named('invalid-argument/key', message);
    using snapshot = db.snapshot();
    for (const place of [db.issues, snapshot.issues]) {
      for (const call of reads(place, key)) expect(await refused(call)).toEqual(expected);
    }
    expect(await refused(() => db.issues.delete(key))).toEqual(expected);
    expect(await refused(() => db.issues.deleteMany([key]))).toEqual(expected);
    if (typeof key !== 'string') {
      expect(await refused(() => db.issues.update(key, {}))).toEqual(expected);
      expect(thrown(() => db.issues.op.delete(key))).toEqual(expected);
    }
    await db.transaction(async (tx: Any) => {
      for (const call of reads(tx.issues, key)) expect(await refused(call)).toEqual(expected);
      expect(thrown(() => tx.issues.delete(key))).toEqual(expected);
      expect(await refused(() => tx.issues.deleteMany([key]))).toEqual(expected);
    });
  });

  it.each([
    undefined,
    null,
    'a',
    {},
    [],
    ['a'],
    ['a', 1],
    ['a', 1, true, 1],
    ['a', null, true],
    ['a', Number.NaN, true],
    [1n, 1, true],
    ['\ud800', 1, true],
    [{}, 1, true],
    new Set(['a', 1, true]),
  ])('%o is no key of three parts', async (key) => {
    const db = await store();
    for (const call of reads(db.steps, key)) {
      const error = await refused(call);
      expect([kindOf(error), error.table]).toEqual(['invalid-argument/key', 'steps']);
      expect(error.message).toMatch(/^steps: .*(project|number|done)/);
    }
  });

  it('come in lists', async () => {
    const db = await store();
    const later = async function* () {
      yield 'a';
    };
    for (const keys of [null, undefined, 5, 'text', Symbol('s'), later()]) {
      const expected = named('invalid-argument', /^issues(\.|: )getMany takes/);
      const error = await refused(() => db.issues.getMany(keys));
      expect({ ...error, table: 'issues', message: error.message }).toEqual(expected);
    }
    for (const keys of [null, undefined, 5, 'text', later()]) {
      const error = await refused(() => db.issues.deleteMany(keys));
      expect([kindOf(error), error.message]).toEqual([
        'invalid-argument',
        expect.stringMatching(/^issues(\.|: )deleteMany takes/),
      ]);
    }
  });

  it('are read at the call', async () => {
    const db = await store();
    await db.issues.putMany(Array.from({ length: 5000 }, (_, at) => ({ id: `${at}` })));
    const keys = Array.from({ length: 5000 }, (_, at) => `${at}`);
    const reading = db.issues.getMany(keys);
    keys.fill('none');
    expect((await reading).every((row: unknown) => row !== undefined)).toBe(true);
  });
});

describe('an insert, an update and a delete', () => {
  it('refuse a row that exists, a change of the key, and a value that is no change', async () => {
    const db = await store();
    await db.issues.put({ id: 'a' });
    await db.steps.put({ project: 'a', number: 1, done: true });
    const there = await refused(() => db.issues.insert({ id: 'a' }));
    expect(there).toEqual(named('exists', /^issues has a row "a" already/, { key: 'a' }));
    const step = await refused(() => db.steps.insert({ project: 'a', number: 1, done: true }));
    expect([step.code, step.table, step.key]).toEqual(['exists', 'steps', '["a",1,true]']);
    const moved = await refused(() => db.issues.update('a', { id: 'b' }));
    expect(moved).toEqual(
      named('invalid-argument/value', /^issues "a": .*cannot change the key/, { key: 'a' }),
    );
    for (const change of [null, undefined, 5, 'text', [], new Map()]) {
      for (const key of ['a', 'absent']) {
        const error = await refused(() => db.issues.update(key, change));
        expect(error).toEqual(named('invalid-argument', /^issues: update takes/));
      }
    }
    const own = new Error('of the app');
    const throwing = () => {
      throw own;
    };
    await expect(db.issues.update('a', throwing)).rejects.toBe(own);
    expect(await db.issues.toArray()).toEqual([{ id: 'a' }]);
    await db.transaction(async (tx: Any) => {
      expect((await refused(() => tx.issues.insert({ id: 'a' }))).code).toBe('exists');
      expect((await refused(() => tx.issues.update('a', { id: 'b' }))).table).toBe('issues');
      tx.issues.put({ id: 'new' });
      expect((await refused(() => tx.issues.insert({ id: 'new' }))).key).toBe('new');
    });
  });

  it('of many delete no rows for a condition that is undefined, or empty', async () => {
    const db = await store();
    await db.issues.put({ id: 'a', status: 'open' });
    for (const [conditions, message] of [
      [{}, /^issues: delete needs a condition/],
      [{ status: undefined }, /^issues: where: status is undefined/],
      [{ status: 'open', id: undefined }, /^issues: where: id is undefined/],
      [{ status: { gte: undefined } }, /^issues: where: gte of status is undefined/],
      [{ status: { startsWith: '' } }, /^issues: delete: the text of a condition has no letters/],
    ] as [object, RegExp][]) {
      const expected = named('invalid-argument', message);
      expect(await refused(() => db.issues.deleteMany(conditions))).toEqual(expected);
      await db.transaction(async (tx: Any) => {
        expect(await refused(() => tx.issues.deleteMany(conditions))).toEqual(expected);
      });
    }
    expect(await db.issues.count()).toBe(1);
    using snapshot = db.snapshot();
    expect(await refused(() => snapshot.issues.all().delete())).toEqual(
      named('invalid-argument', /no call of a snapshot/),
    );
  });
});
