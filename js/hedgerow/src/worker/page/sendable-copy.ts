/**
 * Copies values on their way to the worker, as the store of a page reads them. The copy of a framework's proxy has the
 * rows that it shows; an object with `toJSON` is copied as its result, an object of a class as its members.
 */

import { HedgerowError } from '../../base/errors.js';
import { isByteArray } from '../../base/is-byte-array.js';
import { MAX_JSON_DEPTH } from '../../base/limits.js';
import { kindOf } from '../../base/runtime-type-checks.js';

/** Returns the built-in tag of an object, such as `Map`. */
const tagOf = (value: object): string => Object.prototype.toString.call(value).slice(8, -1);

/** Copies a value. Throws `invalid-argument/value` for a part that has no copy, with a pointer to it. */
export const copyValue = (value: unknown): unknown => guardRead(() => copy(value, '', '', 0));

/**
 * Calls a function that reads a value of the app. Throws `invalid-argument/value` for other errors, which the value has
 * thrown.
 */
export function guardRead<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof HedgerowError) throw cause;
    throw new HedgerowError('invalid-argument/value', 'a value cannot be read', { cause });
  }
}

function copy(given: unknown, name: string, pointer: string, depth: number): unknown {
  if (Object(given) !== given) {
    if (typeof given === 'symbol') refuse(given, pointer);
    return given;
  }
  // A clone of a view would copy the whole buffer.
  if (isByteArray(given)) return given.slice();
  if (typeof given === 'function') refuse(given, pointer);
  if (depth > MAX_JSON_DEPTH) refuse(given, pointer);
  const { toJSON } = given as { toJSON?: unknown };
  const isSaid = typeof toJSON === 'function' && !(given instanceof Date);
  const value: unknown = isSaid ? toJSON.call(given, name) : given;
  if (Object(value) !== value) return value;
  const member = (one: unknown, of: string) =>
    copy(one, of, `${pointer}/${of.replaceAll('~', '~0').replaceAll('/', '~1')}`, depth + 1);
  if (Array.isArray(value)) return value.map((one, at) => member(one, String(at)));
  const items = (list: Iterable<unknown>) => [...list].map((one, at) => member(one, String(at)));
  switch (tagOf(value as object)) {
    case 'Object': {
      const entries = Object.entries(value as object);
      return Object.fromEntries(entries.map(([of, one]) => [of, member(one, of)]));
    }
    case 'Map':
      return new Map(items(value as Map<unknown, unknown>) as [unknown, unknown][]);
    case 'Set':
      return new Set(items(value as Set<unknown>));
  }
  try {
    return structuredClone(value);
  } catch (cause) {
    return refuse(value, pointer, cause);
  }
}

function refuse(value: unknown, pointer: string, cause?: unknown): never {
  const what = `${kindOf(value)} cannot cross to the worker: values are data, without functions`;
  const place = pointer === '' ? '' : `, at ${pointer}`;
  throw new HedgerowError('invalid-argument/value', what + place, { pointer, cause });
}

/** Returns a value that a message can clone: a copy, if a part of it has `toJSON`. Throws `invalid-argument/value`. */
export function toSendable(value: unknown): unknown {
  let hasForm = true;
  try {
    hasForm = hasOwnForm(value, 0);
  } catch {
    // `copyValue` refuses a value that cannot be read.
  }
  return hasForm ? copyValue(value) : value;
}

function hasOwnForm(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null || depth > MAX_JSON_DEPTH) return false;
  if (ArrayBuffer.isView(value)) return false;
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return !(value instanceof Date);
  for (const name in value) {
    if (hasOwnForm((value as Record<string, unknown>)[name], depth + 1)) return true;
  }
  return false;
}
