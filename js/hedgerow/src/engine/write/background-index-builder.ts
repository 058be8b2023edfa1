import { part } from '../../base/dynamic-import.js';
import { HedgerowError } from '../../base/errors.js';
import { State } from '../../core/indexes/index-set.js';
import type { Host } from '../../core/operation-host.js';
import type { Durability } from '../../storage/segment-store.js';
import type { BranchHead } from '../history/branch-head.js';
import type { IndexProgress } from './build-missing-indexes.js';

export type { IndexProgress };

/** Loads the code that builds indexes, which most pages never need. */
export const loadIndexBuild = () => part(() => import('./build-missing-indexes.js'));

/** Options of an index builder. */
export interface BuilderOptions {
  readonly durability: Durability;
  /** Drop indexes that the handle does not name. */
  readonly alone: boolean;
  readonly onProgress?: ((progress: IndexProgress) => void) | undefined;
}

/**
 * Builds missing indexes in the background. With `alone` it also drops indexes that the handle does not name. Each part
 * of an index is a commit: it is never lost, and other writers keep it up to date.
 */
export class IndexBuilder {
  readonly #host: Host;
  readonly #branchHead: BranchHead;
  readonly #options: BuilderOptions;
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;
  #failed = false;

  constructor(host: Host, branchHead: BranchHead, options: BuilderOptions) {
    this.#host = host;
    this.#branchHead = branchHead;
    this.#options = options;
    host.indexes.madeBy(branchHead, () => {
      this.#failed = false;
      this.look();
    });
    branchHead.onMoved(() => this.look());
    this.look();
  }

  /** Starts building indexes that the head lacks. */
  look(): void {
    const { indexes } = this.#host;
    const { isReady } = this.#branchHead.head.host.engine;
    if (this.#running !== undefined || this.#failed || !isReady) return;
    if (this.#closing.signal.aborted || !this.#isBehind()) {
      indexes.tell(this.#branchHead);
      return;
    }
    this.#running = this.#build()
      .catch((cause: unknown) => {
        // Try again when a read waits for an index, not with every commit.
        this.#failed = true;
        indexes.tell(this.#branchHead, cause);
      })
      .finally(() => {
        this.#running = undefined;
        this.look();
      });
  }

  async #build(): Promise<void> {
    const { buildIndexes } = await loadIndexBuild();
    if (!this.#host.engine.isReady) await this.#host.recover();
    const { signal } = this.#closing;
    const isBehind = () => this.#isBehind();
    await buildIndexes({
      host: this.#host,
      head: this.#branchHead,
      isBehind,
      signal,
      ...this.#options,
    });
  }

  #isBehind(): boolean {
    const { leftovers, head } = this.#branchHead;
    const { view } = head;
    const { indexes } = head.host;
    // Drop other indexes only once: a tab with another version may build them again.
    leftovers.indexes &&= this.#options.alone && indexes.hasOthers(view);
    if (leftovers.indexes) return true;
    return indexes.all.some((index) => indexes.state(view, index) !== State.complete);
  }

  /** Stops; resolves once no work is in progress. */
  async close(): Promise<void> {
    const { indexes } = this.#host;
    this.#closing.abort();
    indexes.madeBy(this.#branchHead);
    indexes.tell(this.#branchHead, new HedgerowError('closed', 'the store is closed'));
    await this.#running;
  }
}
