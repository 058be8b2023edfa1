/** A storage adapter of Keyv in a store. */

import type { Store } from 'hedgerow';
import {
  anything,
  buildKeyRange,
  HedgerowError,
  listOf,
  type OptionsOf,
  optionsOf,
  shownAs,
} from 'hedgerow/kit';
import { checkedPrefix, openedOnce, rowKey, type StoreSource } from './check-adapter-arguments.js';
import { clearKeyRange } from './delete-range.js';

const KEYV_OPTIONS = {
  /** The prefix of the store's keys; `''` by default. */
  prefix: anything<string>(),
};

/** Options of `HedgerowKeyv`. */
export interface HedgerowKeyvOptions extends OptionsOf<typeof KEYV_OPTIONS> {}

/** A row, with the time at which it expires. */
interface Row {
  readonly value: unknown;
  readonly expires?: number | undefined;
}

interface Entry {
  key: string;
  // biome-ignore lint/suspicious/noExplicitAny: as Keyv types it
  value: any;
  ttl?: number;
}

const isExpired = ({ expires = Number.POSITIVE_INFINITY }: Row) => expires <= Date.now();

function rowOf(value: unknown, ttl: number | undefined): Row {
  // Keyv has several values for no expiry.
  if (!ttl || ttl === Number.POSITIVE_INFINITY) return { value };
  if (typeof ttl === 'number') return { value, expires: Date.now() + ttl };
  const message = `HedgerowKeyv: ttl must be a number of milliseconds, not ${shownAs(ttl)}`;
  throw new HedgerowError('invalid-argument', message);
}

/** Returns the value of a row, until it expires. */
function liveValue(row: unknown): unknown {
  return row === undefined || isExpired(row as Row) ? undefined : (row as Row).value;
}

/**
 * The storage of `new Keyv({ store: new HedgerowKeyv(db) })`, which keeps values in a store, below a prefix. It neither
 * opens nor closes the store.
 */
export class HedgerowKeyv {
  /** Keyv makes its `iterator` only for dialects of its own list, and has no other use for the name. */
  readonly opts: { [name: string]: unknown } = { dialect: 'sqlite' };
  /** Set by Keyv, which puts it before its keys. */
  namespace: string | undefined;
  readonly #opened: () => Promise<Store>;
  readonly #prefix: string;
  readonly #listeners = new Set<(cause: unknown) => void>();

  constructor(store: StoreSource, options: HedgerowKeyvOptions = {}) {
    const { prefix } = optionsOf('HedgerowKeyv', options, KEYV_OPTIONS);
    this.#opened = openedOnce('HedgerowKeyv', store);
    this.#prefix = checkedPrefix('HedgerowKeyv', prefix);
  }

  /** Listens to errors of `get`, which Keyv does not report by itself. */
  // biome-ignore lint/suspicious/noExplicitAny: as Keyv types it
  on(event: string, listener: (...facts: any[]) => void): this {
    if (event === 'error') this.#listeners.add(listener);
    return this;
  }

  async get<Value>(key: string): Promise<Value | undefined> {
    try {
      return liveValue(await (await this.#opened()).get(rowKey(this.#prefix, key))) as
        | Value
        | undefined;
    } catch (cause) {
      for (const listener of this.#listeners) listener(cause);
      throw cause;
    }
  }

  async getMany<Value>(keys: string[]): Promise<(Value | undefined)[]> {
    return (await this.#rows(keys)).map(liveValue) as (Value | undefined)[];
  }

  /** A `ttl` is in milliseconds. */
  async set(key: string, value: unknown, ttl?: number): Promise<boolean> {
    await (await this.#opened()).put(rowKey(this.#prefix, key), rowOf(value, ttl));
    return true;
  }

  /** Sets all values in one commit. Resolves to a list of `true`, which Keyv's code takes and its types lack. */
  // biome-ignore lint/suspicious/noExplicitAny: `boolean[]` is no `void`
  async setMany(entries: Entry[]): Promise<any> {
    const rows = listOf('HedgerowKeyv', entries).map((entry) => {
      const { key, value, ttl } = Object(entry) as Entry;
      return [rowKey(this.#prefix, key), rowOf(value, ttl)] as const;
    });
    await (await this.#opened()).putMany(rows);
    return rows.map(() => true);
  }

  /** Resolves to whether there was a row. Deletions of one turn share a commit. */
  async delete(key: string): Promise<boolean> {
    const db = await this.#opened();
    const at = rowKey(this.#prefix, key);
    // Not one after the other: a value that is set in between must stay.
    const [was] = await Promise.all([db.has(at), db.delete(at)]);
    return was;
  }

  /** Deletes rows in one commit. Resolves to whether there was any. */
  async deleteMany(keys: string[]): Promise<boolean> {
    const db = await this.#opened();
    const all = this.#keys(keys);
    // At once, as in `delete`.
    const [were] = await Promise.all([db.getMany(all), db.deleteMany(all)]);
    return were.some((row) => row !== undefined);
  }

  async has(key: string): Promise<boolean> {
    return (await this.hasMany([key]))[0] === true;
  }

  async hasMany(keys: string[]): Promise<boolean[]> {
    return (await this.#rows(keys)).map((row) => row !== undefined && !isExpired(row as Row));
  }

  /** Deletes all rows of the namespace; without one, all rows below the prefix. */
  async clear(): Promise<void> {
    await clearKeyRange(
      await this.#opened(),
      buildKeyRange({ prefix: this.#within(this.namespace) }),
    );
  }

  /** Deletes expired rows, also of other namespaces: Keyv itself only hides them. Resolves to their number. */
  async deleteExpired(): Promise<number> {
    const db = await this.#opened();
    return db.transaction(async (tx) => {
      let deleted = 0;
      for await (const [key, row] of tx.scan(buildKeyRange({ prefix: this.#prefix }))) {
        if (!isExpired(row as Row)) continue;
        tx.delete(key);
        deleted += 1;
      }
      return deleted;
    });
  }

  /** Yields all values that have not expired, from one commit. */
  async *iterator<Value>(
    namespace?: string,
  ): AsyncGenerator<(string | Awaited<Value> | undefined)[], void> {
    const db = await this.#opened();
    for await (const [key, row] of db.scan(buildKeyRange({ prefix: this.#within(namespace) }))) {
      if (isExpired(row as Row)) continue;
      yield [key.slice(this.#prefix.length), (row as Row).value as Awaited<Value>];
    }
  }

  /** Leaves the store open: the app closes it. */
  async disconnect(): Promise<void> {}

  #within(namespace: string | undefined): string {
    return namespace ? `${this.#prefix}${namespace}:` : this.#prefix;
  }

  async #rows(keys: string[]): Promise<unknown[]> {
    return (await this.#opened()).getMany(this.#keys(keys));
  }

  #keys(keys: string[]): string[] {
    return listOf('HedgerowKeyv', keys).map((key) => rowKey(this.#prefix, key));
  }
}
