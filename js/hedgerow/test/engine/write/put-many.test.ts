/** The sources of `putMany`, and the rows that it stores. */
import { describe, expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import {
  all,
  type Entry,
  expectSame,
  failure,
  refuses,
  sorted,
  storeOf,
} from '../../support/models/store-model.js';
import { forSeeds, sampled } from '../../support/property.js';
import { random } from '../../support/random.js';

const PAIRS: Entry[] = [
  ['b', { n: 1 }],
  ['a', [2]],
  ['c', Uint8Array.of(3)],
];

async function* slowly<T>(items: Iterable<T>, every = 1): AsyncGenerator<T> {
  let count = 0;
  for (const item of items) {
    if (count++ % every === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    yield item;
  }
}

/** More rows than fit in one block; every third key is repeated. */
function manyPairs(count = 30_000): Entry[] {
  return Array.from({ length: count }, (_, at): Entry => {
    const id = at % 3 === 0 ? at : (at * 7919) % count;
    return [`k${String(id).padStart(6, '0')}`, at % 500 === 0 ? Uint8Array.of(at) : { at, id }];
  });
}

describe('putMany takes pairs from', () => {
  const sources: [string, () => Iterable<Entry> | AsyncIterable<Entry>][] = [
    ['an array', () => PAIRS],
    ['a frozen array', () => Object.freeze([...PAIRS])],
    ['a Map', () => new Map(PAIRS)],
    ['a Set', () => new Set(PAIRS)],
    ['entries of a Map', () => new Map(PAIRS).entries()],
    ['an iterator of an array', () => PAIRS.values()],
    [
      'a generator',
      () =>
        (function* () {
          yield* PAIRS;
        })(),
    ],
    ['an async generator', () => slowly(PAIRS)],
    [
      'an async generator that does not wait',
      () =>
        (async function* () {
          yield* PAIRS;
        })(),
    ],
    ['an object with a plain iterator', () => ({ [Symbol.iterator]: () => PAIRS.values() })],
    ['a scan of another store', () => ({ [Symbol.asyncIterator]: () => scanOfPairs() })],
  ];
  const scanOfPairs = () =>
    (async function* () {
      yield* (await storeOf(PAIRS)).scan();
    })();

  for (const [title, source] of sources) {
    it(title, async () => {
      const db = await storeOf();
      const result = await db.putMany(source());
      expectSame(await all(db), sorted(PAIRS));
      expect(result).toMatchObject({ root: db.root, rows: 3 });
      expect(db.root).toBe((await storeOf(PAIRS)).root);
    });
  }

  it('no array longer than a pair, as objects and as bytes', async () => {
    const db = await storeOf();
    const rows = [
      ['a', 1],
      ['b', 1, 'more'],
    ];
    const refused = failure('invalid-data/row', { row: 1 });
    await refuses(db, () => db.putMany(rows as Entry[]), refused);
    const bytes = new TextEncoder().encode(JSON.stringify(rows));
    await refuses(db, () => db.putMany(bytes), refused);
  });

  it('a web stream', async () => {
    const db = await storeOf();
    const stream = new ReadableStream<Entry>({
      start(controller) {
        for (const pair of PAIRS) controller.enqueue(pair);
        controller.close();
      },
    });
    await db.putMany(stream as AsyncIterable<Entry>);
    expectSame(await all(db), sorted(PAIRS));
  });
});

describe('putMany finds the key of a row', () => {
  const cases: [string, string | ((row: never) => string), [string, object][]][] = [
    [
      'at a pointer',
      '/id',
      [
        ['b', { id: 'b' }],
        ['a', { x: 1, id: 'a' }],
      ],
    ],
    [
      'at a nested pointer',
      '/a/b',
      [
        ['k', { a: { b: 'k' } }],
        ['j', { a: { c: 1, b: 'j' } }],
      ],
    ],
    ['at an escaped slash', '/a~1b', [['k', { 'a/b': 'k', a: { b: 'no' } }]]],
    ['at an escaped tilde', '/~0', [['k', { '~': 'k' }]]],
    ['at an escaped tilde before a one', '/~01', [['k', { '~1': 'k', '/': 'no' }]]],
    ['at the empty name', '/', [['k', { '': 'k' }]]],
    ['at two empty names', '//', [['k', { '': { '': 'k' } }]]],
    ['in an array', '/ids/1', [['k', { ids: ['no', 'k'] }]]],
    ['in an object whose name is a number', '/ids/1', [['k', { ids: { 1: 'k' } }]]],
    [
      'in a row that is an array',
      '/0',
      [
        ['k', ['k', 1]],
        ['j', ['j']],
      ],
    ],
    ['at a name like that of a method', '/constructor', [['k', { constructor: 'k' }]]],
    ['at __proto__', '/__proto__', [['k', JSON.parse('{"__proto__":"k"}') as object]]],
    ['at a name in other script', '/名前', [['鍵', { 名前: '鍵' }]]],
    ['at a name that JSON escapes', '/"\n', [['k', { '"\n': 'k' }]]],
    [
      'with a function',
      (row: { n: number }) => `n${row.n}`,
      [
        ['n1', { n: 1 }],
        ['n2', { n: 2 }],
      ],
    ],
  ];
  for (const [title, key, rows] of cases) {
    it(title, async () => {
      const db = await storeOf();
      await db.putMany(
        rows.map(([, row]) => row),
        { key: key as never },
      );
      expectSame(await all(db), sorted(rows));
      await db.putMany(slowly(rows.map(([, row]) => row)), { key: key as never, prefix: 'p/' });
      expectSame(
        await db.scan({ prefix: 'p/' }).toArray(),
        sorted(rows.map(([found, row]) => [`p/${found}`, row])),
      );
    });
  }

  it('in the whole row, with the empty pointer', async () => {
    const db = await storeOf();
    await db.putMany(['b', 'a'], { key: '' });
    expect(await all(db)).toEqual([
      ['a', 'a'],
      ['b', 'b'],
    ]);
  });

  it('in bytes, with a function', async () => {
    const db = await storeOf();
    await db.putMany([Uint8Array.of(2), Uint8Array.of(1)], { key: (row) => `b${row[0]}` });
    expect(await all(db)).toEqual([
      ['b1', Uint8Array.of(1)],
      ['b2', Uint8Array.of(2)],
    ]);
  });

  it('and calls the function once for each row, in order', async () => {
    const seen: number[] = [];
    const db = await storeOf();
    const key = (row: number) => {
      seen.push(row);
      return `${row}`;
    };
    await db.putMany([5, 3, 4], { key });
    expect(seen).toEqual([5, 3, 4]);
  });

  it('and adds a prefix, also to keys of pairs', async () => {
    const db = await storeOf();
    await db.putMany(
      [
        ['', 0],
        ['a', 1],
      ],
      { prefix: '中/' },
    );
    await db.putMany([['z', 2]], { prefix: '' });
    expect(await all(db)).toEqual([
      ['z', 2],
      ['中/', 0],
      ['中/a', 1],
    ]);
  });
});

describe('the last of equal keys wins', () => {
  it('in one block', async () => {
    const db = await storeOf([
      ['a', 1],
      ['b', 1],
      ['a', 2],
      ['a', Uint8Array.of(3)],
      ['b', 2],
    ]);
    expect(await all(db)).toEqual([
      ['a', Uint8Array.of(3)],
      ['b', 2],
    ]);
    expect(await db.count()).toBe(2);
  });

  it('across blocks, from any source, ascending or not, into an empty store or not', async () => {
    const pairs = manyPairs();
    const orders = [
      pairs,
      [...pairs].reverse(),
      [...sorted(pairs), ...sorted(pairs.slice(0, 999))],
    ];
    for (const order of sampled(orders, 3)) {
      const expected = sorted(order);
      const [empty, taken, slow] = await Promise.all([storeOf(), storeOf(PAIRS), storeOf()]);
      await empty.putMany(order);
      await taken.putMany(order);
      await slow.putMany(slowly(order, 700));
      expectSame(await all(empty), expected);
      expectSame(await all(taken), sorted([...PAIRS, ...order]));
      expect(slow.root).toBe(empty.root);
    }
  });

  it('when all rows have the same key', async () => {
    const db = await storeOf();
    const result = await db.putMany(Array.from({ length: 25_000 }, (_, at): Entry => ['k', at]));
    expect(result.rows).toBe(25_000);
    expect(await all(db)).toEqual([['k', 24_999]]);
    expect(db.root).toBe((await storeOf([['k', 24_999]])).root);
  });

  it('when large values are repeated', async () => {
    const from = random(3);
    const rows = Array.from({ length: 60 }, (_, at): Entry => [`k${at % 7}`, from.bytes(50_000)]);
    expectSame(await all(await storeOf(rows)), sorted(rows));
  });
});

it('an empty source leaves the store as it was', async () => {
  for (const db of [await storeOf(), await storeOf(PAIRS)]) {
    const [root, before] = [db.root, await all(db)];
    for (const source of [[], new Map<string, 1>(), slowly<Entry>([])]) {
      const result = await db.putMany(source);
      expect(result).toMatchObject({ rows: 0, root, stats: { chunks: 0 } });
      expect(db.root).toBe(root);
      expectSame(await all(db), before);
    }
  }
});

it('putMany adds rows, and keeps the others', async () => {
  await forSeeds(8, async (from, _, begin) => {
    const db = await storeOf();
    const model = new Map<string, unknown>();
    for (let round = 0; round < 6; round++) {
      const rows = Array.from({ length: from.pick([1, 10, 500, 4000]) }, (): Entry => {
        const value = from.next() < 0.05 ? from.bytes(from.below(9000)) : from.below(100);
        return [`k${from.below(5000)}`, value];
      });
      begin({ putMany: rows.length });
      await db.putMany(rows);
      for (const [key, value] of rows) model.set(key, value);
      expectSame(await all(db), sorted(model));
      expect(await db.count()).toBe(model.size);
    }
  });
});

it('many stores load at the same time', async () => {
  const storage = memory();
  const pairs = manyPairs(10_000);
  const stores = await Promise.all(['a', 'b', 'c', 'd'].map((name) => open(name, { storage })));
  await Promise.all(stores.map((db, at) => db.putMany(pairs.slice(at))));
  for (const [at, db] of stores.entries()) expectSame(await all(db), sorted(pairs.slice(at)));
});
