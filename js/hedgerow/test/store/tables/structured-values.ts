/** Random structured values, for tests. */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { encodeStructured } from '../../../src/store/tables/values/encode-structured.js';
import { StoredFile } from '../../../src/store/tables/values/stored-file.js';
import { line } from '../../support/one-line.js';
import type { Random } from '../../support/random.js';

const MARKS = [
  '~',
  '~~',
  '~U',
  '~~U',
  '~t',
  '~#set',
  '~#cmap',
  '~zNaN',
  '~v',
  '__proto__',
  '10',
  '9',
];
/** Near the years at which the form of dates changes. */
const DATES = [0, -1, 253402300799999, -62167219200000, -59011459200001, -30610224000000];

/** Returns a random date of all that have a form, most of them of our times. */
export function someDate(from: Random): Date {
  const kind = from.below(4);
  if (kind === 0) return new Date(from.pick(DATES));
  const share = kind === 1 ? from.next() : 0.75 + from.next() / 40;
  return new Date(Math.floor(share * (253402300800000 + 62167219200000)) - 62167219200000);
}

function someText(from: Random): string {
  return from.below(4) === 0 ? from.pick(MARKS) + from.text(2) : from.text(10);
}

const SCALARS: readonly ((from: Random) => unknown)[] = [
  () => null,
  () => undefined,
  (from) => from.next() < 0.5,
  (from) => from.below(2000) - 1000,
  (from) => (from.next() - 0.5) * 10 ** (from.below(600) - 300),
  (from) => from.pick([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]),
  (from) => BigInt(from.below(10)) - 5n,
  (from) => BigInt(Math.round((from.next() - 0.5) * 2 ** 53)) * 10n ** BigInt(from.below(60)),
  someText,
  someText,
  someDate,
  (from) => from.bytes(from.below(12)),
  (from) => new StoredFile(Uint8Array.from(from.bytes(from.below(9))), from.text(4), 'a/b', 5),
  (from) => new StoredFile(Uint8Array.from(from.bytes(from.below(9)))),
];

/** Makes an object with its members in this order. */
function objectOf(entries: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const [given, value] of entries) {
    // The one name that is refused.
    const name = given === '~U' ? '~u' : given;
    Object.defineProperty(made, name, {
      value,
      configurable: true,
      enumerable: true,
      writable: true,
    });
  }
  return made;
}

/** Returns a random structured value. */
export function someValue(from: Random, depth = 4): unknown {
  if (depth === 0 || from.next() < 0.3) return from.pick(SCALARS)(from);
  const items = () => Array.from({ length: from.below(5) }, () => someValue(from, depth - 1));
  const kind = from.below(6);
  if (kind === 0) return items();
  if (kind === 1) return new Set(items());
  if (kind === 2) return new Map(items().map((item) => [item, someValue(from, depth - 1)]));
  return objectOf(items().map((item) => [someText(from), item] as const));
}

/** Returns an equal value, whose objects have their members in another order. */
export function permuted(from: Random, value: unknown): unknown {
  const again = (part: unknown) => permuted(from, part);
  if (Array.isArray(value)) return value.map(again);
  if (value instanceof Set) return new Set([...value].map(again));
  if (value instanceof Map)
    return new Map([...value].map(([key, one]) => [again(key), again(one)]));
  if (Object.getPrototypeOf(value ?? 1) !== Object.prototype) return value;
  const entries = from.shuffle(Object.entries(value as object));
  return objectOf(entries.map(([name, member]) => [name, again(member)] as const));
}

/** Returns a value as a store gives it back. */
export const stored = (value: unknown): unknown => {
  const kept = encodeStructured(value);
  return kept instanceof Uint8Array ? kept : JSON.parse(JSON.stringify(kept));
};

/** Fails unless both are equal, and their maps and sets are in the same order. */
export function expectEqual(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect.fail(`${line(actual)} is not ${line(expected)}`);
  expect(JSON.stringify(ordered(actual))).toBe(JSON.stringify(ordered(expected)));
}

/** Lists the items of maps and sets, whose order a deep comparison ignores. */
function ordered(value: unknown): unknown {
  if (value instanceof Map) return [...value].map(ordered);
  if (value instanceof Set) return ['set', ...[...value].map(ordered)];
  if (Array.isArray(value)) return value.map(ordered);
  if (Object.getPrototypeOf(value ?? 1) !== Object.prototype) return String(value);
  return Object.entries(value as object)
    .sort()
    .map(ordered);
}
