import { sameBytes } from './bytes.js';

/** Returns whether two values of a store, or two rows of a table, are equal; with `isOrdered`, also in the order of members. */
export function sameValue(a: unknown, b: unknown, isOrdered = true): boolean {
  if (a === b || (Number.isNaN(a) && Number.isNaN(b))) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (a instanceof Uint8Array) return sameBytes(a, b as Uint8Array);
  const [own, others] = [Object.keys(a), Object.keys(b)];
  if (own.length !== others.length) return false;
  return own.every(
    (name, at) =>
      (isOrdered ? name === others[at] : Object.hasOwn(b, name)) &&
      sameValue(
        (a as Record<string, unknown>)[name],
        (b as Record<string, unknown>)[name],
        isOrdered,
      ),
  );
}
