import { checkSignal, until, type Waits } from '../../base/abort-signal.js';
import { sameBytes } from '../../base/bytes.js';
import { disposable } from '../../base/disposable.js';
import { HedgerowError, isMissing } from '../../base/errors.js';
import { hex } from '../../base/hex.js';
import { MAX_HOLD_MS } from '../../base/limits.js';
import { untilWon } from '../../base/pauses.js';
import type { Host } from '../../core/operation-host.js';
import type { Durability } from '../../storage/segment-store.js';
import type { Hold } from '../../storage/tabs/pins.js';
import type { BranchHead, Head, HeldHead, Overrides } from '../history/branch-head.js';
import { retryCommit } from '../history/retry-commit.js';
import { tryEdits } from '../write/try-edits.js';
import type { WriteStats } from '../write/write-result.js';
import { TransactionBase } from './base-commit.js';
import { OwnEdits } from './edits.js';
import { Run, Transaction } from './transaction.js';
import type { CommitOptions } from './transaction-options.js';

/** The function of a transaction. It may be called several times. */
export type TransactionFunction<T> = (tx: Transaction) => T | PromiseLike<T>;

/** The result of a transaction. */
export class CommitResult<T> {
  /** The value that the function returned. */
  readonly value: T;
  /** The root that the transaction's commit builds on, in hexadecimal. */
  readonly before: string;
  /** The root of the transaction's commit; `before` if it changed no row. */
  readonly after: string;
  readonly stats: WriteStats;
  readonly #holds: Hold[];
  /** As `close`, for `using`. */
  declare readonly [Symbol.dispose]: () => void;

  /** Call `db.history.commit`. */
  constructor(value: T, { beforeBytes, afterBytes, holds, stats }: Attempt<T>, startMs: number) {
    this.value = value;
    this.before = hex(beforeBytes);
    this.after = hex(afterBytes);
    this.stats = { ...stats, ms: performance.now() - startMs };
    this.#holds = holds;
    disposable(CommitResult.prototype, 'dispose', CommitResult.prototype.close);
  }

  /** Ends the holds of both commits, if `keep` asked for them. Idempotent. */
  close(): void {
    for (const hold of this.#holds.splice(0)) hold.release();
  }
}

/** The body of a run. */
type Body<T> = (run: Run) => T | PromiseLike<T>;

/** The checked options of a transaction, and its hooks. */
export interface TransactionJob extends CommitOptions {
  readonly durability: Durability;
  /** The waits that also end the wait for the function. */
  readonly waits?: Waits;
  /** See `OrderedCall`. */
  readonly over?: readonly Overrides[] | undefined;
  /** Makes the commit, even without edits. Runs exclusively; `undefined` if another writer was first. */
  readonly commit?: (edits: OwnEdits) => Promise<TransactionCommit | undefined>;
}

/** The commit of a transaction, and the ingest that made it. */
export type TransactionCommit = NonNullable<Awaited<ReturnType<typeof tryEdits>>>;

/** The figures of a transaction without edits. */
const NO_STATS: WriteStats = {
  bytes: 0,
  chunks: 0,
  segments: 0,
  ms: 0,
  slices: 0,
  longestSliceMs: 0,
  storageMs: 0,
};

/** Another writer has changed rows that the transaction has read. */
class StaleRead extends Error {}

/**
 * Runs transactions. Commits a run if all its reads are still the same in the head that the commit builds on; else runs
 * the function again.
 *
 * The first run delays no other writer. A later run makes other writers of its tab and, in the queue, of other tabs
 * wait, since they would win again. The wait is bounded, since the function may wait for anything, such as another
 * write to the same store.
 */
export class Transactions {
  readonly #host: Host;
  readonly #branchHead: BranchHead;

  constructor(host: Host, branchHead: BranchHead) {
    this.#host = host;
    this.#branchHead = branchHead;
  }

  /** Resolves, when the edits are committed, to the return value of `body` and the roots around the commit. */
  async run<T>(body: TransactionFunction<T>, job: TransactionJob): Promise<CommitResult<T>> {
    if (typeof body !== 'function') {
      throw new HedgerowError('invalid-argument', 'the body of a transaction must be a function');
    }
    return this.runWhole((run) => body(new Transaction(run)), job);
  }

  /** As `run`, for a body that itself makes the transactions from parts of the run. */
  async runWhole<T>(body: Body<T>, job: TransactionJob): Promise<CommitResult<T>> {
    const startMs = performance.now();
    // The second run nearly always wins if all other writers are in this tab.
    return untilWon(async (tries) => {
      checkSignal(job.signal);
      try {
        const isFirst = tries === 0 && !this.#branchHead.isContended;
        return await this.#runOnce(body, job, isFirst, startMs);
      } catch (cause) {
        if (!(cause instanceof StaleRead)) throw cause;
        return undefined;
      }
    }, 'others changed what it had read');
  }

  async #runOnce<T>(
    body: Body<T>,
    job: TransactionJob,
    isFirst: boolean,
    startMs: number,
  ): Promise<CommitResult<T>> {
    const attempt = isFirst
      ? this.#begin(body, job, await this.#branchHead.holdHead())
      : await this.#hold(body, job);
    try {
      const value = await attempt.result;
      // Commit here also when the function took longer than other writers wait.
      if (attempt.isPending) {
        await this.#branchHead.exclusively(() => this.#commit(attempt, job), job.signal);
      }
      return new CommitResult(value, attempt, startMs);
    } finally {
      attempt.base.close();
    }
  }

