/** A storage for libraries of state: `persist` of Zustand, `atomWithStorage` of Jotai, redux-persist. */

import type { Store } from 'hedgerow';
import {
  anything,
  fn,
  HedgerowError,
  notify,
  type OptionsOf,
  optionsOf,
  report,
} from 'hedgerow/kit';
import {
  checkCallback,
  checkedPrefix,
  openedOnce,
  rowKey,
  type StoreSource,
} from './check-adapter-arguments.js';

const STATE_STORAGE_OPTIONS = {
  /** The prefix of the store's keys; `''` by default. */
  prefix: anything<string>(),
  /** Called when a write has failed, which also rejects, and when changes are not reported any more. */
  onError: fn<(cause: unknown, key: string) => void>(),
};

/** Options of `hedgerowStateStorage`. */
export interface StateStorageOptions extends OptionsOf<typeof STATE_STORAGE_OPTIONS> {}

/** A storage of values: objects, or texts where the library makes these. */
// biome-ignore lint/suspicious/noExplicitAny: one storage fits all three libraries
export interface StateStorage<Value = any> {
  getItem(key: string): Promise<Value | null>;
  /** Resolves to `initialValue` where there is no value. */
  getItem(key: string, initialValue: Value): Promise<Value>;
  /**
   * Stores a value, or deletes it if it is `undefined`. Writes of one key keep their order; writes that wait share a
   * commit. A write during the first `getItem` of its key without an `initialValue` waits for that read, and rejects
   * with `conflict` if the read finds a value: the library would lay the value over a state that was made without it.
   */
  setItem(key: string, value: Value): Promise<void>;
  removeItem(key: string): Promise<void>;
  /**
   * Calls `callback` with the value of a key when another tab or other code has changed it from the value that this
   * storage has last read or written. Also calls it at the beginning, unless `getItem` has read the value, with no
   * write after it. A deleted value is `initialValue`, or `null` without one. Returns a function that stops this.
   */
  subscribe(key: string, callback: (value: Value) => void, initialValue?: Value): () => void;
}

/** The state of a key. */
interface KeyState {
  /** The value last read or written, as JSON; `''` if unknown. */
  text: string | undefined;
  /** The number of writes begun. */
  writes: number;
  /** The first read, while it runs; `null` when it is over. */
  first?: Promise<unknown> | null;
  /** Called with the value, `undefined` for no value. */
  readonly listeners: Set<(value: unknown) => void>;
  /** Ends the watch, while there are listeners. */
  stop?: () => void;
}

function textOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    // The store will report why.
    return '';
  }
}

/** The rows of all keys, with the state of each. */
class States {
  readonly #opened: () => Promise<Store>;
  readonly #prefix: string;
  readonly #onError: StateStorageOptions['onError'];
  readonly #all = new Map<string, KeyState>();

  constructor(store: StoreSource, options: StateStorageOptions) {
    const { prefix, onError } = optionsOf('hedgerowStateStorage', options, STATE_STORAGE_OPTIONS);
    this.#opened = openedOnce('hedgerowStateStorage', store);
    this.#prefix = checkedPrefix('hedgerowStateStorage', prefix);
    this.#onError = onError;
  }

  async read(key: string, initialValue: unknown): Promise<unknown> {
    const known = this.#knownOf(key);
    const { writes } = known;
    const isFirst = known.first === undefined && writes === 0 && initialValue === null;
    const reading = this.#opened().then((db) => db.get(rowKey(this.#prefix, key)));
    if (isFirst) known.first = reading;
    try {
      const value = await reading;
      if (known.writes === writes) known.text = textOf(value);
      return value === undefined ? initialValue : value;
    } finally {
      if (isFirst) known.first = null;
    }
  }

  write(key: string, value: unknown): Promise<void> {
    const written = this.#write(key, value);
    const onError = this.#onError;
    // Then a library may drop the promise, as some do.
    if (onError !== undefined) written.catch((cause) => onError(cause, key));
    return written;
  }

  listen(key: string, listener: (value: unknown) => void): () => void {
    const known = this.#knownOf(key);
    known.listeners.add(listener);
    known.stop ??= this.#watch(key, known);
    return () => {
      known.listeners.delete(listener);
      if (known.listeners.size === 0) known.stop?.();
    };
  }

  #knownOf(key: string): KeyState {
    const known = this.#all.get(key) ?? {
      text: '',
      writes: 0,
      listeners: new Set(),
    };
    this.#all.set(key, known);
    return known;
  }

  async #write(key: string, value: unknown): Promise<void> {
    const known = this.#knownOf(key);
    const at = rowKey(this.#prefix, key);
    // All writes wait, so that they keep their order.
    const isStored = known.first && (await known.first) !== undefined;
    if (isStored && value !== undefined) {
      throw new HedgerowError('conflict', `the state ${key} was set before it was read`);
    }
    known.text = '';
    known.writes += 1;
    const { writes } = known;
    try {
      // Only with listeners: this costs as much as storing the value.
      if (known.listeners.size > 0) known.text = textOf(value);
      const db = await this.#opened();
      await (value === undefined ? db.delete(at) : db.put(at, value));
    } finally {
      // Another tab may have written in between, or this write was refused. The watch reports a failed read.
      if (known.writes === writes) this.#look(key).catch(() => {});
    }
  }

  #watch(key: string, known: KeyState): () => void {
    let stop: (() => void) | undefined;
    let isOver = false;
    const end = () => {
      isOver = true;
      stop?.();
      delete known.stop;
    };
    const fail = (cause: unknown) => {
      if (isOver) return;
      // The next listener begins a new watch.
      end();
      if (this.#onError === undefined) report(cause);
      else this.#onError(cause, key);
    };
    const begin = async () => {
      const db = await this.#opened();
      if (isOver) return;
      const at = rowKey(this.#prefix, key);
      stop = db.watch({ gte: at, lte: at }, () => this.#look(key), { onError: fail });
      await this.#look(key);
    };
    begin().catch(fail);
    return end;
  }

  /** Calls the listeners with the stored value, unless it is known. */
  async #look(key: string): Promise<void> {
    const known = this.#knownOf(key);
    const { writes } = known;
    if (known.listeners.size === 0) return;
    // This waits for earlier writes. Later ones look by themselves.
    const value = await (await this.#opened()).get(rowKey(this.#prefix, key));
    const text = textOf(value);
    if (known.writes !== writes || known.text === text) return;
    known.text = text;
    for (const listener of known.listeners) notify(listener, value);
  }
}

/** Makes a storage in a store, below a prefix. It neither opens nor closes the store. */
// biome-ignore lint/suspicious/noExplicitAny: as in the interface
export function hedgerowStateStorage<Value = any>(
  store: StoreSource,
  options: StateStorageOptions = {},
): StateStorage<Value> {
  const states = new States(store, options);
  return {
    getItem: async (key: string, initialValue: Value | null = null) =>
      (await states.read(key, initialValue)) as Value,
    setItem: (key, value) => states.write(key, value),
    removeItem: (key) => states.write(key, undefined),
    subscribe(key, callback, initialValue) {
      checkCallback('hedgerowStateStorage: subscribe', callback);
      return states.listen(key, (value) =>
        callback((value === undefined ? (initialValue ?? null) : value) as Value),
      );
    },
  };
}
