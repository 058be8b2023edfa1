import { describe, expect, it } from 'vitest';
import { decodeStructured } from '../../../src/store/tables/values/decode-structured.js';
import { encodeStructured } from '../../../src/store/tables/values/encode-structured.js';
import { StoredFile } from '../../../src/store/tables/values/stored-file.js';
import { expectSame, failure, storeOf, thrown } from '../../support/models/store-model.js';
import { forSeeds } from '../../support/property.js';
import type { Random } from '../../support/random.js';
import { expectEqual, permuted, someValue, stored } from './structured-values.js';

const bytes = Uint8Array.of(0, 1, 254, 255);
const named = new StoredFile(Uint8Array.of(1, 2), '~a.png', 'image/png', 1_700_000_000_000);

/** The examples of `docs/values.md`. */
const FORMS: readonly (readonly [unknown, unknown])[] = [
  ['plain', 'plain'],
  ['~tilde', '~~tilde'],
  ['', ''],
  [-0, 0],
  [1.5, 1.5],
  [
    [true, null],
    [true, null],
  ],
  [new Date(0), '~t1970-01-01T00:00:00.000Z'],
  [new Date(-62167219200000), '~t0000-01-01T00:00:00.000Z'],
  [new Date(253402300799999), '~t9999-12-31T23:59:59.999Z'],
  [12345678901234567890n, '~n12345678901234567890'],
  [-1n, '~n-1'],
  [Number.NaN, '~zNaN'],
  [Number.POSITIVE_INFINITY, '~zINF'],
  [Number.NEGATIVE_INFINITY, '~z-INF'],
  [undefined, '~U'],
  [[undefined], ['~U']],
  [[bytes], ['~bAAH+/w==']],
  [new Set(['b', 'a', '~']), ['~#set', 'b', 'a', '~~']],
  [
    new Map<unknown, unknown>([
      ['b', 1n],
      [{ b: 1, a: 2 }, 'x'],
    ]),
    ['~#cmap', 'b', '~n1', { a: 2, b: 1 }, 'x'],
  ],
  [named, ['~#file', 'AQI=', '~a.png', 'image/png', 1_700_000_000_000]],
  [new StoredFile(bytes), ['~#file', 'AAH+/w==', '', '', null]],
  [
    ['~#set', 1],
    ['~~#set', 1],
  ],
  [
    { due: undefined, at: new Date(0) },
    { at: '~t1970-01-01T00:00:00.000Z', '~U': ['due'] },
  ],
  [
    { '~x': 1, '~~U': undefined },
    { '~x': 1, '~U': ['~~~U'] },
  ],
];

