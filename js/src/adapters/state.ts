/** A storage for libraries of state: `persist` of Zustand, `atomWithStorage` of Jotai, redux-persist. */

import { HedgerowError } from '../base/errors.js';
import { optionsOf } from '../base/options.js';
import { notify, report } from '../base/report.js';
import type { Store } from '../index.js';
import { checkCallback, checkedPrefix, openedOnce, rowKey, type StoreSource } from './handle.js';

/** Options of `stateStorage`. */
export interface StateStorageOptions {
  /** What the keys of the store begin with; `''` by default. */
  readonly prefix?: string | undefined;
  /** Called when a write has failed, which also rejects, and when changes are not told any more. */
  readonly onError?: ((cause: unknown, key: string) => void) | undefined;
}

/** A storage of values: objects, or texts where the library makes these. */
// biome-ignore lint/suspicious/noExplicitAny: one storage fits all three libraries
export interface StateStorage<Value = any> {
  getItem(key: string): Promise<Value | null>;
  /** `initialValue` where there is none. */
  getItem(key: string, initialValue: Value): Promise<Value>;
  /**
   * Deletes it if the value is `undefined`. Writes of one key are made in their order, and those made meanwhile in one commit.
   * One that is made during the first `getItem` of its key without an `initialValue` waits for it, and rejects with `conflict`
   * if that finds a value: the library would lay that over a state that was made without it.
   */
  setItem(key: string, value: Value): Promise<void>;
  removeItem(key: string): Promise<void>;
  /**
   * Calls `callback` with the value of a key whenever it has become another one than this storage has last read or
   * written: by another tab, or by other code. At its beginning it also does so unless `getItem` has read that value, with
   * no write after it. A value that was deleted is `initialValue`, or `null` without one. Returns how to stop.
   */
  subscribe(key: string, callback: (value: Value) => void, initialValue?: Value): () => void;
}

/** What is known of a key. */
interface KeyState {
  /** The value last read or written, as JSON; `''` if it is not known. */
  text: string | undefined;
  /** How many writes were begun. */
  writes: number;
  /** The first read, while it is under way; `null` when it is over. */
  first?: Promise<unknown> | null;
  /** Called with the value, `undefined` if there is none. */
  readonly listeners: Set<(value: unknown) => void>;
  /** Ends the watch, while anybody listens. */
  stop?: () => void;
}

function textOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    // The store says why.
    return '';
  }
}

/** The rows of the states, and what is known of them. */
class States {
  readonly #opened: () => Promise<Store>;
  readonly #prefix: string;
  readonly #onError: StateStorageOptions['onError'];
  readonly #all = new Map<string, KeyState>();

  constructor(store: StoreSource, options: StateStorageOptions) {
    const { prefix, onError } = optionsOf('stateStorage', options, 'prefix onError');
    this.#opened = openedOnce('stateStorage', store);
    this.#prefix = checkedPrefix('stateStorage', prefix);
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
    // Then the promise may be dropped, as some libraries do.
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
    // All wait, so that they keep their order.
    const isStored = known.first && (await known.first) !== undefined;
    if (isStored && value !== undefined) {
      throw new HedgerowError('conflict', `the state ${key} was set before it was read`);
    }
    known.text = '';
    known.writes += 1;
    const { writes } = known;
    try {
      // Only for those who listen: it costs what storing the value does.
      if (known.listeners.size > 0) known.text = textOf(value);
      const db = await this.#opened();
      await (value === undefined ? db.delete(at) : db.put(at, value));
    } finally {
      // Another tab may have written meanwhile; or this was refused. What cannot be read the watch tells.
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
      // Who listens from now on begins anew.
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

  /** Tells what the store has by now, unless it is what is known. */
  async #look(key: string): Promise<void> {
    const known = this.#knownOf(key);
    const { writes } = known;
    if (known.listeners.size === 0) return;
    // This waits for what was written before. What is written meanwhile looks by itself.
    const value = await (await this.#opened()).get(rowKey(this.#prefix, key));
    const text = textOf(value);
    if (known.writes !== writes || known.text === text) return;
    known.text = text;
    for (const listener of known.listeners) notify(listener, value);
  }
}

/** A storage in a store, below a prefix. It neither opens nor closes the store. */
// biome-ignore lint/suspicious/noExplicitAny: as that of the interface
export function stateStorage<Value = any>(
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
      checkCallback('stateStorage: subscribe', callback);
      return states.listen(key, (value) =>
        callback((value === undefined ? (initialValue ?? null) : value) as Value),
      );
    },
  };
}
