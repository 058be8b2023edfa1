/**
 * Makes the indexes that a store lacks, and drops those that nobody wants, beside other work. Each part
 * of an index is a commit, so that what was made stays made, and whoever writes meanwhile keeps it.
 */
import type { Commits } from '../commit.js';
import { HedgerowError } from '../errors.js';
import type { Host } from '../host.js';
import { guarded, Ingest } from '../ingest.js';
import { encodeRange } from '../range.js';
import { notify } from '../report.js';
import { turn } from '../scheduler.js';
import type { Durability } from '../segment-store.js';
import { State } from './index-set.js';

/** How far the indexes are made. */
export interface IndexProgress {
  /** Rows that are in those of them that are furthest behind. */
  readonly rows: number;
  readonly total: number;
}

/** Bytes of rows in the first part; twice as many in each that follows, up to the last. */
const FIRST_PART = 4 << 20;
const LARGEST_PART = 32 << 20;

/** How they are made. */
export interface BuilderOptions {
  readonly durability: Durability;
  /** Drop indexes that are not wanted. */
  readonly alone: boolean;
  readonly onProgress?: ((progress: IndexProgress) => void) | undefined;
}

/** See the module's text. */
export class IndexBuilder {
  readonly #host: Host;
  readonly #commits: Commits;
  readonly #options: BuilderOptions;
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;
  #failed = false;

  constructor(host: Host, commits: Commits, options: BuilderOptions) {
    this.#host = host;
    this.#commits = commits;
    this.#options = options;
    host.indexes.madeBy(commits, () => {
      this.#failed = false;
      this.look();
    });
    commits.onMoved(() => this.look());
    this.look();
  }

  /** Begins to make what the head lacks. */
  look(): void {
    const { engine, indexes } = this.#host;
    if (this.#running !== undefined || this.#failed || !engine.isReady) return;
    if (this.#closing.signal.aborted || !this.#isBehind()) {
      indexes.tell(this.#commits);
      return;
    }
    this.#running = this.#commits.pins
      .alone('indexing', this.#closing.signal, () => this.#build())
      .catch((cause: unknown) => {
        // Not again with every commit: when somebody waits for it.
        this.#failed = true;
        indexes.tell(this.#commits, cause);
      })
      .finally(() => {
        this.#running = undefined;
        this.look();
      });
  }

  #isBehind(): boolean {
    const { indexes } = this.#host;
    const { leftovers, head } = this.#commits;
    const { view } = head;
    // Others are dropped once: a handle of another version may want them back.
    leftovers.indexes &&= this.#options.alone && indexes.hasOthers(view);
    if (leftovers.indexes) return true;
    return indexes.all.some((index) => indexes.state(view, index) !== State.complete);
  }

  async #build(): Promise<void> {
    const { indexes, engine } = this.#host;
    for (let part = FIRST_PART; ; part = Math.min(2 * part, LARGEST_PART)) {
      await turn();
      if (!engine.isReady) await this.#host.recover();
      if (this.#closing.signal.aborted || !this.#isBehind()) return;
      await this.#make(part);
      indexes.tell(this.#commits);
      await this.#report();
    }
  }

  async #make(part: number): Promise<void> {
    const { durability } = this.#options;
    const { signal } = this.#closing;
    const ingest = await Ingest.begin(this.#host, this.#commits, durability, { signal });
    const { leftovers } = this.#commits;
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
    const held = await this.#commits.holdHead();
    try {
      const { view, rows: total } = held.head;
      let rows = total;
      for (const index of indexes.all) {
        const state = indexes.state(view, index);
        if (state === State.complete) continue;
        const { flags, rangeBytes } = encodeRange({ lte: engine.indexReach() });
        const op = engine.count(view, flags, rangeBytes);
        const count = state === State.none ? 0 : await this.#host.read(op, () => engine.word(0));
        rows = Math.min(rows, count);
      }
      notify(onProgress, { rows, total });
    } finally {
      held.release();
    }
  }

  /** Stops; resolves when nothing is under way. */
  async close(): Promise<void> {
    const { indexes } = this.#host;
    this.#closing.abort();
    indexes.madeBy(this.#commits);
    indexes.tell(this.#commits, new HedgerowError('closed', 'the store is closed'));
    await this.#running;
  }
}
