/** Keys that are lists of values. */
import { describe, expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import { decodeKey, encodeKey, keyRange, type Scalar } from '../../../src/store/keys/index.js';
import { compareKeys, failure, storeOf } from '../../support/models/store-model.js';
import { forSeeds } from '../../support/property.js';
import type { Random } from '../../support/random.js';

const NUMBERS = [
  0,
  1,
  -1,
  0.5,
  5e-324,
  -5e-324,
  2 ** 53,
  1.7976931348623157e308,
  -1.7976931348623157e308,
];
const TEXTS = [
  '',
  '\0',
  '\x01',
  '\0\x01',
  '\x01\x02',
  'a',
  'a\0',
  '\x05',
  '～',
  '😀',
  '\u{10ffff}',
];

function somePart(from: Random): Scalar {
  const kind = from.below(10);
  if (kind === 0) return null;
  if (kind === 1) return from.next() < 0.5;
  if (kind < 4) return from.pick(NUMBERS);
  if (kind === 4) return (from.next() - 0.5) * 10 ** (from.below(600) - 300);
  if (kind === 5) return from.below(5);
  return kind < 8 ? from.pick(TEXTS) : from.text(5);
}

const someParts = (from: Random) => Array.from({ length: from.below(4) }, () => somePart(from));

const RANKS = ['null', 'boolean', 'number', 'string'];
const rank = (part: Scalar) => RANKS.indexOf(part === null ? 'null' : typeof part);

/** Compares lists in their documented order. */
function compareParts(a: readonly Scalar[], b: readonly Scalar[]): number {
  for (const [at, left] of a.entries()) {
    if (at === b.length) return 1;
    const right = b[at] as Scalar;
    if (rank(left) !== rank(right)) return rank(left) - rank(right);
    if (typeof left === 'string') {
      const order = compareKeys(left, right as string);
      if (order !== 0) return order;
    } else if (left !== right) return (left as number) < (right as number) ? -1 : 1;
  }
  return a.length - b.length;
}

describe('encoded keys', () => {
  it('have the order of their lists, and decode to them', async () => {
    await forSeeds(200, async (from, _, begin) => {
      const lists = Array.from({ length: 20 }, () => someParts(from));
      const keys = lists.map(encodeKey);
      begin(lists);
      expect(keys.map(decodeKey)).toEqual(lists);
      const sorted = keys.toSorted(compareKeys).map(decodeKey);
      expect(sorted).toEqual(lists.toSorted(compareParts));
    });
  });

  it('equal the columns of an index', async () => {
    const db = await open('columns', {
      storage: memory(),
      indexes: { by: { path: ['/a', '/b'] } },
    });
    const rows = [
      ['x', 2],
      ['x', -1],
      ['', 5],
      ['x\0', 0],
      ['😀', 1],
      ['～', 1],
      [true, 1],
      [3, 1],
    ] as Scalar[][];
    for (const [at, [a, b]] of rows.entries()) await db.put(`k${at}`, { a, b });
    const found = (await db.scan({ index: 'by' }).toArray()).map(
      ([, row]) => row as { a: Scalar; b: Scalar },
    );
    const byKeys = rows.toSorted((one, other) => compareKeys(encodeKey(one), encodeKey(other)));
    expect(found.map(({ a, b }) => [a, b])).toEqual(byKeys);
    await db.close();
  });

  it('are equal for -0 and 0, and empty for an empty list', () => {
    expect(encodeKey([-0])).toBe(encodeKey([0]));
    expect(decodeKey(encodeKey([-0]))).toEqual([0]);
    expect([encodeKey([]), decodeKey('')]).toEqual(['', []]);
  });

  it('are at most as long as keys', () => {
    const longest = 'a'.repeat(1022);
    expect(decodeKey(encodeKey([longest]))).toEqual([longest]);
    expect(() => encodeKey([`${longest}a`])).toThrow(failure('invalid-argument/key'));
  });

  it.each([
    ['undefined', [undefined]],
    ['NaN', [1, Number.NaN]],
    ['a bigint', [5n]],
    ['a Date', [new Date(0)]],
    ['half of a surrogate pair', ['\ud800']],
    ['a list within', [[1]]],
    ['a string instead of a list', 'ab'],
    ['nothing', undefined],
  ])('refuse %s', (_, parts) => {
    expect(() => encodeKey(parts as never)).toThrow(failure('invalid-argument/key'));
  });
});

describe('decodeKey', () => {
  it.each([
    ['a plain key', 'user/1'],
    ['an unknown tag', '\x06'],
    ['a string without an end', '\x05ab'],
    ['an escape without a kind', '\x05a\x01\0'],
    ['an escape of another kind', '\x05\x01\x03\0'],
    ['an end alone', '\0'],
    ['a short number', encodeKey([5]).slice(0, -1)],
    ['a number with too many bits', encodeKey([5]).replace('\x01', '\x03')],
    ['a group beyond 7 bits', `${encodeKey([5]).slice(0, -1)}\x80`],
    ['NaN', `\x04\x01${'\x7f'.repeat(9)}`],
    ['-0', `\x04\0${'\x7f'.repeat(9)}`],
    ['half of a surrogate pair', '\x05\ud800\0'],
    ['a key that is too long', `\x05${'a'.repeat(1023)}\0`],
    ['no string', 5],
  ])('refuses %s', (_, key) => {
    expect(() => decodeKey(key as string)).toThrow(failure('invalid-argument/key'));
  });

  it('returns a list with this key, or refuses', async () => {
    let sound = 0;
    await forSeeds(300, async (from, _, begin) => {
      for (let step = 0; step < 20; step++) {
        const key = encodeKey(someParts(from));
        const at = from.below(key.length + 1);
        const text =
          key.slice(0, at) +
          from.pick([...'\0\x01\x02\x03\x04\x05\x7f\x80a']) +
          key.slice(at + from.below(3));
        begin(text);
        try {
          expect(encodeKey(decodeKey(text))).toBe(text);
          sound += 1;
        } catch (cause) {
          expect(cause).toEqual(failure('invalid-argument/key'));
        }
      }
    });
    expect(sound).toBeGreaterThan(0);
  });
});

describe('keyRange', () => {
  it('has the keys that begin with the same values', async () => {
    await forSeeds(10, async (from, _, begin) => {
      const lists = Array.from({ length: 60 }, () => someParts(from));
      const db = await storeOf(lists.map((parts) => [encodeKey(parts), parts]));
      for (let step = 0; step < 10; step++) {
        const start = from.pick(lists).slice(0, 1 + from.below(2));
        if (start.length === 0) continue;
        begin(start);
        const wanted = new Set(
          lists
            .filter((parts) => compareParts(parts.slice(0, start.length), start) === 0)
            .map(encodeKey),
        );
        const found = await db.scan(keyRange(start)).toArray();
        expect(found.map(([key]) => key)).toEqual([...wanted].toSorted(compareKeys));
      }
      await db.close();
    });
  });

  it('refuses an empty list: it would mean all keys', () => {
    expect(() => keyRange([])).toThrow(failure('invalid-argument/key'));
  });

  it('takes bounds within', async () => {
    const lists: Scalar[][] = [
      ['a', 1],
      ['a', 2],
      ['a', 3],
      ['b', 2],
    ];
    const db = await storeOf(lists.map((parts) => [encodeKey(parts), parts]));
    const found = await db.scan({ ...keyRange(['a']), gte: encodeKey(['a', 2]) }).toArray();
    expect(found.map(([, parts]) => parts)).toEqual([
      ['a', 2],
      ['a', 3],
    ]);
  });
});
