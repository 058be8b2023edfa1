/** Compares cookies, which order the states of a server by the rules of Replicache. */
import { sameValue } from '../../base/same-value.js';

const orderOf = (cookie: unknown): unknown =>
  typeof cookie === 'object' && cookie !== null
    ? (cookie as { readonly order?: unknown }).order
    : cookie;

/** Returns whether a value may be a cookie. */
export function isCookie(value: unknown): boolean {
  if (value === null) return true;
  const order = orderOf(value);
  return typeof order === 'string' || (typeof order === 'number' && !Array.isArray(value));
}

/** Returns whether two cookies are the same, not only of equal order. */
export const isSameCookie = (a: unknown, b: unknown): boolean => sameValue(a, b);

/** Returns whether a cookie is of an earlier state than another. Next to a string, a number counts as its digits. */
export function isBefore(one: unknown, other: unknown): boolean {
  const [a, b] = [orderOf(one), orderOf(other)];
  if (b === null) return false;
  if (a === null) return true;
  if (typeof a === typeof b) return (a as number) < (b as number);
  return String(a) < String(b);
}
