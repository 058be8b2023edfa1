/** `@hedgerow/sqlite/expo-sqlite`: stores in SQLite on phones, for Expo, Expo Go included. */
import * as expoSqlitePackage from 'expo-sqlite';
import type { Storage } from 'hedgerow';
import type { ExpoSqlite } from './expo-sqlite-driver.js';
import { type ExpoSqliteOptions, expoSqliteStorage } from './expo-sqlite-storage.js';

export type { ExpoSqliteOptions } from './expo-sqlite-storage.js';

/**
 * Keeps each store in its own file, by `expo-sqlite`. All code of the app that opens or destroys a store must pass the
 * same `directory`, `name` and `encryptionKey`. With a key, `open` rejects with `invalid-argument` if the build of the
 * package cannot encrypt.
 */
export function expoSqlite(options: ExpoSqliteOptions = {}): Storage {
  return expoSqliteStorage(expoSqlitePackage as unknown as ExpoSqlite, options);
}
