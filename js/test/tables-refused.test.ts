/** What tables refuse: each wrong argument, definition and row, by an error that names the table, the key and the member. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { destroy, HedgerowError, memory, open, type Store } from '../src/index.js';
import { type StandardSchema, table } from '../src/tables/index.js';
import { expectSame } from './model.js';
import { line } from './one-line.js';

type Row = Record<string, unknown>;
/** A table, or a query, without types. */
// biome-ignore lint/suspicious/noExplicitAny: calls that TypeScript refuses
type Any = any;

const define = table as unknown as (definition: unknown) => unknown;

const issues = {
  key: 'id',
  indexes: {
    byState: ['status', 'modified'],
    byTitle: { columns: ['title'], nulls: false },
    byTag: ['tags'],
  },
};
const steps = { key: ['project', 'number', 'done'] };

const opened: Store[] = [];
afterEach(async () => {
  for (const db of opened.splice(0)) await db.close();
});

async function store(tables: object = { issues: define(issues), steps: define(steps) }, more = {}) {
  const db = await open('refused', { storage: memory(), tables: tables as never, ...more });
  opened.push(db);
  return db as Any;
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}
const circular: Row = { id: 'circular' };
circular.self = circular;

const NO_OBJECT = [null, 5, 5n, 'text', true, Symbol('s'), [], ['a'], undefined, () => ({})];
const NO_OPTIONS = [null, 'text', 5, 5n, true, [], new Map(), new Date(), revoked(), () => ({})];
const NO_SIGNAL = [null, 5, 'abort', {}, { aborted: false }];

/** The error of a call that must give a promise that rejects. */
async function refused(call: () => Promise<unknown>): Promise<HedgerowError> {
  let answer: Promise<unknown>;
  try {
    answer = call();
  } catch (cause) {
    throw new Error('it has thrown in the turn of its call', { cause });
  }
  expect(answer).toBeInstanceOf(Promise);
  const error = await answer.then(
    (value) => expect.fail(`it has resolved to ${String(value)}`),
    (cause: unknown) => cause,
  );
  if (!(error instanceof HedgerowError)) throw error;
  return error;
}

function thrown(call: () => unknown): HedgerowError {
  try {
    call();
  } catch (cause) {
    if (cause instanceof HedgerowError) return cause;
    throw cause;
  }
  return expect.fail('it has not thrown');
}

const named = (code: string, message: RegExp, facts: object = {}) =>
  expect.objectContaining({
    code,
    message: expect.stringMatching(message),
    table: 'issues',
    ...facts,
  });

