/** Who has a store open, as the locks of its handles tell it: see `tabs/pins.ts` and `tabs/role.ts`. */

import { prefixOf } from '../../storage/tabs/pins.js';

/** One lock of a store. */
export interface LockShown {
  /** The name without that of the store. */
  readonly name: string;
  readonly means: string;
  readonly isHeld: boolean;
  /** Stands for a tab or a worker: the browser tells no more of it. */
  readonly client: string;
}

/** What the locks of a store tell. */
export interface LocksShown {
  readonly locks: readonly LockShown[];
  /** Tabs and workers that hold or wait for one; this one is among them. */
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

/** The locks of a store among all of the origin. */
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
