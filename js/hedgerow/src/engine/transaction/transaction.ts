/** The object that the function of a transaction gets: reads of one commit, and edits of its own. */

import * as Status from '../../base/abi/status.js';
import { checkKey, checkKeys } from '../../base/key.js';
import { deletedRange, isRange, type KeyRange } from '../../base/range.js';
import { turn } from '../../base/slice-queue.js';
import { trackUnawaitedCalls } from '../../base/track-unawaited-calls.js';
import { UnawaitedCalls } from '../../base/unawaited-calls.js';
import * as calls from '../../core/calls/read-calls.js';
import type { EntryPosition, IndexRange, SecondaryKey } from '../../core/indexes/index-range.js';
import { isOfIndex } from '../../core/indexes/index-set.js';
import type { Host } from '../../core/operation-host.js';
import { fail } from '../../core/status-errors.js';
import { type CountOptions, checkedCount } from '../read/count-options.js';
import { findMany } from '../read/find-many.js';
import { KeyParts } from '../read/key-batches.js';
import {
  checkedAt,
  checkedRank,
  type IndexOrderOptions,
  type OrderOptions,
} from '../read/rank-options.js';
import type { IndexScan, Scan } from '../read/scan.js';
import type { IndexScanOptions, ScanOptions } from '../read/scan-options.js';
import type { TransactionBase } from './base-commit.js';
import { countIn, rowAt } from './count-with-edits.js';
import { type OwnEdits, readBack } from './edits.js';
import { mergedIndexScan } from './index-scan.js';
import { mergedScan, type Sources } from './merged-scan.js';
import { ReadSet } from './read-set.js';

/** One run of a transaction: its base commit, its reads and its edits. */
export class Run implements Sources {
  readonly host: Host;
  readonly base: TransactionBase;
  readonly edits: OwnEdits;
  readonly reads: ReadSet;
  readonly calls = new UnawaitedCalls();

  constructor(host: Host, base: TransactionBase, edits: OwnEdits, reads = new ReadSet()) {
    this.host = host;
    this.base = base;
    this.edits = edits;
    this.reads = reads;
  }

  /** Makes a part of the run that ends by itself: its reads and edits count for the whole run. */
  part(): Run {
    return new Run(this.host, this.base, this.edits, this.reads);
  }

  /** Throws `closed` when the function has ended. */
  check(): void {
    this.calls.check();
  }

  get view(): number {
    this.check();
    return this.base.view;
  }
}

/**
 * Reads and writes for the function of a transaction. Reads see the commit at which the transaction began, and its own
 * earlier edits. When the function has ended, all calls fail with `closed`.
 */
export class Transaction {
  readonly #run: Run;

