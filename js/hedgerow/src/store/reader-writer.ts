/** The writes of a handle: many rows, single ones, patches and transactions. */

import { LOOK, type LookOption, OWN } from '../base/internal-symbols.js';
import { optionsOf } from '../base/options.js';
import type { ByteSource } from '../base/read-bytes.js';
import { runAbortable } from '../base/run-abortable.js';
import { checkSignal } from '../base/signal.js';
import { keptValue } from '../base/value.js';
import type { MergeOptions } from '../engine/branches/merge.js';
import type { RevertResult } from '../engine/branches/revert.js';
import type { CollectionScheduler } from '../engine/collect/collection-scheduler.js';
import type { Changes } from '../engine/read/changes.js';
import type { ReadContext } from '../engine/read/context.js';
import type { Change, DiffOptions } from '../engine/read/diff.js';
import type { Rows } from '../engine/read/scan.js';
import { type Deletes, deleteMany } from '../engine/transaction/delete-many.js';
import { transacting } from '../engine/transaction/load-transactions.js';
import type {
  CommitOptions,
  CommitResult,
  TransactionJob,
  TransactionOptions,
} from '../engine/transaction/run.js';
import type { CapturedValue, ValueUpdate } from '../engine/transaction/single-row.js';
import type { Transaction } from '../engine/transaction/transaction.js';
import type { Watchers } from '../engine/watch/watchers.js';
import { inOrder } from '../engine/write/call-order.js';
import type { IngestResult } from '../engine/write/ingest.js';
import { applyPatch, type Patch, type PatchOptions } from '../engine/write/patch.js';
import { deleteRange, type PutManyOptions, putMany } from '../engine/write/put-many.js';
import type { EditOptions, SingleEdits } from '../engine/write/single-edits.js';
import { isFed, type Source } from '../engine/write/source.js';
import { Flusher, Writer, type WriterOptions } from '../engine/write/writer.js';
import type { Durability } from '../storage/segment-store.js';
import type { HealthWatch } from './health-watch.js';
import { diffOf, Reader } from './reader.js';
import type { Snapshot } from './snapshot.js';
import { storeParts } from './store-later.js';

type Parts = Awaited<ReturnType<typeof transacting>>;

/** The parts of a handle that writes need in addition to the parts for reads. */
export interface HandleParts {
  readonly edits: SingleEdits;
  readonly changes: Changes;
  readonly durability: Durability;
  readonly collector: CollectionScheduler;
  /** The flushers of open writers. */
  readonly flushers: Set<Flusher>;
  /** The health of the store, for all of its handles. */
  readonly health: HealthWatch;
  readonly watchers: Watchers;
}

/** Reads and writes of rows. */
export abstract class ReaderWriter extends Reader {
  protected readonly handle: HandleParts;

  protected constructor(from: ReadContext, handle: HandleParts) {
    super(from);
    this.handle = handle;
  }

  /**
   * Puts many rows in one commit, which makes all of them visible at once. Keys may come in any order; of equal keys
   * the last wins. Ascending keys into an empty store are fastest, and take bounded memory. Other writes continue in
   * the meantime; the commit follows them when the rows end.
   *
   * Rows come from an iterable or async iterable, or, which is faster, as bytes of NDJSON or of one JSON array: from a
   * `Response`, a `Blob`, a stream, or an iterable of parts. A malformed row of bytes is `invalid-row`, with its number
   * and offset. If the source or the `key` function throws, the call rejects with the same error, and puts no row.
   */
  async putMany<Row>(
    source: Source<Row> | ByteSource,
    options: PutManyOptions<Row> = {},
  ): Promise<IngestResult> {
    this.from.check();
    const job = this.jobOf('putMany', options, 'key prefix format onProgress');
    const look = (options as LookOption)[LOOK];
    return this.run(job, isFed(source), (own) =>
      putMany(this.from.host, this.from.branchHead, source, { ...own, look }),
    );
  }

  /**
   * Deletes many rows in one commit: the rows with the keys of an iterable, or all rows of a range. It drops a range
   * unread, at the cost of its two ends; the result then has the number of its rows.
   */
  async deleteMany(
    keysOrRange: Deletes,
    options: Pick<PutManyOptions<string>, 'signal' | 'durability'> = {},
  ): Promise<IngestResult> {
    this.from.check();
    const job = this.jobOf('deleteMany', options);
    const isTaken = isFed(keysOrRange);
    return this.run(job, isTaken, (own) => {
      const remove = () => deleteMany(this.from, keysOrRange, own);
      // Keys that come one by one cannot be taken again.
      return isTaken ? remove() : this.handle.collector.makingRoom(remove);
    });
  }

