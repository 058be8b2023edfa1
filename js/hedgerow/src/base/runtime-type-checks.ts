/** Finds the kind of a value of a caller. No function here throws. */

/** Returns the name of the type of `value`, for a message. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value !== 'object') return typeof value;
  try {
    return String(value.constructor.name);
  } catch {
    return 'an object';
  }
}

/** Shows a value in a message. */
export function shownAs(value: unknown): string {
  return Object(value) === value ? kindOf(value) : String(value);
}

/** Reads a member of any value; `undefined` if it cannot be read, as in a revoked proxy. */
export function memberOf(value: unknown, name: string | symbol): unknown {
  try {
    return (Object(value) as Record<string | symbol, unknown>)[name];
  } catch {
    return undefined;
  }
}

/** Returns whether a value has functions with all these names. */
export const hasCalls = (value: unknown, names: string): boolean =>
  names.split(' ').every((name) => typeof memberOf(value, name) === 'function');

/** Returns whether `value` is a revoked proxy, for which even `instanceof` throws. */
export function isRevoked(value: unknown): boolean {
  try {
    // Use the result: a bundler may drop a call that is made only for its exception.
    return Array.isArray(value) && value.length < 0;
  } catch {
    return true;
  }
}

/** Returns whether `value` is an iterable object; a string is not. */
export function isList(value: unknown): value is Iterable<unknown> | AsyncIterable<unknown> {
  try {
    if (typeof value !== 'object' || value === null) return false;
    return Symbol.iterator in value || Symbol.asyncIterator in value;
  } catch {
    return false;
  }
}

/** Returns whether `value` is a plain object, of this realm or another. */
export function isPlain(value: unknown): value is object {
  try {
    if (typeof value !== 'object' || value === null) return false;
    const prototype: unknown = Object.getPrototypeOf(value);
    return prototype === null || Object.getPrototypeOf(prototype) === null;
  } catch {
    return false;
  }
}
