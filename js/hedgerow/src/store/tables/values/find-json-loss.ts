/** The silent losses of rows that are kept as plain JSON: for development builds. */

import { type Members, tagOf } from './transit-tags.js';
import { checkDepth, fault, locateFault } from './value-errors.js';

/** A part of a value that does not come back as it was. */
export interface Loss {
  /** JSON pointer to it. */
  readonly pointer: string;
  readonly what: string;
}

/**
 * Finds the first part of a value that JSON changes, or leaves out, although the store takes the value: dates, and
 * members that are functions or symbols. `base/check-value.ts` refuses other losses. Members that are `undefined` are left
 * out of an object, and read as `undefined`; an object with a `toJSON` of its own decides itself what is kept. Neither
 * is a loss.
 */
export function lossOf(value: unknown): Loss | undefined {
  try {
    checkKept(value);
  } catch (cause) {
    const { message, pointer = '' } = locateFault(cause, value, checkKept);
    return { pointer, what: message };
  }
  return undefined;
}

/** Throws if JSON loses a part of a value. */
function checkKept(value: unknown, depth = 0): void {
  if (/^[fs]\w+[nl]$/.test(typeof value)) throw fault(`JSON leaves out a ${typeof value}`);
  if (tagOf(value) === 'Date') throw fault("JSON makes a Date text: take values: 'structured'");
  if (Object(value) !== value || typeof (value as Members).toJSON === 'function') return;
  checkDepth(depth);
  for (const member of Object.values(value as object)) checkKept(member, depth + 1);
}
