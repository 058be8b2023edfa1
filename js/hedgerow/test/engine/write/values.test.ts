/** The values that a row may have come back unchanged. */
import { describe, expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import { all, type Entry, expectSame, storeOf } from '../../support/models/store-model.js';
import { forSeeds } from '../../support/property.js';
import { random } from '../../support/random.js';

const SCALARS = [
  ...[null, true, false, 0, 1, -1, 0.1, -1.5e-10, 1e21, 1e-7, 1.7976931348623157e308, 5e-324],
  ...[2 ** 53, -(2 ** 53), 123456789012345680000, 0.1 + 0.2, 1 / 3],
  ...['', ' ', 'text', '"', '\\', '\0', '\n\r\t\b\f\v', '\x7f\x80', '\u2028\u2029', '</script>'],
  ...['é', '中文', '😀', '～', '\ufeff', '\uffff', '\u{10ffff}', '__proto__', '\\ud800', 'null'],
  ...['\ud800', '\udfff', 'a\ud83dz', '\ude00\ud83d', '😀\ud83d'],
];

const NESTED: unknown[] = [
  ...[[], {}, [[]], [{}], { '': {} }, [null, null], [[[[[[[[1]]]]]]]]],
  { a: { b: { c: [1, { d: null }] } }, '😀': '～', '': 0 },
  { '\ud800': 1, 'a\udc00': '\ud800' },
  { '"': 1, '\\': 2, '\0': 3, '\n': 4, '/': 5, '~': 6 },
  { b: 1, a: 2, 10: 3, 2: 4, '-1': 5, '01': 6 },
  JSON.parse('{"__proto__": {"x": 1}, "constructor": 2, "toString": 3, "hasOwnProperty": 4}'),
  [1, 'a', null, true, [2], { a: 3 }],
  Array.from({ length: 1000 }, (_, at) => at),
  Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`k${at}`, at])),
];

