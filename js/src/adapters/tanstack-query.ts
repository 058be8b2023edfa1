/** A storage of TanStack Query's persister in a store: each query is a row. */

import { checkKey, utf8Length } from '../base/key.js';
import { optionsOf } from '../base/options.js';
import { buildKeyRange } from '../base/range.js';
import type { Store } from '../index.js';
import { checkedPrefix, openedOnce, type StoreSource } from './handle.js';

/** Options of `queryStorage` and `queryPersistence`. */
export interface QueryStorageOptions {
  /** What the keys of the store begin with; `''` by default. */
  readonly prefix?: string | undefined;
  /**
   * Called when a query could not be kept, read or removed; one that could not be read is asked for. Without it these
   * reject: as the persister waits for `setItem` nowhere, that is an unhandled rejection, and the others fail the query.
   */
  readonly onError?: ((cause: unknown, key: string) => void) | undefined;
}

/** What `experimental_createQueryPersister` takes as `storage`. */
export interface QueryStorage<Value = string> {
  getItem(key: string): Promise<Value | undefined>;
  setItem(key: string, value: Value): Promise<void>;
  removeItem(key: string): Promise<void>;
  entries(): Promise<[key: string, value: Value][]>;
}

/** A query as the persister has it, without the types of its library. */
interface AnyQuery {
  readonly state: object;
}

/** What `experimental_createQueryPersister` takes, to be spread among its other options. */
export interface QueryPersistence<Query extends AnyQuery> {
  readonly storage: QueryStorage<Query>;
  serialize(query: Query): Query;
  deserialize(query: Query): Query;
}

/** Longest key of a query that is kept as it is, in bytes: the others have their hash in its place. */
const LONGEST = 400;

/** The rest of a key of the store; keys of queries may be longer than those of stores. */
function shortenKey(key: string): string {
  if (typeof key !== 'string') checkKey(key);
  if (utf8Length(key) <= LONGEST) return key;
  let [a, b] = [0x811c9dc5, 0x2545f491];
  for (let at = 0; at < key.length; at++) {
    a = Math.imul(a ^ key.charCodeAt(at), 0x01000193);
    b = Math.imul(b ^ key.charCodeAt(at), 0x5bd1e995) ^ (b >>> 15);
  }
  const hash = [a, b].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
  const start = key.slice(0, 64).replace(/[\ud800-\udbff]$/, '');
  return `${start}~${hash}`;
}

/**
 * A storage for `experimental_createQueryPersister`: texts, or other values where that has `serialize` and `deserialize`. It
 * neither opens nor closes the store.
 */
export function queryStorage<Value = string>(
  store: StoreSource,
  options: QueryStorageOptions = {},
): QueryStorage<Value> {
  const { prefix: given, onError } = optionsOf('queryStorage', options, 'prefix onError');
  const opened = openedOnce('queryStorage', store);
  const prefix = checkedPrefix('queryStorage', given);
  const rowOf = (key: string) => prefix + shortenKey(key);
  checkKey(prefix + 'x'.repeat(LONGEST), 'queryStorage: prefix');
  const callOrReport = async <T>(
    key: string,
    call: (db: Store) => Promise<T>,
  ): Promise<T | undefined> => {
    try {
      return await call(await opened());
    } catch (cause) {
      if (onError === undefined) throw cause;
      onError(cause, key);
      return undefined;
    }
  };
  return {
    async getItem(key) {
      const row = await callOrReport(key, (db) => db.get<[string, Value]>(rowOf(key)));
      // Another key may have the same hash: then nothing is kept of this one.
      return row?.[0] === key ? row[1] : undefined;
    },
    setItem: (key, value) => callOrReport(key, (db) => db.put(rowOf(key), [key, value])),
    removeItem: (key) => callOrReport(key, (db) => db.delete(rowOf(key))),
    async entries() {
      const rows = await (await opened())
        .scan<[string, Value]>(buildKeyRange({ prefix }))
        .toArray();
      // Other rows of the app may be below the prefix, too.
      const isOwn = ([at, row]: (typeof rows)[number]) =>
        Array.isArray(row) && typeof row[0] === 'string' && rowOf(row[0]) === at;
      return rows.filter(isOwn).map(([, row]) => row);
    },
  };
}

/**
 * Options of `experimental_createQueryPersister` that keep queries as objects: nothing is turned into text and back, and
 * a query's data may be all that the store keeps. Of its state, errors are left out.
 */
export function queryPersistence<Query extends AnyQuery>(
  store: StoreSource,
  options: QueryStorageOptions = {},
): QueryPersistence<Query> {
  return {
    storage: queryStorage<Query>(store, options),
    serialize: (query) => ({
      ...query,
      // The persister reads none of these, and an error is no value of a store.
      state: { ...query.state, error: null, fetchFailureReason: null, fetchMeta: null },
    }),
    deserialize: (query) => query,
  };
}
