/** What live queries show, and what they are made from. */

import type { FOLLOW } from '../base/follow-symbol.js';
import type { KeyRange } from '../base/range.js';
import type { IndexRange, SecondaryKey } from '../core/indexes/columns.js';
import type { IndexScanOptions, ScanOptions } from '../engine/read/scan-options.js';
import type { Store } from '../index.js';

/** A handle of a store that is here. */
export type LocalHandle = Pick<Store, 'root' | 'scan' | 'watch' | 'snapshot' | 'onRecovery'>;

/** A handle of a store that is in a worker: it follows rows itself. */
export interface RemoteHandle {
  /** Makes what keeps a state up to date; `before` is what was shown last. */
  readonly [FOLLOW]: <State extends LiveStatus>(
    kind: 'rows' | 'count',
    source: LiveSource<unknown>,
    stateOf: (rows: readonly never[], told: LiveStatus, number?: number) => State,
    before: unknown,
  ) => LiveFollower<State>;
}

/** A handle whose rows can be shown: a store, or a branch of one. */
export type Watchable = LocalHandle | RemoteHandle;

/** What keeps a state up to date, for all who show it. */
export interface LiveFollower<State extends LiveStatus = LiveStatus> {
  /** Equal names, of one hub, show the same. */
  readonly wanted: { readonly hub: { find(name: string): unknown }; readonly name: string };
  readonly state: State;
  /** Whether `state` has something to show. */
  readonly isLoaded: boolean;
  /** It is not kept up to date. */
  readonly isOver: boolean;
  /** Keeps it up to date for a while. */
  touch(): void;
  /** Keeps it up to date, and calls `listener` after each change; returns how to stop. */
  listen(listener: () => void): () => void;
  /** After a failure, begins again. */
  retry(): void;
  /** Ends it at once, if nobody shows it. */
  release(): void;
}

/** Which rows are shown. A live query ends by `close()`, and is `loading` while its index is built. */
export type LiveOptions = Omit<ScanOptions, 'signal'>;

/** Which entries of an index are shown. */
export type LiveIndexOptions = Omit<IndexScanOptions, 'signal' | 'wait'>;

/** What can be shown live. */
export interface LiveSource<Row> {
  readonly db: Watchable;
  readonly options: LiveOptions | LiveIndexOptions;
  /**
   * Makes a row of what is stored; of an index, `secondary` is the secondary key of the entry. It is called once for
   * each state of a row. It must not change `value`, which others may have, too. A row for which it throws is left out, and
   * what it threw is the `error` until the row changes.
   */
  rowOf(key: string, value: unknown, secondary?: SecondaryKey): Row;
  /**
   * Queries with equal options and the same function `rowOf` share their rows. A name stands for `rowOf` where that is
   * made anew for each query: equal names promise equal rows.
   */
  readonly name?: string | undefined;
  /** Awaited before each read. Returns `undefined` when there is nothing to wait for: then rows are shown at once. */
  whenReady?(): Promise<unknown> | undefined;
}

/** What makes a source, such as a query of a table. */
export interface LiveQuery<Row> {
  source(): LiveSource<Row>;
}

/** What makes a source of one row: a table. */
export interface LiveTable<Row, Key> {
  rowSource(key: Key): LiveSource<Row>;
}

/** What all states have. */
export interface LiveStatus {
  /** `'loading'` until something can be shown. */
  readonly status: 'loading' | 'ready' | 'error';
  /** What is shown is of the query before `change`, or of before a pause, and will be replaced. */
  readonly isStale: boolean;
  /**
   * With the status `'error'`: why it is not kept up to date any more; what was shown last stays. With any other: why a row is
   * left out, which cannot be read.
   */
  readonly error: unknown;
}

/** The rows of a live query. */
export interface LiveState<Row> extends LiveStatus {
  /** A new list once one of its rows has changed; an unchanged row is the same object. */
  readonly rows: readonly Row[];
  /** The `offset` of the query that they are of. */
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

/** The common part of what is live. */
interface LiveBase<State> {
  /** What is shown: the same object until something of it has changed. Needs no `this`. */
  readonly get: () => State;
  /** Calls `listener` after each change; returns how to stop. Needs no `this`. */
  readonly subscribe: (listener: () => void) => () => void;
  /** Ends it, and forgets all listeners; `get` returns the last state from then on. Idempotent. */
  close(): void;
  /** As `close`, for `using`. */
  [Symbol.dispose](): void;
}

/** A live query. */
export interface Live<Row> extends LiveBase<LiveState<Row>> {
  /** Shows another query. The rows shown last stay, with `isStale`, until the new ones are there. */
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

/** What is counted. */
export type LiveCountRange = KeyRange | IndexRange;
