/** Definitions that tables refuse, and wrong uses of them: errors name the table and the member. */

import { describe, expect, it } from 'vitest';
import { destroy, memory, open } from '../../../src/index.js';
import { kindOf } from '../../support/error-kind.js';
import { thrown } from '../../support/models/store-model.js';
import { define, issues, NO_OBJECT, named, refused } from './tables-refusing.js';

describe('a definition', () => {
  it.each(NO_OBJECT.filter((one) => one !== undefined))(
    'is a plain object, not %s',
    (definition) => {
      const error = thrown(() => define(definition));
      expect([kindOf(error), error.message]).toEqual([
        'invalid-argument',
        expect.stringMatching(/^table/),
      ]);
    },
  );

  const wrong: [what: string, definition: object, message: RegExp][] = [
    ['without a key', {}, /key must be/],
    ['with a number as key', { key: 5 }, /key must be/],
    ['with an empty key', { key: [] }, /key must be/],
    ['with a key part twice', { key: ['a', 'a'] }, /key must be/],
    ['with a number as key part', { key: ['a', 1] }, /key must be/],
    ['with a pointer as key', { key: '/a/b' }, /names of members/],
    ['with the version as key', { key: ['a', '~v'] }, /names of members/],
    ['with nine key parts', { key: [...'abcdefghi'] }, /8/],
    ['with an unknown member', { key: 'id', keys: 'id' }, /takes no keys/],
    ['with a number as prefix', { key: 'id', prefix: 5 }, /prefix must be a string/],
    ['with half of a character as prefix', { key: 'id', prefix: '\ud800' }, /prefix: .*surrogate/],
    ['with a long prefix', { key: 'id', prefix: 'x'.repeat(1025) }, /prefix: .*1024/],
    ['with unknown values', { key: 'id', values: 'xml' }, /values must be/],
    ['with null as values', { key: 'id', values: null }, /values must be/],
    ['with half a codec', { key: 'id', values: { encode: () => ({}) } }, /values must be/],
    ['with a schema of another kind', { key: 'id', schema: { parse() {} } }, /schema must follow/],
    [
      'with a schema of another version',
      { key: 'id', schema: { '~standard': { version: 2 } } },
      /schema/,
    ],
    ['with null as schema', { key: 'id', schema: null }, /schema must follow/],
    ['with text as validate', { key: 'id', validate: 'no' }, /validate must be a boolean/],
    ['with a version of 0', { key: 'id', version: 0 }, /version must be/],
    ['with a version of 1.5', { key: 'id', version: 1.5 }, /version must be/],
    ['with a version of text', { key: 'id', version: '2' }, /version must be/],
    ['without migrate', { key: 'id', version: 2 }, /needs migrate/],
    ['with text as migrate', { key: 'id', migrate: 'x' }, /migrate must be a function/],
    ['with a list of indexes', { key: 'id', indexes: [] }, /indexes must be/],
    ['with null as indexes', { key: 'id', indexes: null }, /indexes must be/],
    ['with an index of no columns', { key: 'id', indexes: { by: [] } }, /by must list/],
    ['with an index of text', { key: 'id', indexes: { by: 'a' } }, /the index by/],
    ['with null as index', { key: 'id', indexes: { by: null } }, /the index by/],
    [
      'with an index column of another kind',
      { key: 'id', indexes: { by: [5] } },
      /the index by: a column/,
    ],
    [
      'with an index column twice',
      { key: 'id', indexes: { by: ['a', 'a'] } },
      /by has a column twice/,
    ],
    [
      'with a malformed pointer',
      { key: 'id', indexes: { by: ['/a~2'] } },
      /by: not a JSON pointer/,
    ],
    ['with nine columns', { key: 'id', indexes: { by: [...'abcdefghi'] } }, /by: .*8/],
    ['with a long column', { key: 'id', indexes: { by: ['x'.repeat(300)] } }, /by: .*254/],
    [
      'with nulls of text',
      { key: 'id', indexes: { by: { columns: ['a'], nulls: 'no' } } },
      /nulls/,
    ],
    [
      'with an unknown member of an index',
      { key: 'id', indexes: { by: { columns: ['a'], unique: true } } },
      /takes no unique/,
    ],
    [
      'with an index that has the name of the version index',
      { key: 'id', indexes: { '~v': ['a'] } },
      /~v/,
    ],
  ];
  it.each(wrong)('%s is refused, and no store stays open', async (_, definition, message) => {
    const storage = memory();
    const options = { storage, tables: { issues: define(definition) } as never };
    const error = await refused(() => open('app', options));
    expect([kindOf(error), error.table]).toEqual([
      expect.stringMatching(/^invalid-argument(\/key)?$/),
      'issues',
    ]);
    expect(error.message).toMatch(/^issues: /);
    expect(error.message).toMatch(message);
    await destroy('app', { storage });
  });
});

