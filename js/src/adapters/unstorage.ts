/** A driver of `unstorage` in a store. */

import { optionsOf } from '../base/options.js';
import { keyRange } from '../base/range.js';
import type { Store } from '../index.js';
import { deleteRange } from './delete-range.js';
import { checkedPrefix, type Opened, openedOnce } from './handle.js';

/** Options of `hedgerowDriver`. */
export interface UnstorageOptions {
  /** What the keys of the store begin with; `''` by default. */
  readonly prefix?: string | undefined;
}

/** What unstorage takes from a driver, and gives back from it. */
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
  /** One commit. */
  setItems(items: readonly { key: string; value: string }[]): Promise<void>;
  /** Bytes (a typed array, an `ArrayBuffer`, a `Blob`), or what JSON keeps. */
  setItemRaw(key: string, value: unknown): Promise<void>;
  removeItem(key: string): Promise<void>;
  getKeys(base?: string): Promise<string[]>;
  clear(base?: string): Promise<void>;
  /** Told of the changes of all tabs. */
  watch(callback: (event: 'update' | 'remove', key: string) => unknown): Promise<() => void>;
  /** Ends what was watched. The store stays open. */
  dispose(): void;
}

/** Bytes as the store keeps them; other values as they are. */
async function stored(value: unknown): Promise<unknown> {
  if (value instanceof Uint8Array) return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (ArrayBuffer.isView(value)) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  const isBlob = typeof Blob === 'function' && value instanceof Blob;
  return isBlob ? new Uint8Array(await value.arrayBuffer()) : value;
}

/** A driver that keeps items in a store, below a prefix. It neither opens nor closes the store. */
export function hedgerowDriver(store: Opened, options: UnstorageOptions = {}): UnstorageDriver {
  const opened = openedOnce('hedgerowDriver', store);
  const own = optionsOf('hedgerowDriver', options, 'prefix');
  const prefix = checkedPrefix('hedgerowDriver', own.prefix);
  const watches = new Set<() => void>();
  const getItem = async (key: string) =>
    ((await (await opened()).get(prefix + key)) ?? null) as Item;
  return {
    name: 'hedgerow',
    options,
    getInstance: opened,
    hasItem: async (key) => (await opened()).has(prefix + key),
    getItem,
    getItemRaw: getItem,
    async getItems(items) {
      const values = await (await opened()).getMany(items.map(({ key }) => prefix + key));
      return items.map(({ key }, at) => ({ key, value: (values[at] ?? null) as Item }));
    },
    setItem: async (key, value) => (await opened()).put(prefix + key, value),
    async setItems(items) {
      await (await opened()).putMany(items.map(({ key, value }) => [prefix + key, value] as const));
    },
    setItemRaw: async (key, value) => (await opened()).put(prefix + key, await stored(value)),
    removeItem: async (key) => (await opened()).delete(prefix + key),
    async getKeys(base = '') {
      const keys = await (await opened())
        .scan(keyRange({ prefix: prefix + base }))
        .keys()
        .toArray();
      return keys.map((key) => key.slice(prefix.length));
    },
    async clear(base = '') {
      await deleteRange(await opened(), keyRange({ prefix: prefix + base }));
    },
    async watch(callback) {
      const stop = (await opened()).watch(keyRange({ prefix }), (changes) => {
        for (const { op, key } of changes) {
          callback(op === 'del' ? 'remove' : 'update', key.slice(prefix.length));
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
