/** The form and the order of keys. */
import { describe, expect, it } from 'vitest';
import type { ScanOptions } from '../../../src/engine/read/scan-options.js';
import { HedgerowError } from '../../../src/index.js';
import {
  all,
  defined,
  type Entry,
  expectSame,
  failure,
  refuses,
  select,
  sorted,
  storeOf,
} from '../../support/models/store-model.js';
import { forSeeds } from '../../support/property.js';

const OF_OBJECTS = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'toJSON', 'length'];

const AWKWARD = [
  ...['', ' ', '\0', '\0\0', '\x01', '\t', '\n', '\r', '\x1f', '\x7f', '\x80', '\x9f'],
  ...['"', '\\', '/', "'", '`', '\\u0000', '\\"', '"]', '[', '{}', ',', ':', '$', '%', '~', '~1'],
  ...['\u2028', '\u2029', '\ufeff', '\ufffe', '\uffff', '\ufffd', '\u200d', '\u202e'],
  ...['0', '1', '10', '2', '-1', '1e3', '01', 'null', 'true', 'undefined', 'NaN'],
  ...['a', 'A', 'b', 'aa', 'a\0', 'a\0b', 'a b', 'ä', 'a\u0308', 'Å', '\u212b', 'ß', 'ẞ', 'ı', 'İ'],
  ...['Ελλάδα', 'Кыргызстан', 'עברית', 'العربية', 'فارسی', 'हिन्दी', 'বাংলা', 'தமிழ்', 'ไทย'],
  ...['ລາວ', 'བོད་ཡིག', 'မြန်မာ', 'ქართული', 'Հայերեն', 'አማርኛ', 'ភាសាខ្មែរ', 'ᏣᎳᎩ', 'ᐃᓄᒃᑎᑐᑦ', '日本語'],
  ...[
    '中文',
    '한국어',
    '\u1112\u1161\u11ab',
    '～',
    '😀',
    '👩‍👩‍👧',
    '🇬🇪',
    '𝄞',
    '𐍈',
    '𓀀',
    '𠀀',
    '\u{10ffff}',
    '\ud7ff',
    '\ue000',
  ],
  ...OF_OBJECTS,
];

describe('keys of every kind', () => {
  const entries = sorted(AWKWARD.map((key, at): Entry => [key, { at, key }]));

  it('are kept and sorted by their bytes in UTF-8 when put in one go', async () => {
    const db = await storeOf(entries.toReversed());
    expectSame(await all(db), entries);
    expectSame(
      await db.scan({ reverse: true }).keys().toArray(),
      entries.map(([k]) => k).reverse(),
    );
    expectSame(
      await db.getMany(entries.map(([key]) => key)),
      entries.map(([, value]) => value),
    );
  });

  it('are kept when put one by one, and found by every read', async () => {
    const db = await storeOf();
    for (const [key, value] of entries) await db.put(key, value);
    expectSame(await all(db), entries);
    for (const [key, value] of entries) {
      expectSame(await db.get(key), value, key);
      expect(await db.has(key), key).toBe(true);
      expect(await db.count({ gte: key, lte: key }), key).toBe(1);
      for (const range of [
        { prefix: key || ' ' },
        { gt: key },
        { gte: key },
        { lt: key },
        { lte: key },
      ]) {
        expectSame(await db.scan(range).toArray(), select(entries, range), JSON.stringify(range));
      }
    }
  });

  it('are kept as members of rows, with a pointer to them', async () => {
    const db = await storeOf();
    await db.putMany(
      AWKWARD.map((id) => ({ id })),
      { key: '/id' },
    );
    expectSame(
      await all(db),
      entries.map(([id]): Entry => [id, { id }]),
    );
  });

  it('can be deleted', async () => {
    const db = await storeOf(entries);
    for (const [key] of entries) {
      await db.delete(key);
      expect(await db.get(key), key).toBeUndefined();
    }
    expect(await all(db)).toEqual([]);
  });
});

it('U+FF5E sorts before an emoji', async () => {
  const db = await storeOf([
    ['😀', 1],
    ['～', 2],
  ]);
  expect(await db.scan().keys().toArray()).toEqual(['～', '😀']);
  expect(await db.scan({ gt: '～' }).keys().toArray()).toEqual(['😀']);
  expect(await db.scan({ lt: '😀' }).keys().toArray()).toEqual(['～']);
});

it('a prefix ends between characters, never inside one', async () => {
  const db = await storeOf([
    ['\u{1f600}', 1],
    ['\u{1f601}', 2],
    ['é', 3],
    ['è', 4],
  ]);
  expect(await db.scan({ prefix: '\u{1f600}' }).keys().toArray()).toEqual(['\u{1f600}']);
  expect(await db.scan({ prefix: 'é' }).keys().toArray()).toEqual(['é']);
});

it('a prefix of the largest character has an end', async () => {
  const top = '\u{10ffff}';
  const db = await storeOf([
    ['z', 0],
    [top, 1],
    [top + top, 2],
    [`${top}a`, 3],
  ]);
  expect(await db.scan({ prefix: top }).keys().toArray()).toEqual([top, `${top}a`, top + top]);
});

