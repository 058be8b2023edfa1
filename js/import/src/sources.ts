/** Makes sources: of object stores of IndexedDB as libraries have them, and of entries of any other place. */

import {
  anything,
  HedgerowError,
  kindOf,
  mandatory,
  type OptionsOf,
  optionsOf,
} from 'hedgerow/kit';
import type { Entries } from './iterable-source.js';
import { loadImport } from './on-demand-import-code.js';
import { checkTextOption } from './text-option.js';
import type { RecordSource } from './types.js';

const name = anything<string>();
const IDB_NAMES = { database: mandatory(name), store: mandatory(name) };
const DEXIE_NAMES = { database: mandatory(name), table: mandatory(name) };
const FORAGE_NAMES = { name, storeName: name };
const KEYVAL_NAMES = { database: name, store: name };
const ENTRIES = { name: mandatory(name), entries: mandatory(anything<() => unknown>()) };

const same = (stored: unknown) => stored as never;

function sourceOf<Value, Key>(
  call: string,
  names: Readonly<Record<string, unknown>>,
  made: (stored: unknown) => Value = same,
): RecordSource<Value, Key> {
  const [database, store] = Object.entries(names).map(([name, value]) =>
    checkTextOption(call, name, value),
  ) as [string, string];
  // This gives different sources different names.
  const name = [database, store].map(encodeURIComponent).join('/');
  const open = async () => {
    // Firefox before 126 lacks it.
    const all = await globalThis.indexedDB?.databases?.().catch(() => undefined);
    if (all?.every((one) => one.name !== database)) return undefined;
    return (await loadImport()).openStore<Value, Key>(database, store, made);
  };
  return { name, open };
}

/** Makes a source of an object store, in the order of its keys. It neither makes, upgrades nor blocks the database. */
export function fromIndexedDB<Value = unknown, Key = IDBValidKey>(
  names: OptionsOf<typeof IDB_NAMES>,
): RecordSource<Value, Key> {
  const { database, store } = optionsOf('fromIndexedDB', names, IDB_NAMES);
  return sourceOf('fromIndexedDB', { database, store });
}

/** Makes a source of a table of a Dexie database. */
export function fromDexie<Value = unknown, Key = IDBValidKey>(
  names: OptionsOf<typeof DEXIE_NAMES>,
): RecordSource<Value, Key> {
  const { database, table } = optionsOf('fromDexie', names, DEXIE_NAMES);
  return sourceOf('fromDexie', { database, table });
}

/** Makes a source of what localForage has stored in IndexedDB, under the names of its `config`. */
export function fromLocalForage<Value = unknown>(
  names: OptionsOf<typeof FORAGE_NAMES> = {},
): RecordSource<Value, string> {
  const { name = 'localforage', storeName = 'keyvaluepairs' } = optionsOf(
    'fromLocalForage',
    names,
    FORAGE_NAMES,
  );
  return sourceOf('fromLocalForage', { name, storeName }, forageValue<Value>);
}

/** Decodes a value: localForage stores `null` as `undefined`, and a `Blob` as text where a browser cannot store it. */
function forageValue<Value>(stored: unknown): Value {
  const {
    __local_forage_encoded_blob: isBlob,
    data,
    type,
  } = (stored ?? {}) as Record<string, string>;
  if (!isBlob) return (stored ?? null) as Value;
  const bytes = Uint8Array.from(atob(data ?? ''), (char) => char.charCodeAt(0));
  return new Blob([bytes], { type: type ?? '' }) as Value;
}

/** Makes a source of what idb-keyval has stored; without names, in its default store. */
export function fromIdbKeyval<Value = unknown, Key = IDBValidKey>(
  names: OptionsOf<typeof KEYVAL_NAMES> = {},
): RecordSource<Value, Key> {
  const { database = 'keyval-store', store = 'keyval' } = optionsOf(
    'fromIdbKeyval',
    names,
    KEYVAL_NAMES,
  );
  return sourceOf('fromIdbKeyval', { database, store });
}

/**
 * Makes a source of entries of any other place, such as localStorage or a library. Each reading calls `entries`, which
 * returns them in the same order each time; `undefined` if there are no entries to import.
 */
export function fromEntries<Value = unknown, Key = string>(given: {
  readonly name: string;
  readonly entries: () => Entries<Value, Key> | PromiseLike<Entries<Value, Key>>;
}): RecordSource<Value, Key> {
  const { name, entries } = optionsOf('fromEntries', given, ENTRIES);
  if (typeof entries !== 'function') {
    const message = `fromEntries: entries must be a function, not ${kindOf(entries)}`;
    throw new HedgerowError('invalid-argument', message);
  }
  return {
    name: checkTextOption('fromEntries', 'name', name),
    open: async () => (await loadImport()).openEntries(entries),
  };
}
