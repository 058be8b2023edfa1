/** `hedgerow/op-sqlite`: stores in SQLite on phones, for React Native. */
import * as opSqlitePackage from '@op-engineering/op-sqlite';
import type { Storage } from '../segment-store.js';
import type { OpSqlite } from './op-sqlite-driver.js';
import { type OpSqliteOptions, opSqliteStorage } from './op-sqlite-storage.js';

export type { OpSqliteOptions } from './op-sqlite-storage.js';

/**
 * Keeps each store in a file of its own, by `@op-engineering/op-sqlite`. All of the app's code that
 * opens a store must name the same `location`, `name` and `encryptionKey`, and `destroy` as well.
 * Throws `invalid-argument` for a key when that package was built to encrypt nothing.
 */
export function opSqlite(options: OpSqliteOptions = {}): Storage {
  return opSqliteStorage(opSqlitePackage as unknown as OpSqlite, options);
}
