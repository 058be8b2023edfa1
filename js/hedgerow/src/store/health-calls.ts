/** The calls of a handle that concern the health of its storage. */
import type { Health, HealthListener } from './health.js';
import { loadHealth } from './later.js';
import { WatchCalls } from './watch-calls.js';

export abstract class HealthCalls extends WatchCalls {
  /** Throws if the handle is closed. */
  protected abstract checkOpen(): void;

  /**
   * Returns the health of the storage of this store. Asks the browser, and reads no rows: `verify` checks them. Takes
   * some milliseconds. A failure of storage does not reject, but is the state `failing`.
   */
  async health(): Promise<Health> {
    this.checkOpen();
    const { healthOf } = await loadHealth();
    return healthOf(this.handle.health);
  }

  /**
   * Calls `listener` when `state`, the code of `cause` or `isNearQuota` changes, at most once a second; and soon after
   * this call if something is wrong already. Returns a function that stops it. No timer runs: storage is checked when
   * a call of it fails or works again, after `persist`, and after a write once 10 seconds have passed, or 16 MiB were
   * written, since the last check.
   *
   * All branches share the health. Listeners are called until the store is closed. If it is deleted, they are called
   * once more, with a `cause` whose code is `closed`.
   */
  onHealth(listener: HealthListener): () => void {
    this.checkOpen();
    return this.handle.health.on(listener);
  }

  /**
   * Asks the browser to delete the storage of this origin only when the user says so. Resolves to whether this holds
   * now, or to `undefined` if the browser does not say. Call it in a handler of a click or a key. Firefox asks the
   * user: the promise settles when the user answers, which may be never. No other call waits for it.
   */
  async persist(): Promise<boolean | undefined> {
    this.checkOpen();
    return this.handle.health.persist();
  }
}
