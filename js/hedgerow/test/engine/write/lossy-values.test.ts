/** Values that JSON would silently turn into `null` or `{}` are refused, with their place. */
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { memory, open, type Store } from '../../../src/index.js';
import {
  type Entry,
  expectSame,
  failure,
  refuses,
  storeOf,
} from '../../support/models/store-model.js';
import { forSeeds } from '../../support/property.js';

const holes = [1, 2, 3];
delete holes[1];

class Secret {
  readonly #inside = 5;
  get inside(): number {
    return this.#inside;
  }
}

/** Values that JSON loses in any place. */
const LOST: readonly (readonly [string, unknown])[] = [
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['a boxed NaN', { toJSON: () => Number.NaN }],
  ['a bigint', 5n],
  ['a Map', new Map([['a', 1]])],
  ['a Set', new Set([1])],
  ['a WeakMap', new WeakMap()],
  ['a Promise that nobody awaited', Promise.resolve(1)],
  ['a RegExp', /re/],
  ['an Error', new Error('lost')],
  ['a Blob', new Blob(['text'])],
  ['a File', new File(['text'], 'name.txt')],
  ['a Response', new Response('text')],
  ['URLSearchParams', new URLSearchParams('a=1')],
  ['an ArrayBuffer', new ArrayBuffer(4)],
  ['a DataView', new DataView(new ArrayBuffer(4))],
  ['an empty Float64Array', new Float64Array()],
  ['a Float64Array', new Float64Array(2)],
  ['a BigInt64Array', new BigInt64Array(1)],
  ['a class that keeps all to itself', new Secret()],
  ['an invalid Date', new Date(Number.NaN)],
  ['an object whose toJSON gives nothing', { toJSON: () => undefined }],
  ['a Map of another realm', runInNewContext('new Map([[1, 2]])')],
];

/** Values that JSON loses only within a value. */
const LOST_WITHIN: typeof LOST = [
  ['a Uint8Array', Uint8Array.of(1, 2)],
  ['an empty Uint8Array', new Uint8Array()],
  ['a Buffer', Buffer.from('text')],
];

/** Values that JSON loses in an array, and leaves out of an object. */
const LOST_IN_ARRAYS: typeof LOST = [
  ['undefined', undefined],
  ['a function', () => 1],
  ['a symbol', Symbol('s')],
];

const PLACES: readonly (readonly [pointer: string, around: (lost: unknown) => unknown])[] = [
  ['/a', (lost) => ({ a: lost })],
  ['/list/2', (lost) => ({ id: 'k', list: [1, null, lost, {}] })],
  ['/0/b', (lost) => [{ a: {}, b: lost }]],
  ['/a~1b/~0c/0', (lost) => ({ 'a/b': { '~c': [lost] } })],
  ['/', (lost) => ({ '': lost })],
  [
    '/at/in',
    (lost) => ({
      at: new (class Point {
        readonly x = 1;
        in = lost;
      })(),
    }),
  ],
];

/** The ways to write a value. */
const WAYS: Record<string, (db: Store, value: unknown) => Promise<unknown>> = {
  put: (db, value) => db.put('k', value),
  'putMany of pairs': (db, value) => db.putMany([['k', value]]),
  'putMany of a Map': (db, value) => db.putMany(new Map([['k', value]])),
  'putMany of async pairs': (db, value) =>
    db.putMany(
      (async function* (): AsyncGenerator<Entry> {
        yield ['k', value];
      })(),
    ),
  'putMany with a key function': (db, value) => db.putMany([value], { key: () => 'k' }),
  'applyPatch with put': (db, value) => db.applyPatch([{ op: 'put', key: 'k', value }]),
  'a transaction': (db, value) => db.transaction((tx) => tx.put('k', value)),
  'tryPut of a writer': async (db, value) => {
    const writer = db.writer();
    try {
      writer.tryPut('k', value);
    } finally {
      await writer.abort();
    }
  },
  'put of a writer': async (db, value) => {
    const writer = db.writer();
    await writer.put('k', value).finally(() => writer.abort());
  },
};

