/**
 * Lists the locks of a store's handles, and the tabs that hold them: see `storage/tabs/pins.ts` and
 * `storage/tabs/collector-role.ts`.
 */

import { prefixOf } from 'hedgerow/kit';

/** One lock of a store. */
export interface LockShown {
  /** The name without the prefix of the store. */
  readonly name: string;
  readonly means: string;
  readonly isHeld: boolean;
  /** Stands for a tab or a worker: the browser shows no more of it. */
  readonly client: string;
}

/** The locks of a store. */
export interface LocksShown {
  readonly locks: readonly LockShown[];
  /** The number of tabs and workers that hold or wait for a lock, with this one. */
  readonly clients: number;
}

const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [/^collector$/, 'collects for all tabs'],
  [/^pin\/./, 'reads this root: it stays whole'],
  [/^writer\/./, 'has stored a part of a change'],
  [/^quiet\/./, 'collects, and reads without pins'],
  [/^queue$/, 'waits to commit after lost races'],
  [/^(remote|mutators)\/./, 'syncs, or waits to sync'],
];

const meaningOf = (name: string) =>
  MEANINGS.find(([pattern]) => pattern.test(name))?.[1] ?? 'other';

/** Finds the locks of a store among all locks of the origin. */
export function locksOf(
  { held = [], pending = [] }: LockManagerSnapshot,
  storeName: string,
): LocksShown {
  const prefix = prefixOf(storeName);
  const clients = new Map<string, string>();
  const describeLocks = (infos: readonly LockInfo[], isHeld: boolean) =>
    infos.flatMap(({ name = '', clientId = '' }): LockShown[] => {
      if (!name.startsWith(prefix)) return [];
      const client = clients.get(clientId) ?? `tab ${clients.size + 1}`;
      clients.set(clientId, client);
      const own = name.slice(prefix.length);
      return [{ name: own, means: meaningOf(own), isHeld, client }];
    });
  const locks = [...describeLocks(held, true), ...describeLocks(pending, false)];
  return { locks, clients: clients.size };
}
