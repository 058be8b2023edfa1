/** `@hedgerow/sqlite/op-sqlite`: stores in SQLite on phones, for React Native. */
import * as opSqlitePackage from '@op-engineering/op-sqlite';
import type { Storage } from 'hedgerow';
import type { OpSqlite } from './op-sqlite-driver.js';
import { type OpSqliteOptions, opSqliteStorage } from './op-sqlite-storage.js';

export type { OpSqliteOptions } from './op-sqlite-storage.js';

/**
 * Keeps each store in its own file, by `@op-engineering/op-sqlite`. All code of the app that opens or destroys a store
 * must pass the same `location`, `name` and `encryptionKey`. Throws `invalid-argument` for a key if the build of the
 * package cannot encrypt.
 */
export function opSqlite(options: OpSqliteOptions = {}): Storage {
  return opSqliteStorage(opSqlitePackage as unknown as OpSqlite, options);
}
