/** A driver of localForage in a store. */

import { HedgerowError } from '../base/errors.js';
import { optionsOf } from '../base/options.js';
import type { Store } from '../index.js';
import { decodeStructured, encodeStructured } from '../store/tables/values/structured.js';
import { checkedPrefix, openedOnce, type StoreSource } from './handle.js';

/** Options of `localForageDriver`. */
export interface LocalForageDriverOptions {
  /** The name of the driver, for `setDriver` and `createInstance`; `'hedgerow'` by default. */
  readonly driver?: string | undefined;
  /** The prefix of the store's keys; `''` by default. */
  readonly prefix?: string | undefined;
}

type Callback<Result = void> = ((error: unknown, result: Result) => void) | undefined;
interface InstanceConfig {
  name?: string;
  storeName?: string;
}
/** The instance that localForage has put the driver's methods into. */
interface Instance {
  _dbInfo: InstanceConfig & { place?: string };
  ready(): Promise<void>;
  config(): InstanceConfig;
}

/** A driver, as `localforage.defineDriver` takes it. */
export interface LocalForageDriver {
  readonly _driver: string;
  readonly _support: true;
  _initStorage(options: InstanceConfig): Promise<void>;
  getItem<T>(key: string, callback?: Callback<T | null>): Promise<T | null>;
  setItem<T>(key: string, value: T, callback?: Callback<T>): Promise<T>;
  removeItem(key: string, callback?: Callback): Promise<void>;
  clear(callback?: Callback): Promise<void>;
  length(callback?: Callback<number>): Promise<number>;
  key(n: number, callback?: Callback<string>): Promise<string>;
  keys(callback?: Callback<string[]>): Promise<string[]>;
  iterate<T, U>(
    iteratee: (value: T, key: string, iterationNumber: number) => U,
    callback?: Callback<U>,
  ): Promise<U>;
  dropInstance(place?: InstanceConfig, callback?: Callback): Promise<void>;
}

const BUFFERS =
  /^(ArrayBuffer|DataView|(Int|Uint)(8|16|32)Array|Uint8ClampedArray|Float(32|64)Array|Big(Int|Uint)64Array)$/;

/** Encodes a value for the store. A value of bytes begins with its class, as JSON after two bytes of length. */
async function encodeItem(value: unknown): Promise<unknown> {
  const kind = Object.prototype.toString.call(value).slice(8, -1);
  const isBlob = kind === 'Blob' || kind === 'File';
  if (!isBlob && !BUFFERS.test(kind)) return encodeStructured(value ?? null);
  const { type, name, lastModified } = value as File;
  const head = new TextEncoder().encode(
    JSON.stringify(isBlob ? [kind, type, name, lastModified] : [kind]),
  );
  const { buffer, byteOffset, byteLength } = value as ArrayBufferView;
  const bytes = isBlob
    ? new Uint8Array(await (value as Blob).arrayBuffer())
    : new Uint8Array(buffer ?? (value as ArrayBuffer), byteOffset, byteLength);
  const whole = new Uint8Array(2 + head.length + bytes.length);
  new DataView(whole.buffer).setUint16(0, head.length);
  whole.set(head, 2);
  whole.set(bytes, 2 + head.length);
  return whole;
}

/** Decodes a value that `encodeItem` has made. */
function decodeItem(row: unknown): unknown {
  if (!(row instanceof Uint8Array)) return decodeStructured(row);
  try {
    const end = 2 + new DataView(row.buffer, row.byteOffset).getUint16(0);
    const head: unknown[] = JSON.parse(new TextDecoder().decode(row.subarray(2, end)));
    const [kind, type, name, lastModified] = head as [string, string, string, number];
    const { buffer } = row.slice(end);
    if (kind === 'File' && typeof File === 'function') {
      return new File([buffer], name, { type, lastModified });
    }
    if (kind === 'Blob' || kind === 'File') return new Blob([buffer], { type });
    if (kind === 'ArrayBuffer') return buffer;
    if (!BUFFERS.test(kind)) throw new TypeError(`there is no ${kind}`);
    const Kind = (globalThis as unknown as Record<string, new (bytes: ArrayBuffer) => unknown>)[
      kind
    ];
    return new (Kind as NonNullable<typeof Kind>)(buffer);
  } catch (cause) {
    const message = 'the row holds bytes that the driver of localForage has not written';
    throw new HedgerowError('invalid-value', message, { cause });
  }
}

