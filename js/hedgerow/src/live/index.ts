/**
 * Live queries, with or without a framework: lists, rows and counts that are kept up to date, whoever changes the
 * store. An unchanged row stays the same object, and an unchanged list the same array. Rows in memory are there at
 * once.
 */
import { checkRangeOptions, ENTRY_RANGE } from '../base/check-options.js';
import type { SecondaryKey } from '../core/indexes/index-range.js';
import { CountFollower } from './count-follower.js';
import { FilteredCountFollower, FilteredWindowFollower } from './filtered-followers.js';
import { LiveView } from './live-view.js';
import {
  buildCountSpec,
  buildRowsSpec,
  findRemoteFollow,
  rowSourceOf,
  sourceOf,
} from './query-spec.js';
import { RowWindowFollower } from './row-window-follower.js';
import type {
  Live,
  LiveCount,
  LiveCountRange,
  LiveCountState,
  LiveFollower,
  LiveIndexOptions,
  LiveOptions,
  LiveQuery,
  LiveRow,
  LiveRowState,
  LiveSource,
  LiveState,
  LiveStatus,
  LiveTable,
  Watchable,
} from './types.js';

export type {
  Live,
  LiveCount,
  LiveCountRange,
  LiveCountState,
  LiveIndexOptions,
  LiveOptions,
  LiveQuery,
  LiveRow,
  LiveRowState,
  LiveSource,
  LiveState,
  LiveTable,
  Watchable,
};

type Before = LiveFollower | undefined;
type Query<Row> = LiveQuery<Row> | Watchable;

const entryOf = (key: string, value: unknown, secondary?: SecondaryKey) =>
  secondary === undefined ? [key, value] : [key, value, secondary];
const valueIn = (_: string, value: unknown) => value;

const listState = <Row>(rows: readonly Row[], told: LiveStatus, offset = 0): LiveState<Row> => ({
  ...told,
  rows,
  offset,
});
const countState = (_: readonly unknown[], told: LiveStatus, count?: number): LiveCountState => ({
  ...told,
  count,
});
const rowState = <Row>([value]: readonly Row[], told: LiveStatus): LiveRowState<Row> => ({
  ...told,
  value,
});

/**
 * Follows the rows of a query, or of a range of a store or a branch. Reads no rows before a call of `get` or
 * `subscribe`. Live queries of the same rows share one follower, which ends a second after it has lost its last
 * listener.
 */
export function live<Row>(query: LiveQuery<Row>): Live<Row>;
export function live<Value = unknown>(
  db: Watchable,
  options: LiveIndexOptions,
): Live<readonly [key: string, value: Value, secondary: SecondaryKey]>;
export function live<Value = unknown>(
  db: Watchable,
  options?: LiveOptions,
): Live<readonly [key: string, value: Value]>;
export function live(
  query: Query<unknown>,
  options: LiveOptions | LiveIndexOptions = {},
): Live<unknown> {
  const make = (before: Before, query: Query<unknown>, options: LiveOptions = {}) => {
    const source = sourceOf<unknown>(query, options, entryOf);
    const follow = findRemoteFollow(source);
    if (follow) return follow('rows', source, listState, before);
    const spec = buildRowsSpec('live', source);
    const RowsFollower = spec.filter === undefined ? RowWindowFollower : FilteredWindowFollower;
    return new RowsFollower(spec, listState, before);
  };
  return new LiveView<LiveState<unknown>, [query: Query<unknown>, options?: LiveOptions]>(make, [
    query,
    options as LiveOptions,
  ]) as Live<unknown>;
}

/** Follows the row of a key of a table, store or branch: its value, or what `rowOf` makes of it. */
export function liveRow<Row, Key>(table: LiveTable<Row, Key>, key: NoInfer<Key>): LiveRow<Row>;
export function liveRow<Row = unknown>(
  db: Watchable,
  key: string,
  rowOf?: LiveSource<Row>['rowOf'],
): LiveRow<Row>;
export function liveRow<Row>(
  table: LiveTable<Row, unknown> | Watchable,
  key: unknown,
  rowOf: LiveSource<Row>['rowOf'] = valueIn as LiveSource<Row>['rowOf'],
): LiveRow<Row> {
  const make = (before: Before, table: LiveTable<Row, unknown> | Watchable, key: unknown) => {
    const source = rowSourceOf('liveRow', table, key, rowOf);
    const follow = findRemoteFollow(source);
    if (follow) return follow('rows', source, rowState<Row>, before);
    const wanted = buildRowsSpec('liveRow', source);
    return new RowWindowFollower({ ...wanted, name: `row ${wanted.name}` }, rowState<Row>, before);
  };
  return new LiveView(make, [table, key]) as LiveRow<Row>;
}

/**
 * Follows the number of rows of a query, whatever its `offset` and `limit`, or of a range. Reads only rows that change.
 */
export function liveCount(query: LiveQuery<unknown>): LiveCount;
export function liveCount(db: Watchable, range?: LiveCountRange): LiveCount;
export function liveCount(query: Query<unknown>, range: LiveCountRange = {}): LiveCount {
  const make = (before: Before, query: Query<unknown>, range: LiveCountRange = {}) => {
    const source = sourceOf<unknown>(
      query,
      checkRangeOptions('liveCount', range, ENTRY_RANGE),
      entryOf,
    );
    const follow = findRemoteFollow(source);
    if (follow) return follow('count', source, countState, before);
    const spec = buildCountSpec('liveCount', source);
    return spec.filter === undefined ? new CountFollower(spec) : new FilteredCountFollower(spec);
  };
  return new LiveView<LiveCountState, [query: Query<unknown>, range?: LiveCountRange]>(make, [
    query,
    range,
  ]);
}
