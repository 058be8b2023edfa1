/** Keeps the rows of a collection equal to the rows of its table. */

import type { LoadSubsetOptions, SyncConfig } from '@tanstack/db';
import type { Change, Snapshot } from 'hedgerow';
import { later, onRecovery, report } from 'hedgerow/kit';
import { planRequest, type RequestPlan, readPlanned } from './plan-and-read-request.js';
import { type CollectionRow, isIn, type LoadedPart, splitRequest } from './subset-request.js';
import type { Key, TableCandidate, TableSource } from './table-source.js';

/** The calls that TanStack DB gives to a source of rows. */
export type SyncTarget = Pick<
  Parameters<SyncConfig<CollectionRow, Key>['sync']>[0],
  'begin' | 'write' | 'commit' | 'markReady' | 'markError'
>;

/** Rows of the first load that are written together. */
const BATCH_ROWS = 2_000;

const RETRY_MS = 1_000;
const MOST_TRIES = 5;

type Receipt = ReturnType<SyncTarget['commit']>;
type TablePlan = RequestPlan<TableCandidate>;

/** Rows that were loaded for a request. */
interface Subset {
  readonly plans: readonly TablePlan[];
  readonly parts: readonly LoadedPart[];
}

/** Keys of rows, with the rows as they are now: `undefined` for deleted ones. */
type ChangedRows = Map<Key, CollectionRow | undefined>;

/**
 * The feed of a collection, whose rows are always the rows of one commit, its position. The position moves in two ways:
 * by the changes of its watch, or to the head at once, before rows are loaded and after the collection has written.
 * Then a new watch begins there, so that each change arrives exactly once. One step runs after another.
 */
export class Feed {
  readonly #source: TableSource;
  readonly #target: SyncTarget;
  /** The rows of the store that the collection has. */
  readonly #held = new Map<Key, CollectionRow>();
  readonly #subsets = new Map<LoadSubsetOptions, Subset>();
  /** Whether it has all rows. */
  readonly #isWhole: boolean;
  readonly #ended = new AbortController();
  /** The commit whose rows it has; `undefined` while it has no rows. */
  #position: string | undefined;
  #stopWatch = () => {};
  #stopRecovery = () => {};
  #queue: Promise<unknown> = Promise.resolve();
  #advancing: Promise<void> | undefined;
  #tries = 0;
  #stopTimer = () => {};

  constructor(source: TableSource, target: SyncTarget, isWhole: boolean) {
    this.#source = source;
    this.#target = target;
    this.#isWhole = isWhole;
  }