describe('the longest key', () => {
  const longest: [string, string][] = [
    ['of one byte each', 'x'.repeat(1024)],
    ['of two bytes each', 'é'.repeat(512)],
    ['of three bytes each', `${'中'.repeat(341)}x`],
    ['of four bytes each', '😀'.repeat(256)],
    ['of characters that JSON escapes', '\0'.repeat(1024)],
    ['mixed', `${'中'.repeat(300)}${'x'.repeat(124)}`],
  ];

  for (const [title, key] of longest) {
    it(`may have 1024 bytes, ${title}`, async () => {
      expect(Buffer.byteLength(key)).toBe(1024);
      const db = await storeOf([[key, 1]]);
      await db.put(key, 2);
      expect(await all(db)).toEqual([[key, 2]]);
      expect(await db.get(key)).toBe(2);
      expect(await db.getMany([key])).toEqual([2]);
      expect(await db.has(key)).toBe(true);
      expect(await db.count({ gte: key, lte: key, prefix: key })).toBe(1);
      await db.delete(key);
      expect(await db.count()).toBe(0);
    });

    it(`may not have 1025 bytes, ${title}`, async () => {
      const db = await storeOf([['a', 1]]);
      const long = `${key}y`;
      const error = failure('invalid-argument/key');
      const atRow = failure('invalid-argument/key', { row: 1 });
      const rows: Entry[] = [
        ['b', 1],
        [long, 1],
      ];
      await refuses(db, () => db.put(long, 1), error);
      await refuses(db, () => db.delete(long), error);
      await refuses(db, () => db.get(long), error);
      await refuses(db, () => db.has(long), error);
      await refuses(db, () => db.getMany(['a', long]), atRow);
      await refuses(db, () => db.putMany(rows), atRow);
      await refuses(db, () => db.putMany([{ id: 'b' }, { id: long }], { key: '/id' }), atRow);
      await refuses(db, () => db.putMany(['b', long], { key: (row) => row }), atRow);
      await refuses(db, () => db.putMany(['b', key], { key: (row) => row, prefix: 'y' }), atRow);
    });
  }
});

describe('a key is refused that is', () => {
  const notKeys: [string, unknown][] = [
    ['a number', 5],
    ['null', null],
    ['undefined', undefined],
    ['a boolean', true],
    ['a symbol', Symbol('key')],
    ['an object', {}],
    ['an array', ['a']],
    ['a String', Object('a')],
    ['a bigint', 5n],
    ['a function', () => 'a'],
    ['an object without a prototype', Object.create(null)],
    ['half of a surrogate pair', '\ud83d'],
    ['the other half', 'a\ude00b'],
    ['two halves in the wrong order', '\ude00\ud83d'],
    ['half a pair after a whole one', '😀\ud83d'],
  ];

  for (const [title, key] of notKeys) {
    it(title, async () => {
      const db = await storeOf([['a', 1]]);
      const bad = key as string;
      const error = failure('invalid-argument/key');
      const atRow = failure('invalid-argument/key', { row: 2 });
      await refuses(db, () => db.put(bad, 1), error);
      await refuses(db, () => db.delete(bad), error);
      await refuses(db, () => db.get(bad), error);
      await refuses(db, () => db.has(bad), error);
      await refuses(db, () => db.getMany(['a', 'b', bad]), atRow);
      const pairs = [
        ['b', 1],
        ['c', 1],
        [bad, 1],
        ['d', 1],
      ] as Entry[];
      await refuses(db, () => db.putMany(pairs), atRow);
      await refuses(db, () => db.putMany(pairs, { key: (row) => row[0] }), atRow);
      // In rows that become JSON as a whole, a String is a string, and a bigint is refused as a value.
      if (typeof bad !== 'bigint' && !((bad as unknown) instanceof String)) {
        const rows = pairs.map(([id]) => ({ id }));
        await refuses(db, () => db.putMany(rows, { key: '/id' }), atRow);
      }
    });
  }
});

it('an error of a key is a HedgerowError that cannot be retried', async () => {
  const db = await storeOf();
  const error = await db.put(5 as never, 1).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(HedgerowError);
  expect(error).toBeInstanceOf(Error);
  expect((error as HedgerowError).retryable).toBe(false);
  expect((error as HedgerowError).row).toBeUndefined();
  expect(String(error)).toContain('invalid-argument/key');
});

it('the error of a bad key has its position in the whole source', async () => {
  const db = await storeOf([['a', 1]]);
  for (const at of [0, 5000, 29_999]) {
    const rows = Array.from({ length: 30_000 }, (_, row): Entry => [`k${row}`, row]);
    for (const bad of ['\ud800', 5 as never, 'x'.repeat(1025)]) {
      rows[at] = [bad, 1];
      await refuses(db, () => db.putMany(rows), failure('invalid-argument/key', { row: at }));
      const objects = rows.map(([id]) => ({ id }));
      await refuses(
        db,
        () => db.putMany(objects, { key: '/id' }),
        failure('invalid-argument/key', { row: at }),
      );
    }
  }
});

it('random keys are sorted as the model sorts them', async () => {
  await forSeeds(20, async (from, _, begin) => {
    const entries = Array.from({ length: 300 }, (_, at): Entry => [from.text(5), at]);
    const db = await storeOf(entries);
    const expected = sorted(entries);
    expectSame(await all(db), expected);
    for (let round = 0; round < 20; round++) {
      const options: ScanOptions = defined({
        prefix: from.pick([undefined, from.text(1)]) || undefined,
        gte: from.pick([undefined, from.text(3)]),
        lt: from.pick([undefined, from.text(3)]),
      });
      begin(options);
      expectSame(await db.scan(options).toArray(), select(expected, options));
    }
  });
});