  /**
   * Applies a patch in one commit. If an operation is malformed, or updates a value that is no object, the whole patch
   * fails with `invalid-patch`, which names the operation. An operation is not carried out if a later one overrides it
   * (a `put` or `del` of its key, a `clear`), and the value that it would have updated is not checked. The order of
   * operations does not change how long they take. They come as rows come to `putMany`; the `rows` of the result are
   * operations.
   */
  async applyPatch(patch: Patch, options: PatchOptions = {}): Promise<IngestResult> {
    this.from.check();
    const job = this.jobOf('applyPatch', options, 'format onProgress');
    const { host, branchHead, pending } = this.from;
    const after = pending?.all();
    return this.run(job, isFed(patch), (own) =>
      applyPatch(host, branchHead, patch, { ...own, after }),
    );
  }

  /**
   * Runs `body` and commits its edits; if `body` throws, they are dropped. `body` reads the store as it was when the
   * transaction began, with its own edits so far. If another writer changes something that it has read before its
   * commit, it runs again from the start: so transactions take effect one after the other, in all tabs. Without edits
   * there is no commit.
   *
   * Resolves to what `body` returned. Rejects with its error, and with `conflict` if other writers were first again and
   * again.
   */
  async transaction<T>(
    body: (tx: Transaction) => T | PromiseLike<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    return (await this.#transact(body, this.jobOf('transaction', options))).value;
  }

  /**
   * Runs a transaction, and resolves to what `body` returned as `value`, with the roots `before` and `after` its own
   * commit, which has no changes of others: `revert` takes these roots. They are equal if there was no change. With
   * `keep` they can be reverted until `release()`; without it until a collection deletes chunks that no head needs any
   * more.
   */
  async commit<T>(
    body: (tx: Transaction) => T | PromiseLike<T>,
    options: CommitOptions = {},
  ): Promise<CommitResult<T>> {
    return this.#transact(body, this.jobOf('commit', options, 'keep'));
  }

  /** Runs a transaction whose function belongs to the library: later calls take effect after it. */
  async [OWN]<T>(
    body: (tx: Transaction) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    return (await this.#transact(body, this.jobOf('transaction', options), true)).value;
  }

  #transact<T>(
    body: (tx: Transaction) => T | PromiseLike<T>,
    job: TransactionOptions & { readonly durability: Durability },
    holdsUp = false,
  ): Promise<CommitResult<T>> {
    const { host, branchHead } = this.from;
    return this.#transacting(job, holdsUp, ({ Transactions }, own) =>
      new Transactions(host, branchHead).run(body, own),
    );
  }

