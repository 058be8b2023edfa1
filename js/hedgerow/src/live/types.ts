/** The states of live queries, and their sources. */

import type { FOLLOW } from '../base/follow-symbol.js';
import type { RECOVERY } from '../base/internal-symbols.js';
import type { KeyRange } from '../base/range.js';
import type { IndexRange, SecondaryKey } from '../core/indexes/index-range.js';
import type { IndexScanOptions, ScanOptions } from '../engine/read/scan-options.js';
import type { Store } from '../store/store.js';

/** A handle of a store in this thread. */
export type LocalHandle = Pick<Store, 'root' | 'scan' | 'watch' | 'snapshot' | typeof RECOVERY>;

/** A handle of a store in a worker, which follows rows itself. */
export interface RemoteHandle {
  /** Makes a follower; `before` is the last one. */
  readonly [FOLLOW]: <State extends LiveStatus>(
    kind: 'rows' | 'count',
    source: LiveSource<unknown>,
    stateOf: (rows: readonly never[], told: LiveStatus, number?: number) => State,
    before: unknown,
  ) => LiveFollower<State>;
}

/** A handle whose rows can be shown: a store, or a branch of one. */
export type Watchable = LocalHandle | RemoteHandle;

/** A follower that keeps a state up to date for all its listeners. */
export interface LiveFollower<State extends LiveStatus = LiveStatus> {
  /** Followers of one `hub` with equal names show the same. */
  readonly wanted: { readonly hub: { find(name: string): unknown }; readonly name: string };
  readonly state: State;
  /** Whether `state` has a result to show. */
  readonly isLoaded: boolean;
  /** Whether it is not kept up to date. */
  readonly isOver: boolean;
  /** Keeps it up to date for a while. */
  touch(): void;
  /** Keeps it up to date, and calls `listener` after each change; returns a function that stops it. */
  listen(listener: () => void): () => void;
  /** Begins again after a failure. */
  retry(): void;
  /** Ends it at once if it has no listeners. */
  release(): void;
}

/** The rows to show. A live query ends by `close()`, and is `loading` while its index is built. */
export type LiveOptions = Omit<ScanOptions, 'signal'>;

/** The entries of an index to show. */
export type LiveIndexOptions = Omit<IndexScanOptions, 'signal' | 'wait'>;

/** A source of rows that can be shown live. */
export interface LiveSource<Row> {
  readonly db: Watchable;
  readonly options: LiveOptions | LiveIndexOptions;
  /**
   * Makes a row of a stored value; `secondary` is the secondary key of an index entry. It is called once for each state
   * of a row. It must not change `value`, which others may have, too. A row for which it throws is left out, and its
   * error is the `error` of the state until the row changes.
   */
  rowOf(key: string, value: unknown, secondary?: SecondaryKey): Row;
  /**
   * Queries with equal options and the same function `rowOf` share their rows. A name stands for a `rowOf` that each
   * query makes again: equal names promise equal rows.
   */
  readonly name?: string | undefined;
  /** Conditions of the rows that the range does not answer. */
  readonly filter?: LiveFilter | undefined;
  /** Resolves before each read. Returns `undefined` if the read need not wait: rows are then shown at once. */
  whenReady?(): Promise<unknown> | undefined;
}

/** Conditions that a row is tested for after it was read. */
export interface LiveFilter {
  /** Queries with equal conditions share their rows. */
  readonly conditions: unknown;
  /** Whether the range has a row several times. Then a change of a wanted row reads the range again. */
  readonly isRepeated?: boolean | undefined;
  /** Loads the test of a stored value. */
  load(): Promise<(stored: unknown) => boolean>;
}

/** An object that makes a source, such as a query of a table. */
export interface LiveQuery<Row> {
  source(): LiveSource<Row>;
}

/** An object that makes a source of one row: a table. */
export interface LiveTable<Row, Key> {
  rowSource(key: Key): LiveSource<Row>;
}

/** The members of all states. */
export interface LiveStatus {
  /** `'loading'` until something can be shown. */
  readonly status: 'loading' | 'ready' | 'error';
  /** Whether the result is from before `change`, or from before a pause, and will be replaced. */
  readonly isStale: boolean;
  /**
   * With the status `'error'`: why the state is no longer kept up to date; the last result stays. With any other
   * status: why a row that cannot be read is left out.
   */
  readonly error: unknown;
}

/** The rows of a live query. */
export interface LiveState<Row> extends LiveStatus {
  /** A new list once one of its rows has changed; an unchanged row is the same object. */
  readonly rows: readonly Row[];
  /** The `offset` of the query of these rows. */
  readonly offset: number;
}

/** The row of a key. */
export interface LiveRowState<Row> extends LiveStatus {
  /** `undefined` if there is no such row, and while it is loading. */
  readonly value: Row | undefined;
}

/** The number of rows in a range. */
export interface LiveCountState extends LiveStatus {
  /** `undefined` while it is loading. */
  readonly count: number | undefined;
}

/** The calls that live queries, rows and counts share. */
interface LiveBase<State> {
  /** Returns the state: the same object until a part of it has changed. Needs no `this`. */
  readonly get: () => State;
  /** Calls `listener` after each change; returns a function that stops it. Needs no `this`. */
  readonly subscribe: (listener: () => void) => () => void;
  /** Ends it, and drops all listeners; `get` returns the last state from then on. Idempotent. */
  close(): void;
  /** As `close`, for `using`. */
  [Symbol.dispose](): void;
}

/** A live query. */
export interface Live<Row> extends LiveBase<LiveState<Row>> {
  /** Shows another query. The last rows stay, with `isStale`, until the new ones are there. */
  change(query: LiveQuery<Row>): void;
  change(db: Watchable, options?: LiveOptions | LiveIndexOptions): void;
}

/** A live row. */
export interface LiveRow<Row> extends LiveBase<LiveRowState<Row>> {
  /** Shows another row. */
  change<Key>(table: LiveTable<Row, Key>, key: NoInfer<Key>): void;
  change(db: Watchable, key: string): void;
}

/** A live count. */
export interface LiveCount extends LiveBase<LiveCountState> {
  /** Counts another query or range. */
  change(query: LiveQuery<unknown>): void;
  change(db: Watchable, range?: LiveCountRange): void;
}

/** The range to count. */
export type LiveCountRange = KeyRange | IndexRange;
