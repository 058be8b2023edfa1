/** The key and the form of the row that keeps the progress of an import. */

import type { ImportFromResult } from './types.js';

/** The key of the row. No imported row has it, since no key of an app begins with this character. */
export const KEY = '\0import';

/** The part of the state that a finished import has. */
export interface StoredState {
  /** The result of the import. */
  readonly done?: ImportFromResult;
}