  get #isOver(): boolean {
    return this.#ended.signal.aborted;
  }

  /** Begins with all rows, or without rows until they are asked for. */
  begin(): void {
    const { db, table } = this.#source;
    const { signal } = this.#ended;
    // Requests need the indexes.
    const begun = this.#inTurn(() => (this.#isWhole ? this.#loadAll() : table.ready({ signal })));
    begun.then(
      () => this.#isOver || this.#target.markReady(),
      (cause: unknown) => this.#isOver || this.#target.markError(cause),
    );
    this.#stopRecovery = onRecovery(db, () => this.#goOn());
  }

  /** Stops all watches and reads. */
  end(): void {
    this.#ended.abort();
    this.#stopWatch();
    this.#stopRecovery();
    this.#stopTimer();
  }

  /** Runs a function once all earlier ones have ended. */
  #inTurn<T>(body: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(body);
    this.#queue = result.catch(() => {});
    return result;
  }

  /** Brings the rows to the head. */
  advance(): Promise<void> {
    this.#advancing ??= this.#inTurn(async () => {
      this.#advancing = undefined;
      if (this.#isOver || this.#position === undefined) return;
      await this.#atHead(this.#plans(), async (snapshot) => {
        this.#tell(await this.#changedUpTo(snapshot));
      });
      this.#tries = 0;
    });
    return this.#advancing;
  }

  /** Brings the rows to the head after a write. A failed read does not fail the write. */
  async reach(): Promise<void> {
    await this.advance().catch(() => this.#goOn());
  }

  /** Goes on after a failure: storage may allow the read later. */
  #goOn(): void {
    if (this.#isOver) return;
    this.advance().catch((cause: unknown) => {
      this.#tries += 1;
      if (this.#tries > MOST_TRIES) report(cause);
      else if (!this.#isOver) this.#stopTimer = later(() => this.#goOn(), RETRY_MS);
    });
  }

  #plans(): TablePlan[] {
    return [...this.#subsets.values()].flatMap(({ plans }) => plans);
  }

  /** Runs a function with the head, which is the position from then on. Watches the rows of these plans. */
  async #atHead<T>(
    plans: readonly TablePlan[],
    body: (snapshot: Snapshot) => Promise<T>,
  ): Promise<T> {
    const { db, spec } = this.#source;
    const range = this.#isWhole ? { prefix: spec.prefix } : this.#source.rangeOf(plans);
    this.#stopWatch();
    let isCurrent = true;
    const stop = db.watch(range, (changes: readonly Change[], { root }) =>
      this.#inTurn(async () => {
        if (!isCurrent || this.#isOver) return;
        const changed: ChangedRows = new Map();
        for (const change of changes) this.#note(changed, change);
        this.#tell(changed);
        this.#position = root;
      }),
    );
    this.#stopWatch = () => {
      isCurrent = false;
      stop();
    };
    // In the same turn, so the snapshot is of the same commit.
    const snapshot = db.snapshot();
    try {
      const result = await body(snapshot);
      this.#position = snapshot.root;
      return result;
    } catch (cause) {
      // The changes up to here were not written: no watch may go on from here.
      this.#stopWatch();
      throw cause;
    } finally {
      snapshot.close();
    }
  }

  /** Reads the changes of rows since the position. */
  async #changedUpTo(snapshot: Snapshot): Promise<ChangedRows> {
    const { db, spec } = this.#source;
    const from = this.#position;
    const changed: ChangedRows = new Map();
    if (from === undefined || from === snapshot.root) return changed;
    const { signal } = this.#ended;
    try {
      const changes = db.history.diff(from, snapshot.root, { prefix: spec.prefix, signal });
      for await (const change of changes) this.#note(changed, change);
      return changed;
    } catch (cause) {
      if ((cause as { code?: unknown }).code !== 'missing-chunk') throw cause;
      // The old commit was collected: all rows count as changed.
      return this.#comparedWith(snapshot);
    }
  }

  async #comparedWith(snapshot: Snapshot): Promise<ChangedRows> {
    const changed: ChangedRows = new Map();
    for (const key of this.#held.keys()) changed.set(key, undefined);
    const { all } = this.#source.at(snapshot, this.#ended.signal);
    for await (const { row } of all()) {
      const key = this.#source.keyOf(row);
      if (this.#held.has(key) || this.#isWanted(row)) changed.set(key, row);
    }
    return changed;
  }

  /** Notes a change, unless it is of no concern. In an index, a row has one for each entry. */
  #note(changed: ChangedRows, change: Change): void {
    const { spec, keyOf } = this.#source;
    const isGone = change.op === 'delete';
    let row: CollectionRow;
    try {
      row = spec.rowOf(change.key, isGone ? change.oldValue : change.newValue);
    } catch (cause) {
      // Such as a row of a newer version of the app. The others go on.
      report(cause);
      return;
    }
    const key = keyOf(row);
    if (isGone) {
      if (this.#held.has(key) && !changed.has(key)) changed.set(key, undefined);
    } else if (this.#held.has(key) || this.#isWanted(row)) changed.set(key, row);
  }

  /** Writes changes to the collection, of rows that it has or should have. */
  #tell(changed: ReadonlyMap<Key, CollectionRow | undefined>): Receipt {
    if (this.#isOver) return true;
    let isBegun = false;
    for (const [key, row] of changed) {
      const isHeld = this.#held.has(key);
      const isWanted = row !== undefined && this.#isWanted(row);
      if (!isHeld && !isWanted) continue;
      if (!isBegun) this.#target.begin();
      isBegun = true;
      if (isWanted) {
        this.#target.write({ type: isHeld ? 'update' : 'insert', value: row });
        this.#held.set(key, row);
      } else {
        this.#target.write({ type: 'delete', key });
        this.#held.delete(key);
      }
    }
    return isBegun ? this.#target.commit() : true;
  }

  #isWanted(row: CollectionRow): boolean {
    if (this.#isWhole) return true;
    for (const { parts } of this.#subsets.values()) {
      if (parts.some((part) => isIn(part, row))) return true;
    }
    return false;
  }

  async #loadAll(): Promise<void> {
    await this.#atHead([], async (snapshot) => {
      const { all } = this.#source.at(snapshot, this.#ended.signal);
      let batch: ChangedRows = new Map();
      for await (const { row } of all()) {
        batch.set(this.#source.keyOf(row), row);
        if (batch.size < BATCH_ROWS) continue;
        this.#tell(batch);
        batch = new Map();
      }
      this.#tell(batch);
    });
  }

  /** Loads the rows of a request; resolves when the collection has them. */
  async load(options: LoadSubsetOptions): Promise<void> {
    // In a list, so that the turn does not await the receipt: it can wait for a mutation that waits for its turn.
    const [receipt] = await this.#inTurn(async () => {
      const reading = either(this.#ended.signal, options.signal);
      try {
        return [await this.#loadRequest(options, reading.signal)] as const;
      } catch (cause) {
        this.#goOn();
        throw cause;
      } finally {
        reading.stop();
      }
    });
    if (receipt !== undefined) await receipt.of;
  }

  async #loadRequest(
    options: LoadSubsetOptions,
    reading: AbortSignal,
  ): Promise<{ readonly of: Receipt } | undefined> {
    if (reading.aborted) return undefined;
    const wanted = splitRequest(options, this.#source.keyOrder).filter(({ limit }) => limit > 0);
    const plans = await this.#planRequests(wanted, reading);
    // An earlier abort would not end a watch that begins now.
    if (reading.aborted) return undefined;
    const of = await this.#atHead([...this.#plans(), ...plans], async (snapshot) => {
      const changed = await this.#changedUpTo(snapshot);
      const ground = this.#source.at(snapshot, reading);
      const parts: LoadedPart[] = [];
      const rows = new Map<Key, CollectionRow>();
      for (const plan of plans) {
        const { found, boundary } = await readPlanned(ground, plan);
        for (const { row } of found) rows.set(this.#source.keyOf(row), row);
        parts.push({ wanted: plan.wanted, boundary });
      }
      this.#subsets.set(options, { plans, parts });
      // Held rows are as in the head once the changes are written.
      for (const [key, row] of rows) if (!this.#held.has(key)) changed.set(key, row);
      return { of: this.#tell(changed) };
    });
    return of;
  }

  /** Plans the reads of requests: the watch must begin before the reads, and with their range. */
  async #planRequests(
    wanted: readonly LoadedPart['wanted'][],
    reading: AbortSignal,
  ): Promise<TablePlan[]> {
    const snapshot = this.#source.db.snapshot();
    try {
      const ground = this.#source.at(snapshot, reading);
      return await Promise.all(wanted.map((part) => planRequest(ground, part)));
    } finally {
      snapshot.close();
    }
  }

  /** Gives up the rows that only this request wants. */
  unload(options: LoadSubsetOptions): void {
    void this.#inTurn(async () => {
      if (!this.#subsets.delete(options) || this.#isOver) return;
      const gone: ChangedRows = new Map();
      for (const [key, row] of this.#held) if (!this.#isWanted(row)) gone.set(key, undefined);
      this.#tell(gone);
      if (this.#subsets.size > 0) return;
      this.#stopWatch();
      this.#position = undefined;
    });
  }
}

/** Returns a signal that is aborted with either of two, until it is stopped: some browsers lack `AbortSignal.any`. */
function either(...signals: readonly (AbortSignal | undefined)[]) {
  const both = new AbortController();
  const abort = () => both.abort();
  for (const signal of signals) {
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) abort();
  }
  const stop = () => {
    for (const signal of signals) signal?.removeEventListener('abort', abort);
  };
  return { signal: both.signal, stop };
}
