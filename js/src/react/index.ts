/**
 * Hooks for React 18 and later. A component renders again only when something that it shows has
 * changed, in this tab or another. Unchanged rows keep their identity, so that `memo` and
 * dependencies work. Components that show the same data share one watch.
 */
import { useCallback, useSyncExternalStore } from 'react';
import { HedgerowError } from '../base/errors.js';
import { kindOf } from '../base/kind.js';
import { RANGE, rangeOf } from '../base/options.js';
import type {
  IndexRange,
  IndexScanOptions,
  KeyRange,
  ScanOptions,
  SecondaryKey,
  Store,
} from '../index.js';
import { checkedScan } from '../read/scan-options.js';
import { followScan, type Shown, type Watchable } from './follow.js';
import type { Row } from './rows.js';
import { type Follow, type Followed, type Status, stateOf, subscribe } from './subscriptions.js';

export type { Row, Watchable };

/** A row. It is absent when `status` is `ready` and `value` is `undefined`. */
export type RowState<Value = unknown> =
  | { readonly status: 'loading'; readonly value: undefined; readonly error: undefined }
  | { readonly status: 'ready'; readonly value: Value | undefined; readonly error: undefined }
  /** `value` is the last one that was read, if any. */
  | { readonly status: 'error'; readonly value: Value | undefined; readonly error: unknown };

/** An entry of an index: a row and its secondary key. */
export type IndexRow<Value = unknown> = readonly [
  key: string,
  value: Value,
  secondary: SecondaryKey,
];

/** The rows of a scan. */
export type ScanState<Value = unknown, Shown = Row<Value>> =
  | { readonly status: 'loading'; readonly rows: readonly []; readonly error: undefined }
  | { readonly status: 'ready'; readonly rows: readonly Shown[]; readonly error: undefined }
  /** `rows` are the last ones that were read. */
  | { readonly status: 'error'; readonly rows: readonly Shown[]; readonly error: unknown };

/** The number of rows in a range. */
export type CountState =
  | { readonly status: 'loading'; readonly count: undefined; readonly error: undefined }
  | { readonly status: 'ready'; readonly count: number; readonly error: undefined }
  /** `count` is the last one that is known, if any. */
  | { readonly status: 'error'; readonly count: number | undefined; readonly error: unknown };

/** A store or a branch of one: the members that `useCount` uses. */
export type Countable = Pick<Store, 'watchCount'> & Partial<Pick<Store, 'onRecovery'>>;

const NO_COUNT: CountState = { status: 'loading', count: undefined, error: undefined };
const NO_ROW: RowState = { status: 'loading', value: undefined, error: undefined };
const NO_ROWS: ScanState = { status: 'loading', rows: [], error: undefined };

function useShown<Db extends Followed, State extends Status>(
  db: Db | undefined,
  name: string,
  begin: (db: Db, name: string) => Follow<State>,
  loading: State,
): State {
  const listen = useCallback(
    (listener: () => void) =>
      db === undefined ? () => {} : subscribe(db, name, begin(db, name), listener),
    [db, name, begin],
  );
  return useSyncExternalStore(
    listen,
    () => stateOf<State>(db, name) ?? loading,
    () => loading,
  );
}

const inOrder = (range: KeyRange | IndexRange) =>
  Object.fromEntries(Object.entries(range).sort(([a], [b]) => (a < b ? -1 : 1)));

/** The text of options: equal for equal ones. It contains what `read` makes of them, or its error (`e`). */
function textOf(letter: string, read: () => object): string {
  try {
    return letter + JSON.stringify(read());
  } catch (cause) {
    return `e${(cause as Error).message}`;
  }
}

/** The error in the name of a subscription with malformed arguments. */
const refusalOf = (name: string) => new HedgerowError('invalid-argument', name.slice(1));

const beginScan =
  (db: Watchable, name: string): Follow<ScanState> =>
  (set, before) => {
    if (name.startsWith('e')) {
      set({ status: 'error', rows: [], error: refusalOf(name) });
      return () => {};
    }
    return followScan(db, JSON.parse(name.slice(1)))(set as (shown: Shown) => void, before?.rows);
  };

const beginRow =
  (db: Watchable, name: string): Follow<RowState> =>
  (set, before) => {
    if (name.startsWith('e')) {
      set({ status: 'error', value: undefined, error: refusalOf(name) });
      return () => {};
    }
    const key = JSON.parse(name.slice(1)) as string;
    return followScan(db, checkedScan('useRow', { gte: key, lte: key }))(
      ({ status, rows, error }) => set({ status, value: rows[0]?.[1], error } as RowState),
      before?.value === undefined ? [] : [[key, before.value]],
    );
  };

/**
 * The row of a key, now and whenever it changes. Its status is `loading` without a store, on a server, and until
 * the row was read. It is `error` once the row cannot be read any more: storage could not be read in five tries
 * within 7.5 seconds, the row is damaged, or the branch (`branch-not-found`) or the store (`closed`) was deleted. The
 * row is read again when a component with the same row is mounted, and after `repair`, `resetTo` or `switchTo` of
 * the store.
 */
export function useRow<Value = unknown>(db: Watchable | undefined, key: string): RowState<Value> {
  const isKey = typeof key === 'string';
  const name = isKey ? `r${JSON.stringify(key)}` : `euseRow: a key is a string, not ${kindOf(key)}`;
  return useShown(db, name, beginRow, NO_ROW) as RowState<Value>;
}

/**
 * The rows of a scan, now and whenever one of them changes. A change gives a new list, in which each
 * unchanged row is the same object. Options are compared by value, so each render may create them
 * anew. All shown rows are in memory. With a `limit`, an `offset` or an `index`, a change that may
 * concern them reads all shown rows again; otherwise only the changes are applied to the list.
 */
export function useScan<Value = unknown>(
  db: Watchable | undefined,
  options?: Omit<ScanOptions, 'signal'>,
): ScanState<Value>;
export function useScan<Value = unknown>(
  db: Watchable | undefined,
  options: Omit<IndexScanOptions, 'signal'>,
): ScanState<Value, IndexRow<Value>>;
export function useScan(
  db: Watchable | undefined,
  options: ScanOptions | IndexScanOptions = {},
): unknown {
  const text = textOf('s', () => {
    const { range, signal: _, ...control } = checkedScan('useScan', options);
    return { range: inOrder(range), ...control };
  });
  return useShown(db, text, beginScan, NO_ROWS);
}

const beginCount =
  (db: Countable, name: string): Follow<CountState> =>
  (set, before) => {
    let count = before?.count;
    const onError = (error: unknown) => set({ status: 'error', count, error });
    if (name.startsWith('e')) {
      onError(refusalOf(name));
      return () => {};
    }
    const show = (now: number) => {
      // After a failure the number may be the same.
      count = now;
      set({ status: 'ready', count, error: undefined });
    };
    try {
      return db.watchCount(JSON.parse(name.slice(1)), show, { onError });
    } catch (error) {
      onError(error);
      return () => {};
    }
  };

/**
 * The number of rows in a range, all by default, or of entries in a range of an index, now and whenever it changes. Reads
 * no rows. Ranges are compared by value. Its status is as that of `useRow`.
 */
export function useCount(db: Countable | undefined, range: KeyRange | IndexRange = {}): CountState {
  const text = textOf('c', () => inOrder(rangeOf('useCount', range, RANGE.entries)));
  return useShown(db, text, beginCount, NO_COUNT);
}
