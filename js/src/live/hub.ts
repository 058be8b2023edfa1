import { memberOf } from '../base/kind.js';
import { checkHas } from '../base/options.js';
import type { ReadContext } from '../engine/read/context.js';
import type { Ground, Group } from './group.js';
import type { Here, Watchable } from './types.js';

/** What a hub knows of its followers. */
export interface Following {
  readonly wanted: { readonly name: string };
  readonly listeners: ReadonlySet<() => void>;
  retry(): void;
}

/** All that is shown of one handle. */
export class Hub implements Ground {
  readonly db: Here;
  readonly from: ReadContext;
  readonly groups = new Map<string, Set<Group>>();
  readonly #followers = new Map<string, Following>();
  /** Those whose listeners the next `flush` calls. */
  readonly changed = new Set<Following>();
  #forget = () => {};

  constructor(db: Here, from: ReadContext) {
    this.db = db;
    this.from = from;
  }

  /** The follower of this name that has begun. */
  find(name: string): Following | undefined {
    return this.#followers.get(name);
  }

  add(follower: Following): void {
    if (this.#followers.size === 0) {
      this.#forget = this.db.onRecovery(() => {
        for (const one of [...this.#followers.values()]) one.retry();
      });
    }
    this.#followers.set(follower.wanted.name, follower);
  }

  delete(follower: Following): void {
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

const hubs = new WeakMap<object, Hub>();

/** The hub of a handle. Throws `invalid-argument` for anything else. */
export function hubOf(call: string, db: Watchable): Hub {
  // What its reads work on.
  const from = memberOf(db, 'from') as ReadContext | undefined;
  checkHas(call, from && db, 'watch', 'a store, a branch of one, or a query of one');
  const hub = hubs.get(db) ?? new Hub(db as Here, from as ReadContext);
  hubs.set(db, hub);
  return hub;
}