describe('tables', () => {
  const one = define({ key: 'id' });
  it.each([
    ...[5, 'text', null, [], {}, true].map((tables) => [tables]),
    [{ a: {} }],
    [{ a: null }],
    [{ a: { key: 'id' } }],
    [{ a: one, b: {} }],
    [{ a: one, b: null }],
    [{ a: {}, b: one }],
    [{ a: { definition: { key: 'id' } } }],
    [new Map([['a', one]])],
    [[one]],
  ] as [unknown][])('%o are refused', async (tables) => {
    const storage = memory();
    const error = await refused(() => open('app', { storage, tables: tables as never }));
    expect(kindOf(error)).toBe('invalid-argument');
    expect(error.message).toMatch(/table/);
    await destroy('app', { storage });
  });

  it('whose prefixes overlap are refused, with both names', async () => {
    for (const [a, b] of [
      [{}, { prefix: 'a/b/' }],
      [{ prefix: '' }, {}],
      [{ prefix: 'same' }, { prefix: 'same' }],
    ]) {
      const tables = { a: define({ key: 'id', ...a }), b: define({ key: 'id', ...b }) };
      const error = await refused(() =>
        open('app', { storage: memory(), tables: tables as never }),
      );
      expect([kindOf(error), error.table]).toEqual([
        'invalid-argument',
        expect.stringMatching(/^[ab]$/),
      ]);
      expect(error.message).toMatch(/prefix .* is under that of [ab]/);
    }
  });

  it('have no name that a handle has, nor one that makes it a promise', async () => {
    const storage = memory();
    const db = await open('members', { storage });
    const snapshot = db.snapshot();
    const names = new Set(['', 'then', '__proto__', 'constructor', 'toString', 'hasOwnProperty']);
    const note = (handle: object) => {
      for (let at = handle; at !== null; at = Object.getPrototypeOf(at) as object) {
        for (const name of Object.getOwnPropertyNames(at)) names.add(name);
      }
    };
    note(db);
    note(snapshot);
    await db.transaction((tx) => note(tx));
    snapshot.close();
    await db.close();
    for (const name of ['put', 'connect', 'snapshot', 'deleteMany', 'close', 'root']) {
      expect(names).toContain(name);
    }
    for (const name of names) {
      const tables = Object.fromEntries([
        ['ok', one],
        [name, define({ key: 'id', prefix: '~' })],
      ]);
      if (name === '__proto__') {
        const value = define({ key: 'id', prefix: '~' });
        Object.defineProperty(tables, name, { value, enumerable: true });
      }
      const error = await refused(() => open('app', { storage, tables: tables as never }));
      expect([name, kindOf(error)]).toEqual([name, 'invalid-argument']);
      expect(error.message).toMatch(/no name for a table/);
      await destroy('app', { storage });
    }
  });

  it('whose indexes collide with others are refused', async () => {
    const tables = { issues: define(issues) } as never;
    const indexes = { 'issues.byState': { path: '/status' } };
    const error = await refused(() => open('app', { storage: memory(), tables, indexes }));
    expect(error).toEqual(named('invalid-argument', /issues\.byState/));
    for (const given of [null, 5, 'text', []]) {
      const other = await refused(() =>
        open('app', { storage: memory(), tables, indexes: given as never }),
      );
      expect([kindOf(other), other.message]).toEqual([
        'invalid-argument',
        expect.stringMatching(/indexes/),
      ]);
    }
  });

  it('take functions as calls', async () => {
    for (const name of ['onMigration', 'onOutdated']) {
      const options = { storage: memory(), tables: { issues: define(issues) }, [name]: 5 };
      const error = await refused(() => open('app', options as never));
      expect([kindOf(error), error.message]).toEqual([
        'invalid-argument',
        expect.stringContaining(name),
      ]);
    }
  });
});

/** Values that are no row, with the pointer of the error. */