/** The calls, for the store and the place of an instance. */
const CALLS = {
  async getItem(db: Store, place: string, key: string) {
    const row = await db.get(place + key);
    return row === undefined ? null : decodeItem(row);
  },
  async setItem(db: Store, place: string, key: string, value: unknown) {
    await db.put(place + key, await encodeItem(value));
    return value ?? null;
  },
  removeItem: (db: Store, place: string, key: string) => db.delete(place + key),
  async clear(db: Store, place: string) {
    await db.deleteMany({ prefix: place });
  },
  length: (db: Store, place: string) => db.count({ prefix: place }),
  async key(db: Store, place: string, n: number) {
    const row = n >= 0 ? await db.at(n, { prefix: place }) : undefined;
    return row?.[0].slice(place.length) ?? null;
  },
  async keys(db: Store, place: string) {
    const keys = await db.scan({ prefix: place }).keys().toArray();
    return keys.map((key) => key.slice(place.length));
  },
  async iterate(
    db: Store,
    place: string,
    iteratee: (value: unknown, key: string, iterationNumber: number) => unknown,
  ) {
    let at = 1;
    for await (const [key, row] of db.scan({ prefix: place })) {
      const result = iteratee(decodeItem(row), key.slice(place.length), at++);
      if (result !== undefined) return result;
    }
    return undefined;
  },
};

/** Calls back as localForage does. */
function notifyCallback<T>(promise: Promise<T>, callback: unknown): Promise<T> {
  if (typeof callback === 'function') {
    promise.then(
      (result) => callback(null, result),
      (error) => callback(error),
    );
  }
  return promise;
}

/**
 * Makes a driver that keeps each `storeName` of each `name` in a store, below a prefix. It neither opens nor closes the
 * store.
 */
export function localForageDriver(
  store: StoreSource,
  options: LocalForageDriverOptions = {},
): LocalForageDriver {
  const opened = openedOnce('localForageDriver', store);
  const own = optionsOf('localForageDriver', options, 'driver prefix');
  const prefix = checkedPrefix('localForageDriver', own.prefix);
  // Names are escaped, so that no place begins with another.
  const placeOf = (...names: (string | undefined)[]) =>
    prefix + names.map((name) => `${encodeURIComponent(String(name))}/`).join('');

  const driver: Record<string, unknown> = {
    _driver: own.driver ?? 'hedgerow',
    _support: true,
    async _initStorage(this: Instance, config: InstanceConfig) {
      await opened();
      this._dbInfo = { ...config, place: placeOf(config.name, config.storeName) };
    },
    dropInstance(this: Instance, given: InstanceConfig | undefined, callback: unknown) {
      const isCallback = typeof given === 'function';
      const place = isCallback ? undefined : given;
      const { name, storeName } = place?.name ? place : { ...this.config(), ...place };
      const drop = async () => {
        const gone = storeName ? placeOf(name, storeName) : placeOf(name);
        await (await opened()).deleteMany({ prefix: gone });
      };
      return notifyCallback(drop(), isCallback ? given : callback);
    },
  };
  for (const [name, call] of Object.entries(CALLS)) {
    const work = call as (db: Store, place: string, ...args: unknown[]) => Promise<unknown>;
    const taken = call.length - 2;
    driver[name] = function (this: Instance, ...args: unknown[]) {
      const run = async () => {
        await this.ready();
        return work(await opened(), this._dbInfo.place as string, ...args.slice(0, taken));
      };
      return notifyCallback(run(), args[taken]);
    };
  }
  return driver as unknown as LocalForageDriver;
}
