/** The modules that programs import: the package itself, whose stores are kept apart and recorded. */

import type { Storage, Store } from 'hedgerow';
import * as hedgerow from 'hedgerow';
import * as proofs from 'hedgerow/proofs';
import type { Keeping } from './protocol.js';
import type { Recorder } from './recorder.js';

/** The prefix of the playground's stores, so that they meet no others of this origin. */
export const PREFIX = 'playground/';

type Options = { readonly storage?: Storage } | undefined;
/** A function of the package that takes the name of a store, and options last. */
type Named = (name: string, ...rest: unknown[]) => Promise<unknown>;

/** Functions that take the name of a store, and the place of their options among the arguments. */
const { open, destroy, verifyStore, repairStore, importStore, clone } = hedgerow;
const NAMED = [
  [open, 'open', 1],
  [destroy, 'destroy', 1],
  [verifyStore, 'verifyStore', 1],
  [repairStore, 'repairStore', 1],
  [importStore, 'importStore', 2],
  [clone, 'clone', 2],
] as readonly (readonly [call: Named, name: string, at: number])[];

export class Modules {
  readonly #recorder: Recorder;
  /** One for each kind of storage: stores in memory live as long as it. */
  readonly #kept = new Map<Storage, Storage>();
  readonly #own: Storage;
  /** The store that was opened last. */
  db: Store | undefined;

  constructor(recorder: Recorder, keeping: Keeping) {
    this.#recorder = recorder;
    this.#own = keeping === 'memory' ? hedgerow.memory() : hedgerow.idb();
  }

  #recorded(storage: Storage): Storage {
    const recorded = this.#kept.get(storage) ?? this.#recorder.over(storage);
    this.#kept.set(storage, recorded);
    return recorded;
  }

  /** Wraps a function for stores of the playground. */
  #named(call: Named, at: number): Named {
    return async (name, ...rest) => {
      const args = Array.from({ length: Math.max(rest.length, at) }, (_, nth) => rest[nth]);
      const options = args[at - 1] as Options;
      args[at - 1] = { ...options, storage: this.#recorded(options?.storage ?? this.#own) };
      const result = await call(typeof name === 'string' ? PREFIX + name : name, ...args);
      if (call === (open as Named)) this.db = result as Store;
      return result;
    };
  }

  #main(): Readonly<Record<string, unknown>> {
    const own = NAMED.map(([call, name, at]) => [name, this.#named(call, at)]);
    return { ...hedgerow, ...Object.fromEntries(own) };
  }

  /** Returns the modules that a program imports; throws for others. */
  named(names: readonly string[]): Readonly<Record<string, unknown>> {
    const all: Record<string, unknown> = { hedgerow: this.#main(), 'hedgerow/proofs': proofs };
    const other = names.find((name) => !Object.hasOwn(all, name));
    if (other === undefined) return all;
    throw new TypeError(`${other} is not here: there are ${Object.keys(all).join(', ')}`);
  }

  /** Returns the names of a line: the store, and all exports of the modules. */
  names(): Readonly<Record<string, unknown>> {
    return { ...this.#main(), ...proofs, db: this.db };
  }
}
