/** Where it is kept how far an import has come. */

import type { ImportFromResult } from './types.js';

/** The key of the row: no row that an app imports has it, since no key of an app begins with this character. */
export const KEY = '\0import';

/**
 * Where a branch begins that has nothing but what is imported: so rows can be counted, and those of the app are never taken
 * for imported ones.
 */
export const EMPTY_ROOT = '0'.repeat(64);

/** What an import that is over has in it. */
export interface StoredState {
  /** What it has come to. */
  readonly done?: ImportFromResult;
}
