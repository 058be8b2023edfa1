/** Brings rows of a lower version forward: thousands of them in one transaction. */

import { Slicer } from '../../../base/slicer.js';
import type { Run, Transaction } from '../../../engine/transaction/transaction.js';
import type { Store } from '../../store.js';
import type { Spec } from '../spec.js';
import type { StoreReads } from '../table-context.js';
import { bringStored, CLOCK_ROWS, isOld, RefusedRows, tryOld } from './old-rows.js';

/**
 * The approximate number of commits that bring a table forward. A commit rewrites leaves of each index: the more rows
 * it has, the more of them share a leaf. The fewer it has, the shorter others wait for it, and the less a crash loses.
 */
const COMMITS = 32;
const LEAST_ROWS = 4096;
const MOST_ROWS = 32_768;
/** How long a transaction takes rows before it commits them: they stay in memory. */
const TAKE_MS = 1500;
/** The same after another writer has changed rows that it had read: now others wait for it. */
const TAKE_AGAIN_MS = 20;
/** Rows that are read at once: the first few show how large they are. */
const FIRST_ROWS = 16;
const MOST_ROWS_AT_ONCE = 1024;
const SOON_MS = 8;

/** The internals of handles: see `Migrations.inner`. */
export type HandleInternals = Pick<WeakMap<object, unknown>, 'get'>;

/** The outcome of a batch. */
export interface BatchOutcome {
  /** Rows that were brought forward. */
  readonly rows: number;
  /** Entries of rows that were refused. */
  readonly refused: number;
  /** Whether it reached the end of the index of old rows. */
  readonly isLast: boolean;
  /** Whether another writer has changed rows of the batch in the meantime. */
  readonly isContended: boolean;
}

/** Returns the number of rows of a commit, for a table that has `all` old ones. */
export function rowsOfBatch(all: number): number {
  return Math.min(MOST_ROWS, Math.max(LEAST_ROWS, Math.ceil(all / COMMITS)));
}

/** Brings about `most` old rows of a table forward in one commit, after the first `offset` of them. */
export async function bringForward(
  db: Store,
  spec: Spec,
  inner: HandleInternals,
  { offset, most }: { readonly offset: number; readonly most: number },
): Promise<BatchOutcome> {
  const snapshot = db.snapshot();
  const keys = new Keys(snapshot as unknown as StoreReads, spec, offset);
  try {
    let [rows, refused, runs] = [0, 0, 0];
    const slicer = new Slicer({ clockSteps: CLOCK_ROWS });
    await db.transaction(async (tx) => {
      runs += 1;
      [rows, refused] = [0, 0];
      const { edits } = inner.get(tx) as Run;
      // An earlier load or deletion belongs to the app: it wins.
      edits.over = [];
      edits.isUpkeep = true;
      const endMs = performance.now() + (runs === 1 ? TAKE_MS : TAKE_AGAIN_MS);
      keys.again();
      do {
        const part = await keys.next();
        if (part.length === 0) return;
        const startMs = performance.now();
        const made = await bringPart(tx, spec, part, slicer);
        rows += made.rows;
        refused += made.refused;
        keys.learn(performance.now() - startMs);
      } while (performance.now() < endMs && keys.taken < most);
    });
    return { rows, refused, isLast: keys.isLast, isContended: runs > 1 };
  } finally {
    await keys.end();
    snapshot.close();
  }
}

/** Brings all old rows of a branch without a handle forward, by transactions that `run` makes. */
export async function bringAllForward(
  run: (body: (tx: Transaction) => Promise<void>) => Promise<unknown>,
  spec: Spec,
): Promise<void> {
  // Refused rows stay in the index, before the next rows.
  let offset = 0;
  let isLast = false;
  while (!isLast) {
    let refused = 0;
    await run(async (tx) => {
      const slicer = new Slicer({ clockSteps: CLOCK_ROWS });
      const range = { index: spec.oldIndex, offset, limit: LEAST_ROWS };
      const keys = await tx.scan(range).keys().toArray();
      isLast = keys.length < LEAST_ROWS;
      ({ refused } = await bringPart(tx, spec, keys, slicer));
    });
    offset += refused;
  }
}

async function bringPart(tx: Transaction, spec: Spec, keys: readonly string[], slicer: Slicer) {
  let [rows, refused] = [0, 0];
  const found = await tx.getMany(keys);
  for (const [at, key] of keys.entries()) {
    const stored = found[at];
    // It was deleted, or brought forward by another tab.
    if (stored === undefined || !isOld(spec, stored)) continue;
    if (slicer.step()) await slicer.rest();
    try {
      tx.put(key, bringStored(spec, key, stored));
      rows += 1;
    } catch {
      refused += 1;
    }
  }
  return { rows, refused };
}

/**
 * The keys of old rows, in parts that take about `SOON_MS`. Another run of the transaction first gets the same parts.
 */
class Keys {
  readonly #all: AsyncIterator<string>;
  readonly #parts: string[][] = [];
  #at = 0;
  #size = FIRST_ROWS;
  #isAtEnd = false;
  /** Keys that this run has taken. */
  taken = 0;

  constructor(at: StoreReads, spec: Spec, offset: number) {
    this.#all = at.scan({ index: spec.oldIndex, offset }).keys()[Symbol.asyncIterator]();
  }

  /** Whether all keys have been taken. */
  get isLast(): boolean {
    return this.#isAtEnd && this.#at === this.#parts.length;
  }

  again(): void {
    this.#at = 0;
    this.taken = 0;
  }

  async next(): Promise<readonly string[]> {
    const part = this.#parts[this.#at] ?? (await this.#read());
    if (part.length > 0) this.#at += 1;
    this.taken += part.length;
    return part;
  }

  async #read(): Promise<string[]> {
    const part: string[] = [];
    while (part.length < this.#size && !this.#isAtEnd) {
      const { done = false, value } = await this.#all.next();
      if (done) this.#isAtEnd = true;
      else part.push(value);
    }
    if (part.length > 0) this.#parts.push(part);
    return part;
  }

  /** Learns how long the last part took. */
  learn(ms: number): void {
    if (ms > 2 * SOON_MS) this.#size = Math.max(1, this.#size >> 1);
    else if (ms < SOON_MS) this.#size = Math.min(MOST_ROWS_AT_ONCE, this.#size * 2);
  }

  async end(): Promise<void> {
    await this.#all.return?.();
  }
}

/** The outcome of a trial of a migration. */
export interface MigrationTrial {
  /** Rows of a lower version. */
  readonly rows: number;
  /** How many of them `migrate`, or the schema, would refuse. */
  readonly refused: number;
  /** The first 1,000 of these. */
  readonly failed: RefusedRows['failed'];
}

/** Returns which old rows would fail; does not write. */
export async function tryForward(
  at: StoreReads,
  spec: Spec,
  signal: AbortSignal | undefined,
): Promise<MigrationTrial> {
  const refused = new RefusedRows();
  let fitting = 0;
  const fits = () => {
    fitting += 1;
    return true;
  };
  await tryOld(at, spec, { refused: (row) => refused.add(row), fits }, signal);
  return { rows: fitting + refused.rows, refused: refused.rows, failed: refused.failed };
}