  protected static readonly awaitedCalls = trackUnawaitedCalls(
    Transaction,
    'get getMany has count at rank deleteMany',
    (tx) => [tx.#run.calls, 'tx'],
  );

  /** Call `db.transaction`. */
  constructor(run: Run) {
    this.#run = run;
    run.host.onHandle?.(this, run);
  }

  /** Reads the value of a key; `undefined` if it is absent. Every call makes a new value. */
  async get<Value = unknown>(key: string): Promise<Value | undefined> {
    const { view, edits, reads, host } = this.#run;
    checkKey(key);
    const own = edits.get(key);
    if (own !== undefined) return readBack(own) as Value | undefined;
    reads.value(key);
    const { engine } = host;
    const status = calls.get(engine, view, key);
    if (status === Status.done) return calls.readFoundValue(engine) as Value | undefined;
    if (status >= Status.row) fail(engine, status);
    const [value] = await this.#findStored([key]);
    return value as Value | undefined;
  }

  /** Reads the values of keys, in their order and in slices; `undefined` for an absent key. */
  async getMany<Value = unknown>(keys: Iterable<string>): Promise<(Value | undefined)[]> {
    const { edits, reads } = this.#run;
    this.#run.check();
    const own = (key: string) => {
      const edit = edits.get(key);
      if (edit !== undefined) return { value: readBack(edit) };
      reads.value(key);
      return undefined;
    };
    return (await this.#findStored(checkKeys('tx.getMany', keys), own)) as (Value | undefined)[];
  }

  #findStored(keys: Iterable<string>, own?: Parameters<typeof findMany>[4]): Promise<unknown[]> {
    const { view, host } = this.#run;
    return findMany(host, view, new KeyParts(keys), () => this.#run.check(), own);
  }

  /** Reports whether a row with this key exists. */
  async has(key: string): Promise<boolean> {
    this.#run.check();
    checkKey(key);
    return (await this.count({ gte: key, lte: key })) > 0;
  }

  /**
   * Counts the rows in a range, all by default, or the entries in a range of an index. Costs two nodes for each level,
   * and as much for each key of the range that the transaction has edited.
   */
  async count(range: CountOptions = {}): Promise<number> {
    this.#run.check();
    return countIn(this.#run, checkedCount('tx.count', range));
  }

  /**
   * Reads the row, or the entry of an index, with a number, from 0, in the order of a range. Costs a `count` for each
   * time that the number of edited keys can be halved, and one more.
   */
  at<Value = unknown>(
    n: number,
    options: IndexOrderOptions,
  ): Promise<[key: string, value: Value, secondary: SecondaryKey] | undefined>;
  at<Value = unknown>(
    n: number,
    options?: OrderOptions,
  ): Promise<[key: string, value: Value] | undefined>;
  async at(n: number, options: OrderOptions | IndexOrderOptions = {}): Promise<never> {
    this.#run.check();
    return (await rowAt(this.#run, checkedAt('tx.at', n, options))) as never;
  }

  /** Counts the rows of a range before a key, or the entries before a position. Costs as `count`. */
  rank(position: EntryPosition, options: IndexOrderOptions): Promise<number>;
  rank(key: string, options?: OrderOptions): Promise<number>;
  async rank(
    at: string | EntryPosition,
    options: OrderOptions | IndexOrderOptions = {},
  ): Promise<number> {
    this.#run.check();
    return countIn(this.#run, checkedRank('tx.rank', at, options));
  }

  /**
   * Scans a range in the order of its keys, in its state when the reading begins. A scan of an index fails with
   * `not-ready` if the index is not built yet.
   */
  scan<Value = unknown>(options: IndexScanOptions): IndexScan<Value>;
  scan<Value = unknown>(options?: ScanOptions): Scan<Value>;
  scan(options: ScanOptions | IndexScanOptions = {}): Scan<unknown> | IndexScan<unknown> {
    this.#run.check();
    const sources = () => {
      this.#run.check();
      return this.#run;
    };
    if (isOfIndex(options)) return mergedIndexScan(sources, options);
    return mergedScan(sources, options);
  }

  /**
   * Puts one row when the transaction commits. Takes and checks the value in its current form: throws
   * `invalid-argument/key` or `invalid-argument/value`.
   */
  put(key: string, value: unknown): void {
    this.#run.check();
    this.#run.edits.put(key, value);
  }

  /**
   * Deletes many rows when the transaction commits: by the keys of an iterable, a range of keys, or a range of an
   * index, whose entries name the rows. Resolves to the number of these keys or rows. Reads all their keys and keeps
   * them in memory. A range must have a bound.
   */
  async deleteMany(keysOrRange: Iterable<string> | KeyRange | IndexRange): Promise<number> {
    const { edits, host } = this.#run;
    this.#run.check();
    const keys = isRange(keysOrRange)
      ? this.scan(deletedRange('tx.deleteMany', keysOrRange as KeyRange)).keys()
      : checkKeys('tx.deleteMany', keysOrRange as Iterable<string>);
    let startMs = performance.now();
    let count = 0;
    for await (const key of keys) {
      // A row with an array has several entries.
      if (!edits.isDeleted(key)) count += 1;
      this.delete(key);
      if (performance.now() - startMs < host.sliceMs / 2) continue;
      await turn();
      startMs = performance.now();
    }
    return count;
  }

  /** Deletes one row when the transaction commits; ignores an absent one. */
  delete(key: string): void {
    this.#run.check();
    this.#run.edits.delete(key);
  }
}
