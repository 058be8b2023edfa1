/** The migration of one table on one branch, in the background. */

import { until } from '../../../base/abort-signal.js';
import { notify } from '../../../base/call-callback-safely.js';
import { HedgerowError, kindOfError } from '../../../base/errors.js';
import { onRecovery } from '../../../base/internal-symbols.js';
import { later } from '../../../base/timeout.js';
import type { BranchHead } from '../../../engine/history/branch-head.js';
import type { Snapshot } from '../../snapshot.js';
import type { Store } from '../../store.js';
import type { Spec } from '../spec.js';
import {
  type BatchOutcome,
  bringForward,
  type HandleInternals,
  rowsOfBatch,
} from './migrate-rows-in-batches.js';
import { countOld, type FailedRow } from './old-rows.js';
import { notReady, Readiness } from './readiness.js';

/** The progress of the migration of a table. */
export interface MigrationProgress {
  readonly table: string;
  /** Rows that this handle has brought forward. */
  readonly rows: number;
  /** Rows of a lower version that can be brought forward, as far as is known. */
  readonly remaining: number;
  /** How many rows `migrate`, or the schema, refuses: they stay as they are. */
  readonly refused: number;
  /** The first 1,000 of these. */
  readonly failed: readonly FailedRow[];
  /** Why it rests, or has ended. It continues by itself where that may help. */
  readonly error: unknown;
}

/** The options of a read that may have to wait. */
export interface Wait {
  readonly signal?: AbortSignal | undefined;
  /** If `false`, the read rejects with `not-ready` instead. */
  readonly wait?: boolean | undefined;
}

/** Waits after failures of storage: from a second on, up to a minute. */
const FIRST_DELAY_MS = 1000;
const LONGEST_DELAY_MS = 60_000;

/** A migration of a table: it brings old rows forward, and old rows that older tabs put later. */
export class Migrator {
  readonly #db: Store;
  readonly #spec: Spec;
  readonly #inner: HandleInternals;
  readonly #onProgress: ((progress: MigrationProgress) => void) | undefined;
  readonly #readiness: Readiness;
  #rows = 0;
  #remaining = 0;
  #error: unknown;
  #isOver = false;
  #running: Promise<void> | undefined;
  #isStale = false;
  /** Ends a rest. */
  #wake = () => {};
  /** Called when a pass has ended, or the migration rests. */
  #waiting: (() => void)[] = [];

  constructor(
    db: Store,
    spec: Spec,
    inner: HandleInternals,
    onProgress?: (progress: MigrationProgress) => void,
  ) {
    this.#db = db;
    this.#spec = spec;
    this.#inner = inner;
    this.#onProgress = onProgress;
    this.#readiness = new Readiness(db, spec);
  }

  get progress(): MigrationProgress {
    const { rows: refused, failed } = this.#readiness.refused;
    return {
      table: this.#spec.name,
      rows: this.#rows,
      remaining: this.#remaining,
      refused,
      failed: [...failed],
      error: this.#error,
    };
  }

  /** Begins. Continues after each commit: older tabs may put rows at any time. */
  begin(): void {
    try {
      // A count costs less than a watch, which reads what has changed.
      (this.#inner.get(this.#db) as BranchHead).onMoved(() => this.#handleMove());
      onRecovery(this.#db, () => {
        this.#isOver = false;
        this.run();
      });
      this.run();
    } catch (cause) {
      this.#end(cause);
    }
  }

  #handleMove(): void {
    if (this.#isOver) return;
    if (this.#running === undefined) this.run();
    else this.#isStale = true;
  }

  /** Brings all old rows forward; joins the work that is under way, and ends its rest. */
  run(): void {
    this.#isStale = true;
    this.#wake();
    this.#running ??= this.#work().finally(() => {
      this.#running = undefined;
      if (this.#isStale && !this.#isOver) this.run();
    });
  }

