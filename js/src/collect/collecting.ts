import { isFull } from '../base/errors.js';
import { part } from '../base/parts.js';
import { cacheStats } from '../core/calls/segments.js';
import type { Host } from '../core/host.js';
import type { BranchHead } from '../history/branch-head.js';
import type { AskedMessage, Tabs } from '../tabs/tabs.js';
import type { CompactResult } from './collection.js';
import type { Collector } from './collector.js';

/** So long after the opening, or a change, the store is looked at, in milliseconds. */
const LOOK_MS = 1000;
/** When so much was stored since the opening it is looked at before: a fast writer fills a disk in a second. */
const MUCH_BYTES = 4 << 20;

/** What gives back the room of what is dead, and keeps from that a commit that is no head. */
export const loadCollector = () => part(() => import('./collect-parts.js'));

/**
 * Has the room given back of what no commit reaches any more. All of that is loaded only when a store has
 * been open, or has changed, for a while: no page waits for it at its start.
 */
export class Collecting {
  readonly #host: Host;
  readonly #branchHead: BranchHead;
  readonly #tabs: Tabs | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #loading: Promise<Collector> | undefined;
  #collector: Collector | undefined;
  /** Bytes stored when they were first counted. */
  #firstBytes: number | undefined;
  #closed = false;

  /** Of a store that `tabs` are told of. */
  constructor(host: Host, branchHead: BranchHead, tabs: Tabs | undefined) {
    this.#host = host;
    this.#branchHead = branchHead;
    this.#tabs = tabs;
    branchHead.pins.onRole = () => this.changed();
    if (tabs !== undefined) tabs.onAsked = (message) => this.#hear(message);
    // Until it is loaded, and has its own rule.
    branchHead.shared.room = (isBulk) => this.#wait(isBulk);
    this.changed();
  }

  /** For a writer: waits for what knows whether there is room, when much was stored since the opening. */
  #wait(isBulk: boolean): Promise<void> | undefined {
    if (this.#closed || !this.#branchHead.pins.isCollected || !this.#isMuch()) return undefined;
    return this.#loaded().then(
      () => this.#branchHead.shared.room(isBulk),
      // Nothing is collected for now.
      () => {},
    );
  }

  #isMuch(): boolean {
    const { engine } = this.#host;
    try {
      if (!engine.isReady) return false;
      const bytes = cacheStats(engine).storedBytes - this.#branchHead.shared.unusedBytes;
      this.#firstBytes ??= bytes;
      return bytes - this.#firstBytes >= MUCH_BYTES;
    } catch {
      // The core has trapped, which the next call of a user will hear.
      return false;
    }
  }

  /** The store has changed, or its role has: looks soon whether there is something to collect. */
  changed(): void {
    if (this.#collector !== undefined) this.#collector.changed();
    else if (this.#timer === undefined && !this.#closed) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.#loaded().then(
          (collector) => collector.changed(),
          // Nothing is collected for now.
          () => {},
        );
      }, LOOK_MS);
      // Node must not wait for it.
      (this.#timer as { unref?(): void }).unref?.();
    }
  }

  #hear(message: AskedMessage): void {
    if (this.#collector !== undefined) this.#collector.hear(message);
    else if (message.is === 'collect' && this.#branchHead.pins.isCollector && !this.#closed) {
      this.#loaded().then(
        (collector) => collector.hear(message),
        // Who asks hears nothing, and does it.
        () => {},
      );
    }
  }

  /** There was no room for a change. */
  full(): void {
    if (this.#closed || !this.#branchHead.pins.isCollector) return;
    this.#loaded().then(
      (collector) => collector.full(),
      // Nothing is collected for now.
      () => {},
    );
  }

  /**
   * Makes a deletion. When it finds no room it is made again after what is dead has gone: first what is
   * found without reading leaves, then dead values, too.
   */
  async makingRoom<T>(change: () => Promise<T>): Promise<T> {
    for (const isFullCollection of [false, true]) {
      try {
        return await change();
      } catch (cause) {
        if (!isFull(cause) || !this.#branchHead.pins.isCollector) throw cause;
        await (await this.#loaded()).makeRoom(isFullCollection);
      }
    }
    return change();
  }

  /** Why the last collection failed; `undefined` after one that did not. */
  get failure(): unknown {
    return this.#collector?.failure;
  }

  /** As `db.compact()`. */
  async request(): Promise<CompactResult> {
    return (await this.#loaded()).request();
  }

  #loaded(): Promise<Collector> {
    const load = async () => {
      const { Collector } = await loadCollector();
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

  /** Stops; resolves when nothing is under way. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#collector?.close();
  }
}
