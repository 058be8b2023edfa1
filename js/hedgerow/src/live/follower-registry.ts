import { checkHas } from '../base/check-options.js';
import { onRecovery } from '../base/internal-symbols.js';
import { memberOf } from '../base/runtime-type-checks.js';
import type { ReadContext } from '../engine/read/context.js';
import type { FollowerGroup, GroupHost } from './follower-group.js';
import type { LocalHandle, Watchable } from './types.js';

/** A follower as its live store knows it. */
export interface StoreFollower {
  readonly wanted: { readonly name: string };
  readonly listeners: ReadonlySet<() => void>;
  retry(): void;
}

/** The followers and groups of one handle. */
export class FollowerRegistry implements GroupHost {
  readonly db: LocalHandle;
  readonly from: ReadContext;
  readonly groups = new Map<string, Set<FollowerGroup>>();
  readonly #followers = new Map<string, StoreFollower>();
  /** Followers whose listeners the next `flush` calls. */
  readonly changed = new Set<StoreFollower>();
  #forget = () => {};

  constructor(db: LocalHandle, from: ReadContext) {
    this.db = db;
    this.from = from;
  }

  /** Finds the follower of this name that has begun. */
  find(name: string): StoreFollower | undefined {
    return this.#followers.get(name);
  }

  add(follower: StoreFollower): void {
    if (this.#followers.size === 0) {
      this.#forget = onRecovery(this.db, () => {
        for (const one of [...this.#followers.values()]) one.retry();
      });
    }
    this.#followers.set(follower.wanted.name, follower);
  }

  delete(follower: StoreFollower): void {
    const { name } = follower.wanted;
    if (this.#followers.get(name) !== follower) return;
    this.#followers.delete(name);
    if (this.#followers.size === 0) this.#forget();
  }

  flush(): void {
    for (const follower of this.changed) {
      this.changed.delete(follower);
      const { listeners } = follower;
      for (const listener of [...listeners]) if (listeners.has(listener)) listener();
    }
  }
}

const hubs = new WeakMap<object, FollowerRegistry>();

/** Returns the live store of a handle. Throws `invalid-argument` for anything else. */
export function findLiveStore(call: string, db: Watchable): FollowerRegistry {
  // The context of its reads.
  const from = memberOf(db, 'from') as ReadContext | undefined;
  checkHas(call, from && db, 'watch', 'a store, a branch of one, or a query of one');
  const hub = hubs.get(db) ?? new FollowerRegistry(db as LocalHandle, from as ReadContext);
  hubs.set(db, hub);
  return hub;
}