describe.each(Object.entries(WAYS))('%s refuses', (way, write) => {
  const code = way.startsWith('applyPatch') ? 'invalid-data/patch' : 'invalid-argument/value';
  const at = (pointer: string) => (way.startsWith('applyPatch') ? `/value${pointer}` : pointer);

  it.each(LOST)('%s as a value, and at every place in one', async (_, lost) => {
    const db = await storeOf([['k', 'before']]);
    const whole = failure(code, way.startsWith('applyPatch') ? {} : { pointer: '' });
    await refuses(db, () => write(db, lost), whole);
    for (const [pointer, around] of PLACES) {
      await refuses(db, () => write(db, around(lost)), failure(code, { pointer: at(pointer) }));
    }
  });

  it.each(LOST_WITHIN)('%s within a value', async (_, lost) => {
    const db = await storeOf([['k', 'before']]);
    for (const [pointer, around] of PLACES) {
      await refuses(db, () => write(db, around(lost)), failure(code, { pointer: at(pointer) }));
    }
  });

  it.each(LOST_IN_ARRAYS)('%s in an array', async (_, lost) => {
    const db = await storeOf([['k', 'before']]);
    for (const [pointer, value] of [
      ['/0', [lost]],
      ['/a/1/0', { a: [1, [lost], 2] }],
    ] as const) {
      await refuses(db, () => write(db, value), failure(code, { pointer: at(pointer) }));
    }
  });

  it('a hole in an array, and gives its place', async () => {
    const db = await storeOf([['k', 'before']]);
    const message = expect.stringContaining('/a/1') as unknown as string;
    await refuses(db, () => write(db, { a: holes }), failure(code, { message }));
  });

  it('an object that contains itself', async () => {
    const db = await storeOf([['k', 'before']]);
    const value: Record<string, unknown> = { a: 1, twice: {} };
    value.list = [value.twice, value.twice, { self: value, again: value }];
    await refuses(db, () => write(db, value), failure(code));
  });
});

it.each(LOST)('rows with a pointer to their key: %s is refused with its row', async (_, lost) => {
  const db = await storeOf([['k', 'before']]);
  const rows = [{ id: 'a' }, { id: 'b', in: [lost] }, { id: 'c' }];
  const error = failure('invalid-argument/value', { row: 1, pointer: '/in/0' });
  await refuses(db, () => db.putMany(rows, { key: '/id' }), error);
});

it.each(LOST)('an update of a patch: %s is refused with its operation', async (_, lost) => {
  const db = await storeOf([['k', { a: 1 }]]);
  const patch = [
    { op: 'delete', key: 'none' },
    { op: 'update', key: 'k', merge: { a: lost } },
  ] as const;
  const error = failure('invalid-data/patch', { row: 1, pointer: '/merge/a' });
  await refuses(db, () => db.applyPatch(patch), error);
});

it('the position of a value is its position in the whole source, far in', async () => {
  const db = await storeOf([['k', 'before']]);
  for (const at of [0, 4321, 29_999]) {
    const rows = Array.from({ length: 30_000 }, (_, row): Entry => [`k${row}`, { a: null, row }]);
    rows[at] = ['bad', { a: null, deep: [{}, { f: new Blob(['x']) }] }];
    const error = failure('invalid-argument/value', { row: at, pointer: '/deep/1/f' });
    await refuses(db, () => db.putMany(rows), error);
  }
});

it('a Blob is refused with advice how to store it, and the advice works', async () => {
  const db = await storeOf();
  const blob = new Blob(['text']);
  const message = expect.stringContaining('new Uint8Array(await') as unknown as string;
  await expect(db.put('file', blob)).rejects.toEqual(
    failure('invalid-argument/value', { message }),
  );
  await db.put('file', new Uint8Array(await blob.arrayBuffer()));
  expect(await db.get('file')).toEqual(new TextEncoder().encode('text'));
});

