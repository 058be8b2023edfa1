/** Where it is kept how far an import has come. */

import type { ImportFromResult } from './types.js';

/** The key of the row: no row that an app imports has it, since no key of an app begins with this character. */
export const KEY = '\0import';

/** What an import that is over has in it. */
export interface StoredState {
  /** What it has come to. */
  readonly done?: ImportFromResult;
}