describe('JSON values', () => {
  const values = [...SCALARS, ...SCALARS.map((scalar) => ({ in: [scalar] })), ...NESTED];
  const entries = values.map((value, at): Entry => [`k${String(at).padStart(3, '0')}`, value]);

  it('come back as they were from putMany', async () => {
    expectSame(await all(await storeOf(entries)), entries);
  });

  it('come back as they were from put, and have the same root', async () => {
    const db = await storeOf();
    for (const [key, value] of entries) {
      await db.put(key, value);
      expectSame(await db.get(key), value, key);
    }
    expectSame(await all(db), entries);
    expect(db.root).toBe((await storeOf(entries)).root);
  });

  it('keep the order of their members', async () => {
    const db = await storeOf([['k', { z: 1, a: 2, m: 3, 1: 4 }]]);
    expect(JSON.stringify(await db.get('k'))).toBe('{"1":4,"z":1,"a":2,"m":3}');
  });

  it('named __proto__ are members like others', async () => {
    const value = JSON.parse('{"__proto__": {"polluted": true}}');
    const db = await storeOf([['k', value]]);
    const found = await db.get<object>('k');
    expect(Object.hasOwn(found ?? {}, '__proto__')).toBe(true);
    expect(Object.getPrototypeOf(found)).toBe(Object.prototype);
    expect('polluted' in {}).toBe(false);
  });

  it('equal the output of JSON.stringify', async () => {
    class Point {
      readonly x = 1;
      readonly hidden = undefined;
      static readonly origin = new Point();
    }
    class Money {
      toJSON() {
        return { cents: 5 };
      }
    }
    const given: [unknown, unknown][] = [
      [-0, 0],
      [[-0], [0]],
      [{ a: undefined, b: 1, c: () => 1, [Symbol('d')]: 1 }, { b: 1 }],
      [new Date(0), '1970-01-01T00:00:00.000Z'],
      [{ at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
      [new Point(), { x: 1 }],
      [new Money(), { cents: 5 }],
      [[new Money()], [{ cents: 5 }]],
      [{ toJSON: () => 'own' }, 'own'],
      [Object('boxed'), 'boxed'],
      [Object(5), 5],
      [Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
      [Object.assign([1], { extra: 2 }), [1]],
      [new URL('http://a/'), 'http://a/'],
    ];
    const db = await storeOf(given.map(([value], at): Entry => [`many${at}`, value]));
    for (const [at, [value, expected]] of given.entries()) {
      await db.put(`one${at}`, value);
      expectSame(await db.getMany([`many${at}`, `one${at}`]), [expected, expected], String(at));
    }
  });

  it('may be nested 500 deep', async () => {
    let deep: unknown = 'core';
    for (let level = 0; level < 500; level++) deep = level % 2 === 0 ? [deep] : { deep };
    const db = await storeOf([['many', deep]]);
    await db.put('one', deep);
    expectSame(await db.getMany(['many', 'one']), [deep, deep]);
  });

  it('of any shape come back as they were', async () => {
    await forSeeds(30, async (from, _, begin) => {
      const rows = Array.from({ length: 100 }, (_, at): Entry => [`k${at + 100}`, from.value(4)]);
      const expected = JSON.parse(JSON.stringify(rows)) as Entry[];
      begin({ rows });
      const db = await storeOf(from.shuffle(rows));
      expectSame(await all(db), expected);
      expectSame(
        await db.getMany(rows.map(([key]) => key)),
        expected.map(([, value]) => value),
      );
    });
  });
});

describe('bytes', () => {
  it('come back as Uint8Array of their own, of any length and from any view', async () => {
    const whole = random(1).bytes(1000);
    const given: Uint8Array[] = [
      new Uint8Array(),
      Uint8Array.of(0),
      whole,
      whole.subarray(10, 20),
      whole.subarray(999),
      whole.subarray(5, 5),
      new Uint8Array(whole.buffer, 3, 500),
      // A page has it only when it is isolated from other origins.
      new Uint8Array(new (globalThis.SharedArrayBuffer ?? ArrayBuffer)(10)).fill(7),
      Buffer.from('text'),
    ];
    const entries = given.map((bytes, at): Entry => [`k${at}`, bytes]);
    const db = await storeOf(entries);
    for (const [key, bytes] of entries) await db.put(`one ${key}`, bytes);
    for (const [key, bytes] of entries as [string, Uint8Array][]) {
      const plain = Uint8Array.from(bytes);
      expectSame(await db.getMany([key, `one ${key}`]), [plain, plain], key);
      const found = await db.get<Uint8Array>(key);
      expect(found?.buffer.byteLength).toBe(plain.length);
    }
  });

  it('differ from JSON values that look like them', async () => {
    const text = await storeOf([['k', '{}']]);
    const bytes = await storeOf([['k', new TextEncoder().encode('"{}"')]]);
    expect(text.root).not.toBe(bytes.root);
    const [zero, empty] = [await storeOf([['k', 0]]), await storeOf([['k', new Uint8Array()]])];
    expect(zero.root).not.toBe(empty.root);
    expect(await zero.get('k')).toBe(0);
    expect(await empty.get('k')).toEqual(new Uint8Array());
  });

  it('turn into JSON and back under the same key', async () => {
    const db = await storeOf();
    for (const value of [Uint8Array.of(1), 0, Uint8Array.of(), [1], Uint8Array.of(1, 2)]) {
      await db.put('k', value);
      expect(await db.get('k')).toEqual(value);
      expect(await all(db)).toEqual([['k', value]]);
    }
  });
});

describe('large values', () => {
  const KIB = 1 << 10;
  const around = (size: number) => [size - 2, size - 1, size, size + 1, size + 2];
  const sizes = [...around(4 * KIB), ...around(64 * KIB), ...around(128 * KIB), 1 << 20];
  const from = random(7);
  // A text in JSON has two quotes as well, so that both limits fall within the sizes.
  const entries = sizes.flatMap((size): Entry[] => {
    const name = String(size).padStart(8, '0');
    return [
      [`${name}/ascii`, 'abcdefg'.repeat(size / 7 + 1).slice(0, size - 2)],
      [`${name}/bytes`, from.bytes(size)],
      [`${name}/escapes`, `${'\n"\\'.repeat(size / 6)}${'\n'.repeat(size % 6)}`],
      [`${name}/json`, { list: Array.from({ length: 100 }, () => 'é中'.repeat(size / 700)) }],
      [`${name}/small`, size],
      [`${name}/utf`, `${'😀中é'.repeat(size / 9)}${'x'.repeat(size % 9)}`],
    ];
  });

  entries.push(['5 MiB of bytes', from.bytes(5 << 20)], ['5 MiB of text', 'é中'.repeat(1 << 20)]);

  it('come back from get, getMany and scan, in order, among small ones', async () => {
    const storage = memory();
    const writer = await open('test', { storage });
    await writer.putMany(from.shuffle(entries));
    for (const db of [writer, await open('test', { storage, advanced: { cacheBytes: 0 } })]) {
      expectSame(await all(db), entries);
      expectSame(await db.scan({ reverse: true }).toArray(), entries.toReversed());
      expectSame(
        await db.scan().keys().toArray(),
        entries.map(([key]) => key),
      );
      expectSame(
        await db.getMany(entries.map(([key]) => key)),
        entries.map(([, value]) => value),
      );
      for (const [key, value] of entries) expectSame(await db.get(key), value, key);
    }
  });

  it('have the same root put one by one', async () => {
    const some = entries.filter((_, at) => at < 60);
    const db = await storeOf();
    for (const [key, value] of from.shuffle(some)) await db.put(key, value);
    expect(db.root).toBe((await storeOf(some)).root);
    for (const [key, value] of some) expectSame(await db.get(key), value, key);
  });

  it('can be replaced under the same key', async () => {
    const db = await storeOf();
    for (const [, value] of entries) {
      await db.put('k', value);
      expectSame(await db.get('k'), value);
    }
    expect(await db.count()).toBe(1);
  });
});

describe('a later change by the caller', () => {
  it('does not change a value that put has taken', async () => {
    const db = await storeOf();
    const [value, bytes, large] = [{ a: [1] }, Uint8Array.of(1, 2), new Uint8Array(100_000)];
    const puts = [db.put('value', value), db.put('bytes', bytes), db.put('large', large)];
    value.a.push(2);
    bytes.fill(9);
    large.fill(9);
    await Promise.all(puts);
    expect(await db.get('value')).toEqual({ a: [1] });
    expect(await db.get('bytes')).toEqual(Uint8Array.of(1, 2));
    expectSame(await db.get('large'), new Uint8Array(100_000));
  });

  it('does not change a value that putMany has committed', async () => {
    const [value, bytes] = [{ a: [1] }, Uint8Array.of(1, 2)];
    const db = await storeOf([
      ['value', value],
      ['bytes', bytes],
    ]);
    value.a.push(2);
    bytes.fill(9);
    expect(await db.getMany(['value', 'bytes'])).toEqual([{ a: [1] }, Uint8Array.of(1, 2)]);
  });
});