  #transacting<T>(
    job: TransactionOptions & { readonly durability: Durability },
    holdsUp: boolean,
    work: (parts: Parts, job: TransactionJob) => Promise<T>,
  ): Promise<T> {
    this.from.check();
    const { waits } = this.handle.changes;
    const { before, over, end } = inOrder(this.from, holdsUp);
    return this.run(job, false, async (own) => {
      try {
        await before;
        return await work(await transacting(), { ...own, waits, over });
      } finally {
        end();
      }
    });
  }

  /**
   * Takes one change back, in one commit: the change that led from the root or snapshot `before` to the root or
   * snapshot `after`, as `commit` returns them. Changes of others stay. A row of the change that has another value by
   * now is a conflict: it stays as it is, or becomes what `onConflict` returns, for which `ours` is its present value,
   * `base` the value that the change gave it, and `theirs` the value before. `revert(after, before)` is the redo.
   * Rejects with `missing-chunk` if a root is no longer stored.
   */
  async revert(
    before: string | Snapshot,
    after: string | Snapshot,
    options: MergeOptions = {},
  ): Promise<RevertResult> {
    this.from.check();
    const job = this.jobOf('revert', options, 'onConflict');
    return this.run(job, job.onConflict !== undefined, async (own) =>
      (await storeParts()).revert(this.from.branchHead, before, after, own),
    );
  }

  /** Checks the options of a change. */
  protected jobOf<Options extends TransactionOptions>(call: string, options: Options, names = '') {
    const job = optionsOf(call, options, `${names} signal durability`.trim());
    checkSignal(job.signal);
    return { durability: this.handle.durability, ...job };
  }

  /** See `Changes.run`. */
  protected run<T, Job extends TransactionOptions>(
    job: Job,
    waitsForCaller: boolean,
    change: (job: Job) => Promise<T>,
  ): Promise<T> {
    return this.handle.changes.run(job.signal, waitsForCaller, (signal) =>
      change({ ...job, signal }),
    );
  }

  /** Deletes all rows. */
  async clear(options: TransactionOptions = {}): Promise<void> {
    this.from.check();
    const job = this.jobOf('clear', options);
    await this.run(job, false, (own) => deleteRange(this.from.host, this.from.branchHead, {}, own));
  }

  /**
   * Returns a writer that takes rows one by one without a promise for each:
   * `if (!writer.tryPut(key, value)) await writer.put(key, value);`. Rows become visible at `writer.finish()`, or every
   * `commitEvery` rows. A writer holds up no other write. Its rows are dropped if the store is closed, or the writer is
   * garbage-collected.
   */
  writer(options: WriterOptions = {}): Writer {
    this.from.check();
    const { commitEvery = Number.POSITIVE_INFINITY, durability = this.handle.durability } =
      optionsOf('writer', options, 'commitEvery durability');
    const flusher = new Flusher(
      this.from.host,
      this.from.branchHead,
      durability,
      commitEvery,
      (ended) => this.handle.flushers.delete(ended),
    );
    this.handle.flushers.add(flusher);
    return new Writer(flusher);
  }

  /**
   * Puts one row. Rows put in one turn share one commit, which is strict if one of them asks for it. A `signal` takes
   * the put back while it waits for its commit.
   */
  async put(key: string, value: unknown, options?: EditOptions): Promise<void> {
    this.from.check();
    return this.#edit('put', options, (own) => this.handle.edits.put(key, value, own));
  }

  /** Deletes one row, if it exists. Takes the options of `put`. */
  async delete(key: string, options?: EditOptions): Promise<void> {
    this.from.check();
    return this.#edit('delete', options, (own) =>
      this.handle.collector.makingRoom(() => this.handle.edits.delete(key, own)),
    );
  }

  /** Puts a row that does not exist. Rejects with `exists`, which has its `key`, if it does. */
  async insert(key: string, value: unknown, options: TransactionOptions = {}): Promise<void> {
    await this.#change('insert', key, { value: keptValue(value), unset: [] }, options);
  }

  /**
   * Changes one row, and resolves to its new value. Members are merged into it, as by `update` of a patch: members that
   * are `undefined` are removed, and a missing row is made of the other members. A row that is no plain object is
   * `invalid-value`. A function gets the present value, or `undefined`, and returns the new value, or a promise of it;
   * if that is `undefined`, the row stays as it is. The function runs again if another writer was first.
   */
  async update<Value = unknown>(
    key: string,
    change: ValueUpdate<Value>,
    options: TransactionOptions = {},
  ): Promise<Value | undefined> {
    const members = Object(change) as Record<string, unknown>;
    const isUnset = (name: string) => members[name] === undefined;
    const taken =
      typeof change === 'function'
        ? change
        : { value: keptValue(change), unset: Object.keys(members).filter(isUnset) };
    return this.#change('update', key, taken as CapturedValue, options) as Promise<
      Value | undefined
    >;
  }

  #change(
    call: 'insert' | 'update',
    key: string,
    what: CapturedValue,
    options: TransactionOptions,
  ): Promise<unknown> {
    const change = (parts: Parts, own: TransactionJob): Promise<unknown> =>
      parts[call](this.from, key, what, own);
    return this.#transacting(this.jobOf(call, options), typeof what !== 'function', change);
  }

  #edit(
    call: string,
    options: EditOptions | undefined,
    edit: (own?: EditOptions) => Promise<void>,
  ): Promise<void> {
    return options === undefined ? edit() : runAbortable(call, options, 'durability signal', edit);
  }

  /**
   * Returns the changes from a root to the head at the time when the reading begins, in the order of keys: the changes
   * while a page that has kept its `root` was closed. A root that no branch and no snapshot keeps may have been
   * compacted away, entirely or in part: the reading then fails with `missing-chunk`, possibly after some changes. The
   * root of an empty store always works. Costs the nodes that the two do not share.
   */
  changes<Value = unknown>(sinceRoot: string, range: DiffOptions = {}): Rows<Change<Value>> {
    return this.#changesSince(sinceRoot, range) as Rows<Change<Value>>;
  }

  /**
   * Returns the changes of this branch since it was forked, or last merged with the branch that it was forked from, in
   * the order of keys: a review of a draft. Changes of the other branch are not among them. Fails with
   * `invalid-argument` for the main branch, and if the other branch was deleted.
   */
  changesSinceFork<Value = unknown>(range: DiffOptions = {}): Rows<Change<Value>> {
    return this.#changesSince(undefined, range) as Rows<Change<Value>>;
  }

  #changesSince(root: string | undefined, range: DiffOptions): Rows<Change> {
    return diffOf(this.readable, this.from.branchHead, root, undefined, range);
  }
}
