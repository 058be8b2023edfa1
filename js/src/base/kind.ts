/** What kind of thing a caller gave, whatever it is: nothing here throws. */

/** What to call `value` in a message. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value !== 'object') return typeof value;
  try {
    return String(value.constructor.name);
  } catch {
    return 'an object';
  }
}

/** A value as a message shows it. */
export function shownAs(value: unknown): string {
  return Object(value) === value ? kindOf(value) : String(value);
}

/** Whether nothing can be asked of `value` any more, not even what it is an instance of. */
export function isRevoked(value: unknown): boolean {
  try {
    // A bundler may drop what is done for its exception alone.
    return Array.isArray(value) && value.length < 0;
  } catch {
    return true;
  }
}

/** Whether `value` is an object that can be iterated, which a text is not. */
export function isList(value: unknown): value is Iterable<unknown> | AsyncIterable<unknown> {
  try {
    if (typeof value !== 'object' || value === null) return false;
    return Symbol.iterator in value || Symbol.asyncIterator in value;
  } catch {
    return false;
  }
}

/** Whether `value` is an object of no class, of this realm or another. */
export function isPlain(value: unknown): value is object {
  try {
    if (typeof value !== 'object' || value === null) return false;
    const prototype: unknown = Object.getPrototypeOf(value);
    return prototype === null || Object.getPrototypeOf(prototype) === null;
  } catch {
    return false;
  }
}
