/** The namespace `db.health`. */

import { runAbortable } from '../base/run-abortable.js';
import type { CompactResult } from '../engine/collect/garbage-collection-run.js';
import type { Stats } from '../engine/read/store-stats.js';
import { REPAIR_OPTIONS, type RepairOptions } from '../engine/repair/repair-options.js';
import type { RepairResult } from '../engine/repair/types.js';
import type { Verification } from '../engine/verify/verify-commit.js';
import { VERIFY_OPTIONS, type VerifyOptions } from '../engine/verify/verify-options.js';
import type { HandleAccess } from './handle-access.js';
import { loadHealth, readParts, repairing, verifying } from './on-demand-code.js';
import type { Health, HealthListener } from './storage-health-types.js';

/** The storage of a store, and the soundness of its rows in it: `db.health`. */
export interface StoreHealth {
  /**
   * Returns the health of the storage of this store. Asks the browser, and reads no rows: `verify` checks them. Takes
   * some milliseconds. A failure of storage does not reject, but is the state `failing`.
   */
  get(): Promise<Health>;
  /**
   * Calls `listener` when `state`, the code of `cause` or `isNearQuota` changes, at most once a second; and soon after
   * this call if something is wrong already. Returns a function that stops it. No timer runs: storage is checked when
   * a call of it fails or works again, after `persist`, and after a write once 10 seconds have passed, or 16 MiB were
   * written, since the last check.
   *
   * All branches share the health. Listeners are called until the store is closed. If it is deleted, they are called
   * once more, with a `cause` whose code is `closed`.
   */
  subscribe(listener: HealthListener): () => void;
  /**
   * Asks the browser to delete the storage of this origin only when the user says so. Resolves to whether this holds
   * now, or to `undefined` if the browser does not say. Call it in a handler of a click or a key. Firefox asks the
   * user: the promise settles when the user answers, which may be never. No other call waits for it.
   */
  persist(): Promise<boolean | undefined>;
  /**
   * Returns how much the store holds, and the shape of its tree. Reads all internal nodes, and all leaves if the live
   * chunks cannot be known without them.
   */
  stats(): Promise<Stats>;
  /**
   * Frees the space of rows that were changed or deleted, and of loads that were cut off. A store also compacts itself
   * when it stores twice as much as it needs. Deletes no chunk that a snapshot, a branch or a running read uses, in any
   * tab. Reads the internal nodes of the trees, and all leaves where large values are stored apart from them.
   *
   * Where several tabs have the store open, one of them compacts it, and this call asks that tab. If it does not answer
   * within 3 seconds, as when it is suspended, this tab takes over, and begins after 3 more. Rejects with `blocked`
   * where no Web Locks show what other tabs use: see `idb({ exclusive })`.
   */
  compact(): Promise<CompactResult>;
  /**
   * Reads all chunks of the newest commit from storage and checks them: each against its hash and its form, keys,
   * counts and levels across nodes, large values against their pieces. It does not end at a fault, but reports each one
   * with the keys that it covers. Works in slices, holds about 32 MiB in addition to the store's own memory, and takes
   * about as long as reading everything.
   */
  verify(options?: VerifyOptions): Promise<Verification>;
  /**
   * Brings a damaged store to the newest commit that verifies completely, as a new commit. If no commit verifies, it
   * fails with the first fault of the newest one, and the store does not change; with `salvage` it keeps the newest
   * one, and deletes its damaged key ranges. A sound store stays as it is. Other writes wait until the repair ends.
   */
  repair(options?: RepairOptions): Promise<RepairResult>;
}

export function createHealth(own: HandleAccess): StoreHealth {
  const { from, health, collector } = own;
  return {
    async get() {
      own.checkOpen();
      return (await loadHealth()).healthOf(health);
    },
    subscribe(listener) {
      own.checkOpen();
      return health.on(listener);
    },
    async persist() {
      own.checkOpen();
      return health.persist();
    },
    async stats() {
      from.check();
      return (await readParts()).statsOf(from.host, from.branchHead, collector.failure);
    },
    async compact() {
      from.check();
      return collector.request();
    },
    async verify(options = {}) {
      from.check();
      return runAbortable('health.verify', options, VERIFY_OPTIONS, async (wanted) =>
        (await verifying()).verifyOpen(from.branchHead, wanted),
      );
    },
    async repair(options = {}) {
      from.check();
      return runAbortable('health.repair', options, REPAIR_OPTIONS, async (wanted) => {
        const { repairOpen } = await repairing();
        const { branchHead } = from;
        const result = await repairOpen(branchHead, wanted, branchHead.shared.announce);
        own.settle(true);
        return result;
      });
    },
  };
}
