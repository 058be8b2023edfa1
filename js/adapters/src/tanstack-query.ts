/** A storage of TanStack Query's persister in a store: each query is a row. */

import type { Store } from 'hedgerow';
import {
  anything,
  buildKeyRange,
  checkKey,
  fn,
  type OptionsOf,
  optionsOf,
  utf8Length,
} from 'hedgerow/kit';
import { checkedPrefix, openedOnce, type StoreSource } from './check-adapter-arguments.js';

const QUERY_STORAGE_OPTIONS = {
  /** The prefix of the store's keys; `''` by default. */
  prefix: anything<string>(),
  /**
   * Called when a query could not be kept, read or removed; a query that could not be read is fetched. Without it the
   * calls reject: the persister does not await `setItem`, so that rejection is unhandled, and the others fail the
   * query.
   */
  onError: fn<(cause: unknown, key: string) => void>(),
};

/** Options of `hedgerowQueryStorage` and `hedgerowQueryPersistence`. */
export interface QueryStorageOptions extends OptionsOf<typeof QUERY_STORAGE_OPTIONS> {}

/** The `storage` of `experimental_createQueryPersister`. */
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

/** Options of `experimental_createQueryPersister`, to spread among its other options. */
export interface QueryPersistence<Query extends AnyQuery> {
  readonly storage: QueryStorage<Query>;
  serialize(query: Query): Query;
  deserialize(query: Query): Query;
}

/** Bytes of the longest key of a query that is kept as it is: longer ones are replaced by a hash. */
const LONGEST = 400;

/** Returns a store's key without the prefix: keys of queries may be longer than keys of stores. */
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
 * Makes a storage for `experimental_createQueryPersister`: of texts, or of other values if that has `serialize` and
 * `deserialize`. It neither opens nor closes the store.
 */
export function hedgerowQueryStorage<Value = string>(
  store: StoreSource,
  options: QueryStorageOptions = {},
): QueryStorage<Value> {
  const { prefix: given, onError } = optionsOf(
    'hedgerowQueryStorage',
    options,
    QUERY_STORAGE_OPTIONS,
  );
  const opened = openedOnce('hedgerowQueryStorage', store);
  const prefix = checkedPrefix('hedgerowQueryStorage', given);
  const rowOf = (key: string) => prefix + shortenKey(key);
  checkKey(prefix + 'x'.repeat(LONGEST), 'hedgerowQueryStorage: prefix');
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
      // Another key may have the same hash: then this one is not kept.
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
 * Makes options of `experimental_createQueryPersister` that keep queries as objects, without turning them into text: a
 * query's data may be any value that the store keeps. They leave out the errors of its state.
 */
export function hedgerowQueryPersistence<Query extends AnyQuery>(
  store: StoreSource,
  options: QueryStorageOptions = {},
): QueryPersistence<Query> {
  return {
    storage: hedgerowQueryStorage<Query>(store, options),
    serialize: (query) => ({
      ...query,
      // The persister does not read these, and an error is no value of a store.
      state: { ...query.state, error: null, fetchFailureReason: null, fetchMeta: null },
    }),
    deserialize: (query) => query,
  };
}
