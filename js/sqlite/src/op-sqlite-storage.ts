/** Stores over any version of op-sqlite. */

import type { Storage } from 'hedgerow';
import { anything, HedgerowError, type OptionsOf, optionsOf } from 'hedgerow/kit';
import { type OpOpenOptions, type OpSqlite, opConnection } from './op-sqlite-driver.js';
import { locksOfPlace } from './single-process-locks.js';
import { sqlStorage } from './sql-storage.js';

const OP_SQLITE_OPTIONS = {
  /** The start of the names of the files; `'hedgerow'` by default. */
  name: anything<string>(),
  /** The folder of the files, as op-sqlite takes it, with its own default. */
  location: anything<string>(),
  /** Encrypts the files; op-sqlite must be built with SQLCipher or libsql. */
  encryptionKey: anything<string>(),
};

/** The place of stores. */
export interface OpSqliteOptions extends OptionsOf<typeof OP_SQLITE_OPTIONS> {}

/** Makes the storage over a version of the package. */
export function opSqliteStorage(opSqlite: OpSqlite, options: OpSqliteOptions): Storage {
  const {
    name = 'hedgerow',
    location,
    encryptionKey,
  } = optionsOf('opSqlite', options, OP_SQLITE_OPTIONS);
  if ([name, location ?? '', encryptionKey ?? ''].some((text) => typeof text !== 'string')) {
    throw new HedgerowError('invalid-argument', 'opSqlite: name, location and key are strings');
  }
  if (encryptionKey !== undefined && !opSqlite.isSQLCipher() && !opSqlite.isLibsql()) {
    throw new HedgerowError(
      'invalid-argument',
      'encryptionKey needs op-sqlite built with SQLCipher or libsql',
    );
  }
  if (encryptionKey === '' || location === ':memory:') {
    const what = encryptionKey === '' ? 'an encryption key is not empty' : 'memory() keeps nothing';
    throw new HedgerowError('invalid-argument', what);
  }
  const place = `op-sqlite\0${location ?? ''}`;
  const where: Omit<OpOpenOptions, 'name'> = {
    ...(location !== undefined && { location }),
    ...(encryptionKey !== undefined && { encryptionKey }),
  };
  return sqlStorage({
    place,
    prefix: name,
    locks: locksOfPlace(place, name),
    open: (file) => opConnection(opSqlite, { name: file, ...where }),
  });
}
