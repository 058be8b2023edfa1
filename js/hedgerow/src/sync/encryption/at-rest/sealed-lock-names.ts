/**
 * Seals commits and names of remotes in the names of locks, where processes share locks as rows of a file. Web Locks,
 * which a browser keeps in memory, stay as they are: a page that is suspended has no time to seal a name.
 */
import type { Locks } from '../../../base/locks.js';
import type { StoreKeys } from './data-key.js';
import { SealedNames } from './sealed-names.js';

/** The store and the subject of a lock as in `storage/tabs/pins.ts`, for subjects that must not be seen. */
const SECRET = /^hedgerow\/([^/]*)\/((?:pin|remote)\/.*)$/s;
const SEALED = /^hedgerow\/([^/]*)\/sealed\/(.*)$/;

const namesOf = new WeakMap<StoreKeys, SealedNames>();

function lockNames(keys: StoreKeys): SealedNames {
  const names = namesOf.get(keys) ?? new SealedNames(keys.siv, 'lock');
  namesOf.set(keys, names);
  return names;
}

/** Makes locks whose names are sealed; `keysOf` returns the keys of an open store. */
export function sealedLocks(
  inner: Locks,
  keysOf: (storeName: string) => StoreKeys | undefined,
): Locks {
  if (inner.areKept !== true) return inner;
  const parts = (pattern: RegExp, name: string) => {
    const [, store, what = ''] = pattern.exec(name) ?? [];
    const keys = store === undefined ? undefined : keysOf(decodeURIComponent(store));
    return keys && { names: lockNames(keys), start: `hedgerow/${store}/`, what };
  };
  return {
    areKept: true,
    async request(name, options, hold) {
      const own = parts(SECRET, name);
      const shown = own && `${own.start}sealed/${await own.names.seal(own.what)}`;
      return inner.request(shown ?? name, options, hold);
    },
    async query() {
      const { held = [] } = await inner.query();
      const opened = held.map(async ({ name = '' }) => {
        const own = parts(SEALED, name);
        const what = await own?.names.open(own.what);
        return { name: own && what !== undefined ? own.start + what : name };
      });
      return { held: await Promise.all(opened) };
    },
  };
}
