/** A driver of `unstorage` in a store. */

import type { Store } from 'hedgerow';
import {
  anything,
  buildKeyRange,
  HedgerowError,
  isBuffer,
  isByteArray,
  isRevoked,
  listOf,
  type OptionsOf,
  optionsOf,
} from 'hedgerow/kit';
import {
  checkCallback,
  checkedPrefix,
  openedOnce,
  rowKey,
  type StoreSource,
} from './check-adapter-arguments.js';
import { clearKeyRange } from './delete-range.js';

const UNSTORAGE_OPTIONS = {
  /** The prefix of the store's keys; `''` by default. */
  prefix: anything<string>(),
};

/** Options of `hedgerowDriver`. */
export interface UnstorageOptions extends OptionsOf<typeof UNSTORAGE_OPTIONS> {}

/** A value that unstorage takes from a driver, and passes on. */
type Item = string | number | boolean | object | null;

/** A driver, as `createStorage({ driver })` and `storage.mount(base, driver)` take it. */
export interface UnstorageDriver {
  readonly name: string;
  readonly options: UnstorageOptions;
  readonly getInstance: () => Promise<Store>;
  hasItem(key: string): Promise<boolean>;
  getItem(key: string): Promise<Item>;
  getItems(items: readonly { key: string }[]): Promise<{ key: string; value: Item }[]>;
  getItemRaw(key: string): Promise<unknown>;
  setItem(key: string, value: string): Promise<void>;
  /** Sets all items in one commit. */
  setItems(items: readonly { key: string; value: string }[]): Promise<void>;
  /** Takes bytes (a typed array, an `ArrayBuffer`, a `Blob`), or a value that JSON keeps. */
  setItemRaw(key: string, value: unknown): Promise<void>;
  removeItem(key: string): Promise<void>;
  getKeys(base?: string): Promise<string[]>;
  clear(base?: string): Promise<void>;
  /** Calls `callback` for the changes of all tabs. */
  watch(callback: (event: 'update' | 'remove', key: string) => unknown): Promise<() => void>;
  /** Ends all watches. The store stays open. */
  dispose(): void;
}

/** Returns bytes as the store keeps them; other values as they are. */
async function toStorable(value: unknown): Promise<unknown> {
  if (isRevoked(value)) {
    throw new HedgerowError('invalid-argument/value', 'a revoked proxy has no value');
  }
  if (isByteArray(value)) return value;
  if (isBuffer(value)) return new Uint8Array(value);
  if (ArrayBuffer.isView(value)) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  const isBlob = typeof Blob === 'function' && value instanceof Blob;
  return isBlob ? new Uint8Array(await value.arrayBuffer()) : value;
}

/** Returns the members of a list of entries. Throws `invalid-argument`. */
function entriesOf<Entry extends object>(given: readonly Entry[]): Entry[] {
  return listOf('hedgerowDriver', given).map((one) => Object(one) as Entry);
}

/** Makes a driver that keeps items in a store, below a prefix. It neither opens nor closes the store. */
export function hedgerowDriver(
  store: StoreSource,
  options: UnstorageOptions = {},
): UnstorageDriver {
  const opened = openedOnce('hedgerowDriver', store);
  const own = optionsOf('hedgerowDriver', options, UNSTORAGE_OPTIONS);
  const prefix = checkedPrefix('hedgerowDriver', own.prefix);
  const watches = new Set<() => void>();
  const getItem = async (key: string) =>
    ((await (await opened()).get(rowKey(prefix, key))) ?? null) as Item;
  return {
    name: 'hedgerow',
    options,
    getInstance: opened,
    hasItem: async (key) => (await opened()).has(rowKey(prefix, key)),
    getItem,
    getItemRaw: getItem,
    async getItems(given) {
      const items = entriesOf(given);
      const values = await (await opened()).getMany(items.map(({ key }) => rowKey(prefix, key)));
      return items.map(({ key }, at) => ({ key, value: (values[at] ?? null) as Item }));
    },
    setItem: async (key, value) => (await opened()).put(rowKey(prefix, key), value),
    async setItems(given) {
      const items = entriesOf(given);
      await (await opened()).putMany(
        items.map(({ key, value }) => [rowKey(prefix, key), value] as const),
      );
    },
    setItemRaw: async (key, value) =>
      (await opened()).put(rowKey(prefix, key), await toStorable(value)),
    removeItem: async (key) => (await opened()).delete(rowKey(prefix, key)),
    async getKeys(base = '') {
      const keys = await (await opened())
        .scan(buildKeyRange({ prefix: rowKey(prefix, base) }))
        .keys()
        .toArray();
      return keys.map((key) => key.slice(prefix.length));
    },
    async clear(base = '') {
      await clearKeyRange(await opened(), buildKeyRange({ prefix: rowKey(prefix, base) }));
    },
    async watch(callback) {
      checkCallback('hedgerowDriver: watch', callback);
      const stop = (await opened()).watch(buildKeyRange({ prefix }), (changes) => {
        for (const { op, key } of changes) {
          callback(op === 'delete' ? 'remove' : 'update', key.slice(prefix.length));
        }
      });
      watches.add(stop);
      return () => {
        watches.delete(stop);
        stop();
      };
    },
    dispose() {
      for (const stop of watches) stop();
      watches.clear();
    },
  };
}
