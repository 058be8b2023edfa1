/** The modules that programs import: the package itself, whose stores are kept apart and recorded. */

import type { Storage, Store } from 'hedgerow';
import * as hedgerow from 'hedgerow';
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

const OTHERS = {
  'hedgerow/tables': () => import('hedgerow/tables'),
  'hedgerow/live': () => import('hedgerow/live'),
  'hedgerow/keys': () => import('hedgerow/keys'),
  'hedgerow/words': () => import('hedgerow/words'),
} as const;

export const MODULE_NAMES = ['hedgerow', ...Object.keys(OTHERS)];

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
  async named(names: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
    const modules: Record<string, unknown> = {};
    for (const name of names) {
      if (name === 'hedgerow') modules[name] = this.#main();
      else if (Object.hasOwn(OTHERS, name))
        modules[name] = await OTHERS[name as keyof typeof OTHERS]();
      else throw new TypeError(`${name} is not here: there are ${MODULE_NAMES.join(', ')}`);
    }
    return modules;
  }

  /** Returns the names of a line: the store, and all exports of the modules. */
  async names(): Promise<Readonly<Record<string, unknown>>> {
    const all = Object.values(await this.named(MODULE_NAMES)) as object[];
    return { ...Object.assign({}, ...all), db: this.db };
  }
}
