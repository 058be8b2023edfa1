/** Converts rows to and from their stored form. */

import { HedgerowError } from 'hedgerow/kit';
import { storeKeyOf } from './convert-idb-keys.js';
import type { ImportDestination } from './import-destination.js';

/** A row as the store keeps it. */
export interface ImportedRow {
  readonly key: string;
  readonly value: unknown;
}

export interface ImportTarget {
  /** Whether its rows can hold files. */
  readonly isTable: boolean;
  /** Makes the stored form of a row; throws if that cannot be. `key` is the key of the record. */
  toStoredRow(row: unknown, key: unknown): ImportedRow;
  /** Makes the stored form of a row that replaces another one, whose key it must have. */
  valueOf(row: unknown, key: string): unknown;
  /** Returns the row of a stored form. */
  rowOf(key: string, stored: unknown): unknown;
}

export function targetOf({ prefix, table, key = storeKeyOf }: ImportDestination): ImportTarget {
  if (table === undefined) {
    return {
      isTable: false,
      toStoredRow: (value, from) => ({ key: prefix + key(from as IDBValidKey, value), value }),
      valueOf: (value) => value,
      rowOf: (_, stored) => stored,
    };
  }
  const put = table.op.put as (row: unknown) => unknown;
  const makePut = (row: unknown) => put(row) as ImportedRow;
  const { rowOf } = table.source();
  return {
    isTable: true,
    toStoredRow: makePut,
    valueOf(row, at) {
      const { key, value } = makePut(row);
      if (key === at) return value;
      const [was, is] = [at, key].map((one) => JSON.stringify(one));
      const message = `onConflict: the row that is kept must have the key ${was}, not ${is}`;
      throw new HedgerowError('invalid-argument/key', message, { key: at });
    },
    rowOf,
  };
}
