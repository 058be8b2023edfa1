/** Checks where rows go. */

import type { Store } from 'hedgerow';
import {
  anything,
  HedgerowError,
  hasCalls,
  kindOf,
  mandatory,
  memberOf,
  optionsOf,
  shownAs,
} from 'hedgerow/kit';
import { checkTextOption } from './text-option.js';
import type { ImportRange, ImportTable } from './types.js';

/** A table, or the keys of a store that begin with a prefix. */
export interface ImportDestination {
  readonly db: Store;
  readonly prefix: string;
  readonly table?: ImportTable;
  /** Makes the keys of rows that belong to no table. */
  readonly key?: ImportRange['key'];
}

const IMPORT_RANGE = {
  db: mandatory(anything<Store>()),
  prefix: mandatory(anything<string>()),
  key: anything<(key: never, value: never) => string>(),
};

export function resolveDestination(given: ImportTable | ImportRange): ImportDestination {
  if (hasCalls(memberOf(given, 'op'), 'put') && hasCalls(given, 'source')) {
    const table = given as ImportTable;
    const { db, options } = table.source();
    return { db: db as Store, prefix: (options as { prefix: string }).prefix, table };
  }
  const range = optionsOf('importFrom', given as ImportRange, IMPORT_RANGE, 'a target');
  const { db, prefix, key } = range;
  const refuse = (message: string): never => {
    throw new HedgerowError('invalid-argument', `importFrom${message}`);
  };
  if (!hasCalls(memberOf(db, 'branches'), 'open')) {
    refuse(` writes to a table, or to { db, prefix } of a store, not to ${kindOf(db ?? given)}`);
  }
  if (typeof (key ?? refuse) !== 'function')
    refuse(`: key must be a function, not ${shownAs(key)}`);
  return { db, prefix: checkTextOption('importFrom', 'prefix', prefix), ...(key && { key }) };
}
