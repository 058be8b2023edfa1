import { HedgerowError } from '../base/errors.js';
import { MAX_BUILD_WAIT_MS } from '../base/limits.js';
import { encodeRange } from '../base/range.js';
import { notify } from '../base/report.js';
import { turn } from '../base/scheduler.js';
import { indexReach } from '../core/calls/indexes.js';
import { count, counted } from '../core/calls/reads.js';
import type { Host } from '../core/host.js';
import type { BranchHead } from '../history/branch-head.js';
import type { Index } from '../indexes/definition.js';
import { State } from '../indexes/index-set.js';
import type { Durability } from '../storage/segment-store.js';
import { guarded, Ingest } from './ingest.js';

/** The progress of building indexes. */
export interface IndexProgress {
  /** Rows that every index includes. */
  readonly rows: number;
  readonly total: number;
}

/** Bytes of rows in the first part; each part doubles that, up to `LARGEST_PART`. */
const FIRST_PART = 4 << 20;
const LARGEST_PART = 32 << 20;

/** How indexes are built. */
export interface BuilderOptions {
  readonly durability: Durability;
  /** Drop indexes that the handle does not name. */
  readonly alone: boolean;
  readonly onProgress?: ((progress: IndexProgress) => void) | undefined;
}

/**
 * Builds missing indexes in the background, and drops indexes that the handle does not name, if it asks for that.
 * Each part of an index is a commit: it is never lost, and other writers keep it up to date.
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

  /** Starts building what the head lacks. */
  look(): void {
    const { engine, indexes } = this.#host;
    if (this.#running !== undefined || this.#failed || !engine.isReady) return;
    if (this.#closing.signal.aborted || !this.#isBehind()) {
      indexes.tell(this.#branchHead);
      return;
    }
    this.#running = this.#buildAlone()
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

  #isBehind(): boolean {
    const { indexes } = this.#host;
    const { leftovers, head } = this.#branchHead;
    const { view } = head;
    // Drop other indexes only once: a tab with another version may build them again.
    leftovers.indexes &&= this.#options.alone && indexes.hasOthers(view);
    if (leftovers.indexes) return true;
    return indexes.all.some((index) => indexes.state(view, index) !== State.complete);
  }

  /**
   * Builds unless another tab does. If that tab makes no progress, builds as well: two builders are
   * safe, one of them loses each race, and a part that both build is stored once.
   */
  async #buildAlone(): Promise<void> {
    const { signal } = this.#closing;
    const build = async (isAlone: boolean, before: string): Promise<boolean> => {
      if (!isAlone && before !== this.#reach()) return false;
      await this.#build();
      return true;
    };
    for (let isOver = false; !isOver; ) {
      const before = this.#reach();
      const work = (isAlone: boolean) => build(isAlone, before);
      isOver = await this.#branchHead.pins.alone('indexing', MAX_BUILD_WAIT_MS, work, signal);
    }
  }

  /** The state of all indexes as text, to see whether another tab makes progress. */
  #reach(): string {
    const { engine, indexes } = this.#host;
    const { view } = this.#branchHead.head;
    const reach = (index: Index) => {
      const state = indexes.state(view, index);
      return [state, state === State.partial ? indexReach(engine) : ''];
    };
    return engine.isReady ? String(indexes.all.map(reach)) : '';
  }

  async #build(): Promise<void> {
    const { indexes, engine } = this.#host;
    for (let part = FIRST_PART; ; part = Math.min(2 * part, LARGEST_PART)) {
      await turn();
      if (!engine.isReady) await this.#host.recover();
      if (this.#closing.signal.aborted || !this.#isBehind()) return;
      await this.#make(part);
      indexes.tell(this.#branchHead);
      await this.#report();
    }
  }

  async #make(part: number): Promise<void> {
    const { durability } = this.#options;
    const { signal } = this.#closing;
    const ingest = await Ingest.begin(this.#host, this.#branchHead, durability, { signal });
    const { leftovers } = this.#branchHead;
    const alone = leftovers.indexes;
    await guarded(ingest, async () => {
      ingest.extendIndexes(alone, part);
      await ingest.commit();
    });
    if (alone) leftovers.indexes = false;
  }

  async #report(): Promise<void> {
    const { onProgress } = this.#options;
    if (onProgress === undefined) return;
    const { engine, indexes } = this.#host;
    const held = await this.#branchHead.holdHead();
    try {
      const { view, rows: total } = held.head;
      let rows = total;
      for (const index of indexes.all) {
        const state = indexes.state(view, index);
        if (state === State.complete) continue;
        const op = count(engine, view, encodeRange({ lte: indexReach(engine) }));
        const made = state === State.none ? 0 : await this.#host.read(op, () => counted(engine));
        rows = Math.min(rows, made);
      }
      notify(onProgress, { rows, total });
    } finally {
      held.release();
    }
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
