/** `hedgerow/expo-sqlite`: stores in SQLite on phones, for Expo, Expo Go included. */
import * as expoSqlitePackage from 'expo-sqlite';
import type { Storage } from '../segment-store.js';
import type { ExpoSqlite } from './expo-sqlite-driver.js';
import { type ExpoSqliteOptions, expoSqliteStorage } from './expo-sqlite-storage.js';

export type { ExpoSqliteOptions } from './expo-sqlite-storage.js';

/**
 * Keeps each store in a file of its own, by `expo-sqlite`. All of the app's code that opens a store must name the same
 * `directory`, `name` and `encryptionKey`, and `destroy` as well. With a key, `open` rejects with `invalid-argument` when
 * that package was built to encrypt nothing.
 */
export function expoSqlite(options: ExpoSqliteOptions = {}): Storage {
  return expoSqliteStorage(expoSqlitePackage as unknown as ExpoSqlite, options);
}