describe('structured values', () => {
  it.each(FORMS)('%o has the form %o', (value, form) => {
    expect(JSON.stringify(encodeStructured(value))).toBe(JSON.stringify(form));
    const kept = Object.is(value, -0) ? 0 : value;
    expectEqual(decodeStructured(stored(value)), kept);
  });

  it('come back as they were, and have one form', async () => {
    await forSeeds(300, async (from, _, begin) => {
      for (let step = 0; step < 20; step++) {
        const value = someValue(from);
        begin(value);
        const before = encodeStructured(value);
        const form = JSON.stringify(before);
        const back = decodeStructured(stored(value));
        expectEqual(back, value);
        if (value instanceof Uint8Array) continue;
        expect(JSON.stringify(encodeStructured(back))).toBe(form);
        expect(JSON.stringify(encodeStructured(permuted(from, value)))).toBe(form);
        expectEqual(decodeStructured(JSON.parse(form)), value);
      }
    });
  });

  it('sort members by units of UTF-16, behind whole numbers', () => {
    const value = { b: 1, '～': 2, '😀': 3, a: 4, 10: 5, 9: 6, B: 7, '!': 8 };
    const form = '{"9":6,"10":5,"!":8,"B":7,"a":4,"b":1,"😀":3,"～":2}';
    expect(JSON.stringify(encodeStructured(value))).toBe(form);
  });

  it('leave the value as it was', () => {
    const plain = { a: [1, { b: 'x' }], c: 'y' };
    const mixed = Object.freeze({
      at: new Date(5),
      of: Object.freeze({ z: 1, a: undefined }),
      plain,
    });
    const form = encodeStructured(mixed) as typeof mixed;
    expect(form).toEqual({ at: '~t1970-01-01T00:00:00.005Z', of: { z: 1, '~U': ['a'] }, plain });
    expect(Object.keys(mixed.of)).toEqual(['z', 'a']);
    expect(mixed.at).toEqual(new Date(5));
  });

  it('keep the present members with any prototype', () => {
    const bare = Object.assign(Object.create(null), { b: 1, a: new Date(7) });
    expectEqual(decodeStructured(stored(bare)), { a: new Date(7), b: 1 });
    const prototype = Object.prototype as Record<string, unknown>;
    prototype.polluted = '~zNaN';
    prototype.more = { deep: '~zNaN' };
    try {
      const back = decodeStructured(stored({ a: 1, at: new Date(1) })) as object;
      expect(Object.keys(back)).toEqual(['a', 'at']);
      expect(prototype.polluted).toBe('~zNaN');
      expect(prototype.more).toEqual({ deep: '~zNaN' });
    } finally {
      delete prototype.polluted;
      delete prototype.more;
    }
  });

  it('keep values of bytes alone as bytes', () => {
    expect(encodeStructured(bytes)).toBe(bytes);
    expect(decodeStructured(bytes)).toBe(bytes);
  });

  it('are read after a merge of a set and an unset of the same part', () => {
    const merged = { a: 1, due: '~t1970-01-01T00:00:00.000Z', '~U': ['due', 'owner'] };
    expectEqual(decodeStructured(merged), { a: 1, due: new Date(0), owner: undefined });
  });

  it('pass through a store', async () => {
    const row = { id: 'a', at: new Date(5), of: new Map([[new Date(1), new Set([1n])]]), b: bytes };
    const db = await storeOf([['k', encodeStructured(row)]]);
    expectEqual(decodeStructured(await db.get('k')), row);
    const [first] = await db.scan().toArray();
    expectEqual(decodeStructured(first?.[1]), row);
    const other = await storeOf([
      ['k', encodeStructured(permuted({ shuffle: reversed } as Random, row))],
    ]);
    expect(other.root).toBe(db.root);
    await db.put('k', encodeStructured({ ...row, at: new Date(6) }));
    expect(other.root).not.toBe(db.root);
  });

  it('are as deep as the store takes them', async () => {
    const nest = (depth: number, around: (inner: unknown) => unknown, inner: unknown) => {
      let value = inner;
      for (let at = 0; at < depth; at++) value = around(value);
      return value;
    };
    const db = await storeOf();
    for (const around of [
      (inner: unknown) => [inner],
      (inner: unknown) => ({ z: 1, a: inner }),
      (inner: unknown) => new Set([inner]),
      (inner: unknown) => new Map([[inner, 1]]),
    ]) {
      const deepest = nest(512, around, 1n);
      await db.put('k', encodeStructured(deepest));
      expectEqual(decodeStructured(await db.get('k')), deepest);
      expect(() => encodeStructured(nest(513, around, 1n))).toThrow(/nested deeper than 512/);
    }
    // A value that is stored as a list counts as one.
    await db.put('k', encodeStructured(nest(511, (inner) => [inner], named)));
    expect(() => encodeStructured(nest(512, (inner) => [inner], named))).toThrow(/deeper than 512/);
    await db.put('k', encodeStructured(nest(512, (inner) => [inner], new Date(0))));
    const unset = nest(510, (inner) => [inner], { a: undefined });
    await db.put('k', encodeStructured(unset));
    expectSame(decodeStructured(await db.get('k')), unset);
    expect(() => encodeStructured(nest(511, (inner) => [inner], { a: undefined }))).toThrow(
      failure('invalid-argument/value'),
    );
  });
});

const reversed = <T>(items: readonly T[]): T[] => [...items].reverse();

class Point {
  readonly x = 1;
}
class Later extends Date {}

