import { part } from '../../base/dynamic-import.js';
import { isFull } from '../../base/errors.js';
import { later } from '../../base/timeout.js';
import { storedBytes } from '../../core/calls/segment-calls.js';
import type { Host } from '../../core/operation-host.js';
import type { AskedMessage, TabMessages } from '../../storage/tabs/tab-messages.js';
import type { BranchHead } from '../history/branch-head.js';
import type { Collector } from './collector.js';
import type { CompactResult } from './garbage-collection-run.js';

/** Milliseconds from the opening, or from a change, to the check whether a collection is due. */
const LOOK_MS = 1000;
/** Bytes stored since the opening at which a writer loads the collector: a fast writer fills a disk in a second. */
const MUCH_BYTES = 4 << 20;

/** Loads the collector, and the check that all of a commit is stored. */
export const loadCollector = () => part(() => import('./on-demand-collection-bundle.js'));

/**
 * Runs the collections of a store. Loads the collector only some time after the opening or a change: no page waits for
 * it at its start.
 */
export class CollectionScheduler {
  readonly #host: Host;
  readonly #branchHead: BranchHead;
  readonly #tabs: TabMessages | undefined;
  /** Cancels the planned check. */
  #cancel: (() => void) | undefined;
  #loading: Promise<Collector> | undefined;
  #collector: Collector | undefined;
  /** Bytes stored at the first count. */
  #firstBytes: number | undefined;
  #closed = false;

  /** `tabs` reach the other tabs that have this store open. */
  constructor(host: Host, branchHead: BranchHead, tabs: TabMessages | undefined) {
    this.#host = host;
    this.#branchHead = branchHead;
    this.#tabs = tabs;
    branchHead.pins.onRole = () => this.scheduleCheck();
    if (tabs !== undefined) tabs.onAsked = (message) => this.#hear(message);
    // The collector sets its own rule once it is loaded.
    branchHead.shared.waitForSpace = (isBulk) => this.#wait(isBulk);
    this.scheduleCheck();
  }

  /** Makes a writer wait for space: after many stored bytes it loads the collector and follows the collector's rule. */
  #wait(isBulk: boolean): Promise<void> | undefined {
    if (this.#closed || !this.#branchHead.pins.isCollected || !this.#isMuch()) return undefined;
    return this.#load(() => this.#branchHead.shared.waitForSpace(isBulk));
  }

  #isMuch(): boolean {
    const { engine, pendingTables } = this.#host;
    try {
      if (!engine.isReady || pendingTables !== undefined) return false;
      const bytes = storedBytes(engine) - this.#branchHead.shared.unusedBytes;
      this.#firstBytes ??= bytes;
      return bytes - this.#firstBytes >= MUCH_BYTES;
    } catch {
      // The core has trapped: the user's next call reports it.
      return false;
    }
  }

  /** Checks soon whether a collection is due, since the store or the role of this handle has changed. */
  scheduleCheck(): void {
    if (this.#collector !== undefined) this.#collector.noteChange();
    else if (this.#cancel === undefined && !this.#closed) {
      this.#cancel = later(() => {
        this.#cancel = undefined;
        this.#load((collector) => collector.noteChange());
      }, LOOK_MS);
    }
  }

  #hear(message: AskedMessage): void {
    if (this.#collector !== undefined) this.#collector.hear(message);
    else if (message.is === 'collect' && this.#branchHead.pins.isCollector && !this.#closed) {
      // If the loading fails, the asking tab gets no answer and takes the role.
      this.#load((collector) => collector.hear(message));
    }
  }

  /** Collects soon, since storage had no space for a change. */
  full(): void {
    if (this.#closed || !this.#branchHead.pins.isCollector) return;
    this.#load((collector) => collector.full());
  }

  /**
   * Runs a deletion. When storage is full, collects and repeats it: first without reading leaves, then with a full
   * collection, which also finds dead values.
   */
  async freeingSpace<T>(change: () => Promise<T>): Promise<T> {
    for (const isFullCollection of [false, true]) {
      try {
        return await change();
      } catch (cause) {
        if (!isFull(cause) || !this.#branchHead.pins.isCollector) throw cause;
        await (await this.#ensureCollector()).freeSpace(isFullCollection);
      }
    }
    return change();
  }

  /** The reason why the last collection failed; `undefined` after a success. */
  get failure(): unknown {
    return this.#collector?.failure;
  }

  /** See `db.health.compact()`. */
  async request(): Promise<CompactResult> {
    return (await this.#ensureCollector()).request();
  }

  /** Loads the collector for `act`. After a failure a later change tries again. */
  #load(act: (collector: Collector) => Promise<void> | void): Promise<void> {
    return this.#ensureCollector().then(act, () => {});
  }

  #ensureCollector(): Promise<Collector> {
    const load = async () => {
      const { Collector } = await loadCollector();
      if (!this.#host.engine.isReady) await this.#host.recover();
      const collector = new Collector(this.#host, this.#branchHead, this.#tabs);
      if (this.#closed) await collector.close();
      this.#collector = collector;
      return collector;
    };
    this.#loading ??= load().catch((cause: unknown) => {
      this.#loading = undefined;
      throw cause;
    });
    return this.#loading;
  }

  /** Stops; resolves when no collection runs. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancel?.();
    await this.#collector?.close();
  }
}