  /** Counts the rows of a lower version, except rows that are known to be refused. */
  async remaining(options: Wait = {}): Promise<number> {
    const old = await countOld(this.#db, this.#spec, options);
    return Math.max(0, old - this.#readiness.refused.rows);
  }

  /** Whether a read of the head need not wait, as far as is known. */
  get isReady(): boolean {
    return this.#readiness.isNow;
  }

  /**
   * Returns a commit whose indexes list all rows by their newest form, except refused rows. Waits for the migration;
   * rejects with `not-ready` if it may not, and with the error for which the migration rests.
   */
  async ready({ signal, wait = true }: Wait): Promise<Snapshot> {
    for (;;) {
      // Also waits for own edits, and for the index.
      await countOld(this.#db, this.#spec, { signal, wait });
      const snapshot = this.#db.snapshot();
      let isReady = false;
      try {
        isReady = await this.#readiness.isAt(snapshot, signal);
        if (isReady) return snapshot;
      } finally {
        if (!isReady) snapshot.close();
      }
      if (!wait) throw notReady(this.#spec);
      await until(this.#step(), signal);
    }
  }

  /** Resolves when there may be fewer old rows; rejects if the migration cannot go on now. */
  async #step(): Promise<void> {
    if (this.#isOver) throw this.#error;
    this.run();
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#error !== undefined) throw this.#error;
  }

  async #work(): Promise<void> {
    let delayMs = FIRST_DELAY_MS;
    while (this.#isStale && !this.#isOver) {
      this.#isStale = false;
      try {
        await this.#pass();
        this.#error = undefined;
        delayMs = FIRST_DELAY_MS;
        this.#settle();
      } catch (cause) {
        if (!(cause instanceof HedgerowError && cause.retryable)) return this.#end(cause);
        this.#isStale = true;
        this.#error = cause;
        this.#tell();
        await this.#rest(delayMs);
        delayMs = Math.min(LONGEST_DELAY_MS, delayMs * 2);
      }
    }
  }

  /** Rests for a time, or until a read waits for the migration. */
  async #rest(ms: number): Promise<void> {
    // Waiting reads get the error.
    this.#settle();
    await new Promise<void>((resolve) => {
      const stop = later(resolve, ms);
      this.#wake = () => {
        stop();
        resolve();
      };
    });
    this.#wake = () => {};
  }

  /** Goes through the index of old rows until only refused rows are left. */
  async #pass(): Promise<void> {
    const before = this.#readiness.refused;
    let hasWorked = false;
    while (!(await this.#isDone())) {
      if (!hasWorked) this.#tell();
      hasWorked = true;
      await this.#bringAll();
      if (this.#isOver) return;
    }
    this.#remaining = 0;
    if (hasWorked || before.rows !== this.#readiness.refused.rows) this.#tell();
  }

  async #isDone(): Promise<boolean> {
    this.#remaining = await this.remaining();
    const snapshot = this.#db.snapshot();
    try {
      return await this.#readiness.isAt(snapshot);
    } finally {
      snapshot.close();
    }
  }

  /** Goes once through the index of old rows; continues from another place if another tab is at work, too. */
  async #bringAll(): Promise<void> {
    // Refused rows stay in the index, before the next rows.
    let refused = 0;
    let offset = 0;
    const most = rowsOfBatch(this.#remaining);
    let batch: BatchOutcome;
    do {
      batch = await bringForward(this.#db, this.#spec, this.#inner, { offset, most });
      this.#rows += batch.rows;
      refused += batch.refused;
      offset += batch.refused;
      if (this.#isOver) return;
      const old = await countOld(this.#db, this.#spec);
      this.#remaining = Math.max(0, old - refused);
      if (batch.rows > 0) this.#tell();
      // The next pass takes the rows before the place.
      if (batch.isContended) offset = Math.floor(Math.random() * old);
    } while (!batch.isLast);
  }

  #end(cause: unknown): void {
    this.#isOver = true;
    this.#error = cause;
    this.#settle();
    const isClosed = kindOfError(cause) === 'closed';
    if (!isClosed) this.#tell();
  }

  #settle(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #tell(): void {
    if (this.#onProgress !== undefined) notify(this.#onProgress, this.progress);
  }
}
