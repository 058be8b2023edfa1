/** Stores over any version of expo-sqlite. */

import type { Storage } from 'hedgerow';
import { anything, HedgerowError, type OptionsOf, optionsOf } from 'hedgerow/kit';
import { type ExpoSqlite, expoConnection } from './expo-sqlite-driver.js';
import { locksOfPlace } from './single-process-locks.js';
import { sqlStorage } from './sql-storage.js';

const EXPO_SQLITE_OPTIONS = {
  /** The start of the names of the files; `'hedgerow'` by default. */
  name: anything<string>(),
  /** The folder of the files, as expo-sqlite takes it; by default its own `defaultDatabaseDirectory`. */
  directory: anything<string>(),
  /** Encrypts the files; expo-sqlite must be built with SQLCipher. */
  encryptionKey: anything<string>(),
};

/** The place of stores. */
export interface ExpoSqliteOptions extends OptionsOf<typeof EXPO_SQLITE_OPTIONS> {}

/** Makes the storage over a version of the package. */
export function expoSqliteStorage(expoSqlite: ExpoSqlite, options: ExpoSqliteOptions): Storage {
  const {
    name = 'hedgerow',
    directory,
    encryptionKey,
  } = optionsOf('expoSqlite', options, EXPO_SQLITE_OPTIONS);
  if ([name, directory ?? '', encryptionKey ?? ''].some((text) => typeof text !== 'string')) {
    throw new HedgerowError('invalid-argument', 'expoSqlite: name, directory and key are strings');
  }
  if (encryptionKey === '' || encryptionKey?.includes('\0')) {
    const what = 'expoSqlite: encryptionKey is neither empty nor has U+0000 in it';
    throw new HedgerowError('invalid-argument', what);
  }
  const place = `expo-sqlite\0${directory ?? ''}`;
  return sqlStorage({
    place,
    prefix: name,
    locks: locksOfPlace(place, name),
    open: (file) =>
      expoConnection(expoSqlite, {
        name: file,
        ...(directory !== undefined && { directory }),
        ...(encryptionKey !== undefined && { encryptionKey }),
        refuseKey() {
          throw new HedgerowError(
            'invalid-argument',
            'encryptionKey needs expo-sqlite built with SQLCipher: set useSQLCipher in its config plugin',
          );
        },
      }),
  });
}