const REFUSED: readonly (readonly [
  what: string,
  value: unknown,
  message: RegExp,
  pointer?: string,
])[] = [
  ['a function', () => 1, /have no function/],
  ['a symbol', Symbol('s'), /have no symbol/],
  ['a RegExp', /re/, /have no RegExp: take a/],
  ['an Error', new Error('lost'), /have no Error: take a/],
  ['an object of a class', new Point(), /have no Point: take a/],
  ['a Date of a class', new Later(), /have no Later: take a/],
  ['an invalid Date', new Date(Number.NaN), /Date that is invalid/],
  ['a WeakMap', new WeakMap(), /have no WeakMap: take a/],
  ['a Promise', Promise.resolve(1), /have no Promise: take a/],
  ['a boxed number', Object(1), /have no Number: take a/],
  ['a Blob', new Blob(['text']), /have no Blob: take .*await file\(blob\)/],
  ['a File', new File(['text'], 'name'), /have no File: take a/],
  ['an ArrayBuffer', new ArrayBuffer(4), /have no ArrayBuffer: take a/],
  ['a DataView', new DataView(new ArrayBuffer(4)), /have no DataView: take .*a Uint8Array/],
  ['a Float64Array', new Float64Array(2), /have no Float64Array: take a/],
  ['a bigint of 10,001 digits', 10n ** 10_000n, /bigint of more than 10,000 digits/],
  ['a date after 9999', new Date(253402300800000), /years 0 to 9999/],
  ['a date before 0', new Date(-62167219200001), /years 0 to 9999/],
  ['a member with the name of a mark', { a: { '~U': 1 } }, /no member ~U/, '/a'],
  [
    'a getter that throws',
    {
      get a() {
        throw new Error('no');
      },
    },
    /cannot be read/,
    '/a',
  ],
  [
    'a spoofed Map',
    {
      get [Symbol.toStringTag]() {
        return 'Map';
      },
      a: [() => 1],
    },
    /have no function/,
  ],
];

describe('structured values refuse', () => {
  const places: readonly (readonly [string, (value: unknown) => unknown])[] = [
    ['', (value) => value],
    ['/a~1b/~0', (value) => ({ x: 1, 'a/b': { '~': value } })],
    ['/1', (value) => [1n, value]],
    ['/a/1', (value) => ({ a: new Set([1, value]) })],
    ['/0/1', (value) => new Map([['k', value]])],
    [
      '/1/0',
      (value) =>
        new Map<unknown, unknown>([
          ['k', 1],
          [value, 2],
        ]),
    ],
  ];

  it.each(REFUSED)('%s', (_, value, message, pointer = '') => {
    for (const [place, around] of places) {
      const whole = around(value);
      const way = place + pointer;
      const error = thrown(() => encodeStructured(whole));
      expect(error).toEqual(failure('invalid-argument/value', { pointer: way }));
      expect(error.message).toMatch(message as RegExp);
      if (way !== '') expect(error.message).toMatch(new RegExp(`, at ${way}$`));
    }
  });

  it('too deep and circular ones, and name the member', () => {
    let deep: unknown = 1;
    for (let at = 0; at < 600; at++) deep = { in: deep };
    const circle: Record<string, unknown> = { name: { first: 1 } };
    circle.parts = [0, circle];
    for (const value of [
      { a: 1, tree: deep },
      { a: 1, tree: circle },
    ]) {
      const error = thrown(() => encodeStructured(value));
      expect(error).toEqual(failure('invalid-argument/value', { pointer: '/tree' }));
      expect(error.message).toMatch(/nested deeper than 512, or circular/);
    }
  });

  it('unreadable maps', () => {
    class Spoofed {
      get [Symbol.toStringTag]() {
        return 'Map';
      }
    }
    const error = thrown(() => encodeStructured({ a: new Spoofed() }));
    expect(error).toEqual(failure('invalid-argument/value', { pointer: '/a' }));
    expect(error.cause).toBeInstanceOf(TypeError);
  });

  it('holes in arrays, as the store does', async () => {
    const holes = [1, 2, 3];
    delete holes[1];
    const db = await storeOf();
    const error = failure('invalid-argument/value', { pointer: '/a/1' });
    await expect(db.put('k', encodeStructured({ a: holes }))).rejects.toEqual(error);
  });
});
