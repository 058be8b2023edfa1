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

/** What writes of a handle need beside what its reads do. */
export interface HandleParts {
  readonly edits: SingleEdits;
  readonly changes: Changes;
  readonly durability: Durability;
  readonly collector: CollectionScheduler;
  /** Of writers that are open. */
  readonly flushers: Set<Flusher>;
  /** Of the store, for all of its handles. */
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
   * Puts many rows in one commit: all of them are seen, or none. Keys may come in any order;
   * of equal keys the last wins. Ascending keys into an empty store are fastest, and take
   * bounded memory. Other writes go on meanwhile; the commit comes when the rows end, on top
   * of theirs.
   *
   * Rows come from an iterable or async iterable, or as bytes, NDJSON or one JSON array of
   * them, which is the faster way: from a `Response`, a `Blob`, a stream, or an iterable of
   * parts. A malformed row of bytes is `invalid-row`, with its number and offset. What the source, or the `key`
   * function, throws is what the call rejects with, as it is; nothing is put then.
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
   * Deletes many rows in one commit: those with the keys of an iterable, or all of a range.
   * A range is dropped unread, at the cost of its two ends; the result then tells how many
   * rows there were.
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
      // What comes one by one cannot be taken again.
      return isTaken ? remove() : this.handle.collector.makingRoom(remove);
    });
  }

  /**
   * Applies a patch in one commit, all of it or, when one of its operations is malformed or
   * updates what is no object, nothing: it then fails with `invalid-patch`, which tells the
   * operation. An operation that a later one of the patch has the last word over (a `put` or `del` of its key, a
   * `clear`) is not carried out, and what it would have updated is not looked at. Operations take no longer in one
   * order than in another. They come as rows come to `putMany`; the `rows` of the result are operations.
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
   * Runs `body` and commits what it has put and deleted, all of it or, when it throws, nothing.
   * `body` reads the store as it was when the transaction began, with its own edits so far. When
   * something that it has read was changed before its commit, it is run again from anew: so it
   * is as if transactions came one after the other, in all tabs. Without edits it commits
   * nothing.
   *
   * Resolves to what `body` returned. Rejects with what it threw, and with `conflict` when it was
   * overtaken again and again.
   */
  async transaction<T>(
    body: (tx: Transaction) => T | PromiseLike<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    return (await this.#transact(body, this.jobOf('transaction', options))).value;
  }

  /**
   * As `transaction`, but resolves to what `body` returned as `value`, and the roots `before` and `after` its own commit,
   * which has nothing of others in it: what `revert` takes back. When it changes nothing they are the same. With `keep`
   * they can be reverted until `release()`; without it until a collection deletes what no head needs any more.
   */
  async commit<T>(
    body: (tx: Transaction) => T | PromiseLike<T>,
    options: CommitOptions = {},
  ): Promise<CommitResult<T>> {
    return this.#transact(body, this.jobOf('commit', options, 'keep'));
  }

  /** A transaction whose function is of the library: calls that are made after it take effect after it. */
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
   * Takes back one change, in one commit: what led from the root, or snapshot, `before` to that `after` it, as `commit`
   * tells them. What others have changed stays. A row of the change that has another value by now is a conflict: it stays
   * as it is, or becomes what `onConflict` returns, for which `ours` is the value that it has, `base` the one that the
   * change gave it, and `theirs` the one of before. Redo is `revert(after, before)`. `missing-chunk` when a root is not
   * stored any more.
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
   * A writer that takes rows one by one without a promise for each:
   * `if (!writer.tryPut(key, value)) await writer.put(key, value);`. Nothing is seen before
   * `writer.finish()`, or before every `commitEvery` rows. It holds up no other write; when
   * the store is closed, or the writer forgotten, its rows are dropped.
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
   * Puts one row. Rows put in one turn share one commit, which is strict if one of them asks for that. A `signal` takes
   * the put back while it waits for its commit.
   */
  async put(key: string, value: unknown, options?: EditOptions): Promise<void> {
    this.from.check();
    return this.#edit('put', options, (own) => this.handle.edits.put(key, value, own));
  }

  /** Deletes one row; does nothing when there is none. The options are those of `put`. */
  async delete(key: string, options?: EditOptions): Promise<void> {
    this.from.check();
    return this.#edit('delete', options, (own) =>
      this.handle.collector.makingRoom(() => this.handle.edits.delete(key, own)),
    );
  }

  /** Puts a row that does not exist. Rejects with `exists`, which has its `key`, when it does. */
  async insert(key: string, value: unknown, options: TransactionOptions = {}): Promise<void> {
    await this.#change('insert', key, { value: keptValue(value), unset: [] }, options);
  }

  /**
   * Changes one row, and resolves to its new value. Members are merged into it, as by `update` of a patch: those that
   * are `undefined` are removed, and a row that does not exist is made of the others. A row that is no plain object is
   * `invalid-value`. A function gets the present value, `undefined` if there is none, and returns the new one, or a
   * promise of it; when that is `undefined`, the row stays as it is. It is run again when another writer was first.
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
   * The changes that have led from a root to the head as it is when the reading begins, in the
   * order of keys: what has happened while a page was closed that has kept its `root`. A root that no
   * branch and no snapshot keeps may have been compacted away, whole or in part: then it fails with
   * `missing-chunk`, after some changes perhaps. The root of an empty store always works. Costs the nodes that the two do not share.
   */
  changes<Value = unknown>(sinceRoot: string, range: DiffOptions = {}): Rows<Change<Value>> {
    return this.#changesSince(sinceRoot, range) as Rows<Change<Value>>;
  }

  /**
   * What this branch has changed since it was forked, or last merged with the branch that it was forked from, in the
   * order of keys: a review of a draft. What the other branch has changed meanwhile is not among it. `invalid-argument`
   * for the main branch, and when the other one was deleted.
   */
  changesSinceFork<Value = unknown>(range: DiffOptions = {}): Rows<Change<Value>> {
    return this.#changesSince(undefined, range) as Rows<Change<Value>>;
  }

  #changesSince(root: string | undefined, range: DiffOptions): Rows<Change> {
    return diffOf(this.readable, this.from.branchHead, root, undefined, range);
  }
}