describe('a definition', () => {
  it.each(NO_OBJECT.filter((one) => one !== undefined))(
    'is a plain object, not %s',
    (definition) => {
      const error = thrown(() => define(definition));
      expect([error.code, error.message]).toEqual([
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
      'with an index of the name of that of versions',
      { key: 'id', indexes: { '~v': ['a'] } },
      /~v/,
    ],
  ];
  it.each(wrong)('%s is refused, and nothing stays open', async (_, definition, message) => {
    const storage = memory();
    const options = { storage, tables: { issues: define(definition) } as never };
    const error = await refused(() => open('app', options));
    expect([error.code, error.table]).toEqual([
      expect.stringMatching(/^invalid-(argument|key)$/),
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
    expect(error.code).toBe('invalid-argument');
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
      expect([error.code, error.table]).toEqual([
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
    snapshot.release();
    await db.close();
    for (const name of ['put', 'release', 'snapshot', 'deleteMany', 'close', 'root']) {
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
      expect([name, error.code]).toEqual([name, 'invalid-argument']);
      expect(error.message).toMatch(/no name for a table/);
      await destroy('app', { storage });
    }
  });

  it('whose indexes meet others are refused', async () => {
    const tables = { issues: define(issues) } as never;
    const indexes = { 'issues.byState': { path: '/status' } };
    const error = await refused(() => open('app', { storage: memory(), tables, indexes }));
    expect(error).toEqual(named('invalid-argument', /issues\.byState/));
    for (const given of [null, 5, 'text', []]) {
      const other = await refused(() =>
        open('app', { storage: memory(), tables, indexes: given as never }),
      );
      expect([other.code, other.message]).toEqual([
        'invalid-argument',
        expect.stringMatching(/indexes/),
      ]);
    }
  });

  it('take functions as calls', async () => {
    for (const name of ['onMigration', 'onOutdated']) {
      const options = { storage: memory(), tables: { issues: define(issues) }, [name]: 5 };
      const error = await refused(() => open('app', options as never));
      expect([error.code, error.message]).toEqual([
        'invalid-argument',
        expect.stringContaining(name),
      ]);
    }
  });
});

/** What is no row, with the pointer of its error. */
const NO_ROWS: [row: unknown, code: string, message: RegExp, pointer: string | undefined][] = [
  ...NO_OBJECT.map((row) => [row, 'invalid-value', /row of a table is an object/, ''] as never),
  [{}, 'invalid-key', /the member id is undefined/, '/id'],
  [{ id: 5 }, 'invalid-key', /the member id is number.*key: \['id'\]/, '/id'],
  [{ id: 12n }, 'invalid-key', /the member id is bigint/, '/id'],
  [{ id: null }, 'invalid-key', /the member id is null/, '/id'],
  [{ id: ['a'] }, 'invalid-key', /the member id is Array/, '/id'],
  [{ id: 'x'.repeat(1100) }, 'invalid-key', /1024/, undefined],
  [{ id: '\ud800' }, 'invalid-key', /surrogate/, undefined],
  [{ id: 'a', '~v': 2 }, 'invalid-value', /no member ~v/, '/~0v'],
  [{ id: 'a', n: { x: Number.NaN } }, 'invalid-value', /NaN/, '/n/x'],
  [{ id: 'a', n: 5n }, 'invalid-value', /bigint/, '/n'],
  [{ id: 'a', set: new Set() }, 'invalid-value', /Set/, '/set'],
  [{ id: 'a', f() {} }, 'invalid-value', /function/, '/f'],
  [{ id: 'a', at: new Date(0) }, 'invalid-value', /values: 'structured'/, '/at'],
  [{ id: 'a', list: [{ s: Symbol('s') }] }, 'invalid-value', /symbol/, '/list/0/s'],
  [circular, 'invalid-value', /circular|too deep/, undefined],
];

describe('a row that is none', () => {
  const hasKey = (row: unknown) => typeof (row as Row | null)?.id === 'string';

  const titled = NO_ROWS.map((one) => [line(one[0]).slice(0, 60), ...one] as const);
  it.each(titled)('%s is refused by each call', async (_, row, code, message, pointer) => {
    const db = await store();
    await db.issues.put({ id: 'there', status: 'open' });
    const { root } = db;
    // The store checks what only it knows, once it gets the operation.
    const isOfTable =
      !/^.(1024|surrogate|NaN|bigint|Set).$/.test(String(message)) || pointer === '/id';
    const check = (error: HedgerowError, isKeyKnown = true) => {
      expect([error.code, error.table, error.message]).toEqual([
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
      expect((await refused(patch)).code).toBe('invalid-patch');
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
    // What returns nothing leaves the row as it is, and another key is refused before.
    const made = hasKey(row) ? { ...(row as Row), id: 'there' } : row;
    if (row != null && !/1024|surrogate/.test(String(message))) {
      check(await refused(() => db.issues.update('there', () => made)), false);
    }
    expect(db.root).toBe(root);
    expect(await db.issues.count()).toBe(1);
  });

  it('is named in bytes by its position', async () => {
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
      expect([error.code, error.row, error.table]).toEqual(['invalid-row', row, 'issues']);
    }
    for (const [bytes, code, row, pointer] of [
      [lines('{"project":"a","number":1}'), 'invalid-key', 0, '/done'],
      [lines('{"project":"a","number":1,"done":true}', '5'), 'invalid-value', 1, ''],
      [
        lines('[{"project":"a","number":1,"done":true},', '{"project":'),
        'invalid-row',
        1,
        undefined,
      ],
    ] as const) {
      const error = await refused(() => db.steps.putMany(bytes));
      expect([error.code, error.row, error.table, error.pointer]).toEqual([
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
    await vi.waitFor(() =>
      expect([...ended].sort()).toEqual(
        ['rows', 'later', 'bytes', 'parts', 'later parts', 'format', 'no part'].sort(),
      ),
    );
    const error = await refused(() => db.steps.putMany(later('aborted', bytes), { signal }));
    expect(error.code).toBe('aborted');
    // What a source throws is what the call rejects with.
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
    expect((await load).code).toBe('invalid-key');
    expect(await db.issues.count()).toBe(20);
  });
});

describe('a schema', () => {
  const schemaOf = (validate: (value: unknown) => unknown) =>
    ({ '~standard': { version: 1, vendor: 'test', validate } }) as StandardSchema<Row>;

  it('says what is wrong, with the pointer to it and all of its issues', async () => {
    const issuesOf = [
      { message: 'too short', path: ['list', 0, { key: 'a/b~' }] },
      { message: 'and this' },
    ];
    const schema = schemaOf((value) => ((value as Row).ok ? { value } : { issues: issuesOf }));
    const db = await store({ issues: define({ key: 'id', schema }) });
    const facts = { pointer: '/list/0/a~1b~0', issues: issuesOf, key: 'a' };
    const expected = named('invalid-value', /^issues "a": too short, and 1 more/, facts);
    expect(await refused(() => db.issues.put({ id: 'a' }))).toEqual(expected);
    expect(await refused(() => db.issues.insert({ id: 'a' }))).toEqual(expected);
    const bulk = { ...facts, row: 1 };
    for (const source of [
      [{ id: 'b', ok: 1 }, { id: 'a' }],
      new Blob(['{"id":"b","ok":1}\n{"id":"a"}']),
      new Blob(['[{"id":"b","ok":1},{"id":"a"}]']),
    ]) {
      const error = await refused(() => db.issues.putMany(source));
      expect(error).toEqual(named('invalid-value', /^issues "a": row 1: too short/, bulk));
    }
    await db.issues.put({ id: 'a', ok: true });
    const update = await refused(() => db.issues.update('a', { ok: undefined }));
    expect(update).toEqual(expected);
    expect(await db.issues.count()).toBe(1);
  });

  it('that answers later is refused', async () => {
    for (const answer of [
      async () => ({ value: {} }),
      async () => {
        throw new Error('unheard');
      },
      // biome-ignore lint/suspicious/noThenProperty: a promise of another library
      () => ({ then: (resolve: (value: unknown) => void) => resolve({ value: {} }) }),
    ]) {
      const db = await store({ issues: define({ key: 'id', schema: schemaOf(answer) }) });
      const expected = named('invalid-argument', /validates asynchronously/);
      expect(await refused(() => db.issues.put({ id: 'a' }))).toEqual(expected);
      expect(await refused(() => db.issues.putMany([{ id: 'a' }]))).toEqual(expected);
      await db.close();
    }
  });

  it('that throws is what a call rejects with', async () => {
    const own = new Error('of the schema');
    const schema = schemaOf(() => {
      throw own;
    });
    const db = await store({ issues: define({ key: 'id', schema }) });
    await expect(db.issues.put({ id: 'a' })).rejects.toBe(own);
    await expect(db.issues.putMany([{ id: 'a' }])).rejects.toBe(own);
    await expect(db.transaction((tx: Any) => tx.issues.put({ id: 'a' }))).rejects.toBe(own);
  });

  it('gives the row that is stored, and its key', async () => {
    const schema = schemaOf((value) => ({
      value: { ...(value as Row), id: `made-${(value as Row).id}` },
    }));
    const db = await store({ issues: define({ key: 'id', schema }) });
    await db.issues.put({ id: 'a' });
    await db.issues.putMany([{ id: 'b' }]);
    expect(await db.issues.toArray()).toEqual([{ id: 'made-a' }, { id: 'made-b' }]);
    const plain = await store({ issues: define({ key: 'id', schema, validate: false }) });
    await plain.issues.put({ id: 'a' });
    expect(await plain.issues.toArray()).toEqual([{ id: 'a' }]);
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

  it.each([...NO_KEYS, '\ud800', 'x'.repeat(1100)])('%o is none of a text', async (key) => {
    const db = await store();
    const message = typeof key === 'string' ? /^issues: .*(surrogate|1024)/ : /^issues: the key is/;
    const expected = named('invalid-key', message);
    using snapshot = db.snapshot();
    for (const place of [db.issues, snapshot.issues]) {
      for (const call of reads(place, key)) expect(await refused(call)).toEqual(expected);
    }
    expect(await refused(() => db.issues.delete(key))).toEqual(expected);
    expect(await refused(() => db.issues.deleteMany([key]))).toEqual(expected);
    if (typeof key !== 'string') {
      expect(await refused(() => db.issues.update(key, {}))).toEqual(expected);
      expect(thrown(() => db.issues.op.del(key))).toEqual(expected);
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
  ])('%o is none of three parts', async (key) => {
    const db = await store();
    for (const call of reads(db.steps, key)) {
      const error = await refused(call);
      expect([error.code, error.table]).toEqual(['invalid-key', 'steps']);
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
      expect({ ...error, table: 'issues', message: error.message, code: error.code }).toEqual(
        expected,
      );
    }
    for (const keys of [null, undefined, 5, 'text', later()]) {
      const error = await refused(() => db.issues.deleteMany(keys));
      expect([error.code, error.message]).toEqual([
        'invalid-argument',
        expect.stringMatching(/^issues(\.|: )deleteMany takes/),
      ]);
    }
  });

  it('are taken as they are at the call', async () => {
    const db = await store();
    await db.issues.putMany(Array.from({ length: 5000 }, (_, at) => ({ id: `${at}` })));
    const keys = Array.from({ length: 5000 }, (_, at) => `${at}`);
    const reading = db.issues.getMany(keys);
    keys.fill('none');
    expect((await reading).every((row: unknown) => row !== undefined)).toBe(true);
  });
});

describe('an insert, an update and a delete', () => {
  it('refuse a row that exists, a change of the key, and what is no change', async () => {
    const db = await store();
    await db.issues.put({ id: 'a' });
    await db.steps.put({ project: 'a', number: 1, done: true });
    const there = await refused(() => db.issues.insert({ id: 'a' }));
    expect(there).toEqual(named('exists', /^issues has a row "a" already/, { key: 'a' }));
    const step = await refused(() => db.steps.insert({ project: 'a', number: 1, done: true }));
    expect([step.code, step.table, step.key]).toEqual(['exists', 'steps', '["a",1,true]']);
    const moved = await refused(() => db.issues.update('a', { id: 'b' }));
    expect(moved).toEqual(
      named('invalid-value', /^issues "a": .*cannot change the key/, { key: 'a' }),
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

  it('of many delete nothing for a condition that is undefined', async () => {
    const db = await store();
    await db.issues.put({ id: 'a', status: 'open' });
    for (const conditions of [{}, { status: undefined }]) {
      const expected = named('invalid-argument', /^issues: deleteMany needs a condition/);
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
      /between: status needs both/,
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
      /live needs an index/,
    ],
  ];
  it.each(wrong)('with %s throws at once', async (_, call, message) => {
    const db = await store();
    const error = thrown(() => call(db.issues));
    expect([error.code, error.message]).toEqual([
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
    '\ud800',
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
    ['an order that nothing has, scanned', (rows) => rows.orderBy('other').scan(), /'other'/],
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
      'a start of half a character',
      (rows) => rows.where({ status: { startsWith: '\ud83d' } }),
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
      expect([error.code, error.table]).toEqual([
        expect.stringMatching(/^invalid-(argument|key)$/),
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
      expect(error.code).toBe('invalid-argument');
    }
    expect(db.root).toBe(root);
  });

  it('number rows from 0', async () => {
    const db = await store();
    for (const n of [null, undefined, -1, 0.5, '1', Number.NaN, {}]) {
      const error = await refused(() => db.issues.at(n));
      expect([error.code, error.message]).toEqual([
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
      expect((await refused(() => on.putMany(source))).code).toBe('invalid-argument');
    }
    expect((await refused(() => on.putMany([row], { format: 'json' }))).code).toBe(
      'invalid-argument',
    );
    const response = new Response('no', { status: 500 });
    expect(await refused(() => on.putMany(response))).toMatchObject({
      code: 'bad-response',
      status: 500,
    });
    for (const empty of [[], new Set(), new Uint8Array(), new Blob([]), new Response('')]) {
      expect(await on.putMany(empty)).toMatchObject({ rows: 0 });
    }
  }
  expect(await db.count()).toBe(0);
});

it('a load tells how far it is', async () => {
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