it('a lossy value that resolves a conflict is refused by its key', async () => {
  const db = await open('test', { storage: memory() });
  await db.putMany([
    ['a', 0],
    ['b', 0],
  ]);
  const draft = await db.branches.open('draft');
  await draft.put('b', 1);
  await db.put('b', 2);
  const { root } = db;
  const merging = db.branches.merge('draft', { onConflict: () => ({ list: [Number.NaN] }) });
  const message = expect.stringContaining('"b"') as unknown as string;
  await expect(merging).rejects.toEqual(
    failure('invalid-argument/value', { pointer: '/list/0', message }),
  );
  expect(db.root).toBe(root);
});

it('values that JSON keeps, or leaves out by its own rules, are accepted', async () => {
  class Money {
    readonly cents = 5;
    readonly hidden = undefined;
    format(): string {
      return `${this.cents}`;
    }
  }
  const given: [unknown, unknown][] = [
    [null, null],
    [{}, {}],
    [[], []],
    [
      { a: null, b: {}, c: [], d: [null, {}] },
      { a: null, b: {}, c: [], d: [null, {}] },
    ],
    [{ a: undefined, b: () => 1, c: Symbol('c'), [Symbol('d')]: 1 }, {}],
    [new Money(), { cents: 5 }],
    [{ at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
    [Object('boxed'), 'boxed'],
    [
      { a: Object(5), b: Object(false) },
      { a: 5, b: false },
    ],
    [Object.create(null), {}],
    [runInNewContext('({ a: {}, b: [null, {}] })'), { a: {}, b: [null, {}] }],
    [new URL('http://a/'), 'http://a/'],
    [{ toJSON: () => null }, null],
    [{ raw: Number.NaN, toJSON: () => 'whole' }, 'whole'],
    [
      { '0': 1, type: 'Buffer', data: [] },
      { '0': 1, type: 'Buffer', data: [] },
    ],
    [new Proxy({ a: [1] }, {}), { a: [1] }],
    ['null {} {"0":', 'null {} {"0":'],
    [{ null: '{}' }, { null: '{}' }],
  ];
  const db = await storeOf(given.map(([value], at): Entry => [`many${at}`, value]));
  for (const [at, [value, expected]] of given.entries()) {
    await db.put(`one${at}`, value);
    await db.transaction((tx) => tx.put(`tx${at}`, value));
    const found = await db.getMany([`many${at}`, `one${at}`, `tx${at}`]);
    expectSame(found, [expected, expected, expected], String(at));
  }
});

it('inherited members are ignored, as in JSON', async () => {
  const db = await storeOf();
  const value = Object.assign(Object.create({ lost: Number.NaN }), { a: 1 });
  await db.put('k', value);
  expect(await db.get('k')).toEqual({ a: 1 });
});

it('every value that JSON keeps whole is accepted: random values, some with planted losses', async () => {
  await forSeeds(40, async (from, _, begin) => {
    const db = await storeOf();
    const rows = Array.from({ length: 60 }, (_, at): Entry => [`k${at}`, { in: from.value(4) }]);
    const bad = from.below(2) === 0 ? undefined : from.below(rows.length);
    if (bad !== undefined) (rows[bad] as Entry)[1] = { in: [from.value(3), from.pick(LOST)[1]] };
    begin({ bad, row: rows[bad ?? 0] });
    const loading = db.putMany(rows);
    if (bad === undefined) {
      await loading;
      expectSame(
        await db.scan().values().toArray(),
        await db.getMany(await db.scan().keys().toArray()),
      );
      for (const [key, value] of rows)
        expectSame(await db.get(key), JSON.parse(JSON.stringify(value)), key);
    } else {
      const error = failure('invalid-argument/value', { row: bad, pointer: '/in/1' });
      await expect(loading).rejects.toEqual(error);
      expect(await db.count()).toBe(0);
    }
    await db.close();
  });
});
