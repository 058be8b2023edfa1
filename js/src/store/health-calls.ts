/** The calls of a handle that concern the health of its storage. */
import type { Health, HealthListener } from './health.js';
import { loadHealth } from './later.js';
import { ReaderWriter } from './reader-writer.js';

export abstract class HealthCalls extends ReaderWriter {
  /** Throws when the handle is closed. */
  protected abstract checkOpen(): void;

  /**
   * How healthy the storage of this store is. Asks the browser, and reads no rows: whether these are sound `verify`
   * finds out. Takes some milliseconds. Never fails because of storage: that is `failing`.
   */
  async health(): Promise<Health> {
    this.checkOpen();
    const { healthOf } = await loadHealth();
    return healthOf(this.handle.health);
  }

  /**
   * Calls `listener` when the state of the health, its cause or `isNearQuota` has changed, at most once a second; and
   * soon after this call when something is wrong already. Returns how to stop. No timer runs meanwhile: storage is
   * looked at when a call of it fails or works again, after `persist`, and after writes, once 10 seconds
   * have passed or 16 MiB were written since it was looked at.
   *
   * The listeners of all branches hear the same, until the store is closed. When it is deleted they are called once
   * more, with the `cause` `closed`.
   */
  onHealth(listener: HealthListener): () => void {
    this.checkOpen();
    return this.handle.health.on(listener);
  }

  /**
   * Asks the browser to delete the storage of this origin only when the user says so. Resolves to whether that is so
   * now; `undefined` where the browser does not tell. Call it in a handler of a click or a key. Firefox asks the user:
   * there it settles when the user has answered, which may be never. Nothing else waits for it.
   */
  async persist(): Promise<boolean | undefined> {
    this.checkOpen();
    return this.handle.health.persist();
  }
}