  #begin<T>(body: Body<T>, job: TransactionJob, held: HeldHead): Attempt<T> {
    const run = new Run(
      this.#host,
      new TransactionBase(held),
      new OwnEdits(this.#branchHead, job.over),
    );
    return new Attempt(run, body, job);
  }

  /** Runs and commits while other writers of this tab wait; after `MAX_HOLD_MS` returns without a commit. */
  #hold<T>(body: Body<T>, job: TransactionJob): Promise<Attempt<T>> {
    const change = async () => {
      const attempt = this.#begin(body, job, await this.#branchHead.holdNow());
      try {
        if (await attempt.endsWithin(MAX_HOLD_MS)) await this.#commit(attempt, job);
        return attempt;
      } catch (cause) {
        attempt.base.close();
        throw cause;
      }
    };
    return this.#branchHead.exclusively(change, job.signal);
  }

  /** Commits the edits of an attempt. Run it exclusively. */
  async #commit<T>(
    attempt: Attempt<T>,
    { durability, signal, keep, commit }: TransactionJob,
  ): Promise<void> {
    if (!attempt.isPending) return;
    const branchHead = this.#branchHead;
    const { edits } = attempt.run;
    const { areDeletes: freesSpace, isUpkeep } = edits;
    const options = { signal, freesSpace, isUpkeep };
    const made = await retryCommit(branchHead, async () => {
      // Hold the head before the check of the reads, since this may move the head.
      const held = keep === true ? await branchHead.holdNow() : undefined;
      let isMade = false;
      // `retry` repeats this for each head that it tries to build on.
      try {
        await attempt.checkReads(this.#host, branchHead.head);
        // No other commit of this tab is in progress, and a commit of another tab makes `tryEdits` fail.
        attempt.beforeBytes = branchHead.head.commitBytes;
        const one = await (commit?.(edits) ??
          tryEdits(this.#host, branchHead, durability, edits.blocks(), options));
        isMade = one !== undefined;
        return one;
      } catch (cause) {
        // The head is not held here: if a collection has deleted chunks of it, that counts as a lost race.
        if (!isMissing(cause) || !(await branchHead.refresh())) throw cause;
        return undefined;
      } finally {
        if (isMade && held !== undefined) attempt.holds.push(held);
        else held?.release();
      }
    });
    if (keep === true) await this.#keep(attempt, made.commitBytes);
    attempt.isCommitted = true;
    attempt.afterBytes = made.commitBytes;
    attempt.stats = made.ingest.statsOf(made, 0);
    edits.override();
  }

  /** Holds the new commit. An error here does not undo the commit. */
  async #keep<T>(attempt: Attempt<T>, commitBytes: Uint8Array): Promise<void> {
    const { shared } = this.#branchHead;
    try {
      attempt.holds.push(await shared.hold(commitBytes));
      // Its chunks are all stored if it is still the head; else a collection may have begun before it was held.
      await this.#branchHead.refresh();
      if (!this.#branchHead.isHead(commitBytes)) await shared.endCollections();
    } catch {
      // Then `revert` reports whether the commit is still stored.
    }
  }
}

/** One run of a function, and its outcome. */
class Attempt<T> {
  readonly run: Run;
  /** Settles when the function has ended, or the signal was aborted. */
  readonly result: Promise<T>;
  isCommitted = false;
  /** The commits before and after its own; without a commit, both are the commit that it has read. */
  beforeBytes: Uint8Array;
  afterBytes: Uint8Array;
  /** The holds of both commits, if `keep` asks for them. */
  readonly holds: Hold[] = [];
  /** The figures of its commit. */
  stats: WriteStats = NO_STATS;
  readonly #isAlways: boolean;
  /** The last commit that was found to give the same reads. */
  #checkedBytes: Uint8Array;

  constructor(run: Run, body: Body<T>, job: TransactionJob) {
    this.run = run;
    const { commitBytes } = run.base;
    this.beforeBytes = commitBytes;
    this.afterBytes = commitBytes;
    this.#checkedBytes = commitBytes;
    this.#isAlways = job.commit !== undefined;
    this.result = runBody(run, body, job);
    this.result.catch(() => {});
  }

  get base(): TransactionBase {
    return this.run.base;
  }

  /** Whether the attempt still has a commit to make. */
  get isPending(): boolean {
    return !this.isCommitted && (this.#isAlways || this.run.edits.size > 0);
  }

  /** Resolves to whether the function ends within `ms` milliseconds. */
  async endsWithin(ms: number): Promise<boolean> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, ms, false);
    });
    try {
      return await Promise.race([this.result.then(() => true), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Throws `StaleRead` when a read would differ at this head. */
  async checkReads(host: Host, { commitBytes, view }: Head): Promise<void> {
    if (sameBytes(this.#checkedBytes, commitBytes)) return;
    const { base, reads, edits } = this.run;
    if (await reads.differ(host, base.view, view, edits)) throw new StaleRead();
    this.#checkedBytes = commitBytes;
  }
}

async function runBody<T>(run: Run, body: Body<T>, { signal, waits }: TransactionJob): Promise<T> {
  try {
    checkSignal(signal);
    const result = until(
      run.calls.result(() => body(run)),
      signal,
    );
    return await (waits?.until(result) ?? result);
  } finally {
    run.calls.end();
  }
}
