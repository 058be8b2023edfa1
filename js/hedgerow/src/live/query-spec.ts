/** Checks sources, and names them: followers with equal names are shared. */

import { HedgerowError } from '../base/errors.js';
import { FOLLOW } from '../base/follow-symbol.js';
import { checkKey } from '../base/key.js';
import { nameOfValue } from '../base/name-of-value.js';
import { hasCalls, memberOf } from '../base/runtime-type-checks.js';
import { isOfIndex } from '../core/indexes/index-set.js';
import { checkedScan, UNLIMITED } from '../engine/read/scan-options.js';
import { placesOf } from './change-batch.js';
import { findLiveStore } from './follower-registry.js';
import type { FollowerSpec } from './range-follower.js';
import type { WindowSpec } from './row-window-follower.js';
import type { LiveQuery, LiveSource, LiveTable, RemoteHandle, Watchable } from './types.js';

const names = new WeakMap<object, number>();
let last = 0;

/** Returns the name of a function, which no other function has. */
function nameOf(rowOf: object): number {
  const name = names.get(rowOf) ?? ++last;
  names.set(rowOf, name);
  return name;
}

/** Returns the source that a query makes, or the source of a range of a handle. */
export function sourceOf<Row>(
  query: LiveQuery<Row> | Watchable,
  options: LiveSource<Row>['options'],
  rowOf: LiveSource<Row>['rowOf'],
): LiveSource<Row> {
  if (hasCalls(query, 'source')) return (query as LiveQuery<Row>).source();
  return { db: query as Watchable, options, rowOf };
}

/** Returns the source of a row by its key, in a table or a handle. Throws `invalid-argument/key`. */
export function rowSourceOf<Row>(
  call: string,
  table: LiveTable<Row, unknown> | Watchable,
  key: unknown,
  rowOf: LiveSource<Row>['rowOf'],
): LiveSource<Row> {
  if (hasCalls(table, 'rowSource')) return (table as LiveTable<Row, unknown>).rowSource(key);
  checkKey(key, call);
  return { db: table as Watchable, options: { gte: key, lte: key }, rowOf };
}

/** Returns the function that follows rows of a handle in a worker; `undefined` for stores of this thread. */
export function findRemoteFollow({
  db,
}: LiveSource<unknown>): RemoteHandle[typeof FOLLOW] | undefined {
  return (memberOf(db, FOLLOW) as RemoteHandle[typeof FOLLOW] | undefined)?.bind(db);
}

/** Checks a source of rows. Throws `invalid-argument` or `invalid-argument/key`. */
export function buildRowsSpec<Row>(call: string, source: LiveSource<Row>): WindowSpec<Row> {
  const { db, options, name, filter } = source;
  const hub = findLiveStore(call, db);
  const { range, cut, reverse, offset, limit, wait, signal } = checkedScan(call, options);
  const places = placesOf(hub.from.host.indexes, range, cut);
  if (signal !== undefined || !wait) {
    refuse(`${call} takes no signal and no wait: close() ends it, and it waits for its index`);
  }
  if (typeof source.rowOf !== 'function') refuse(`${call}: rowOf of the source is a function`);
  const index = isOfIndex(range) ? range.index : undefined;
  const kind = JSON.stringify([index, name ?? nameOf(source.rowOf)]);
  const members = Object.entries({ ...range, cut }).sort(([a], [b]) => (a < b ? -1 : 1));
  const rangeName = JSON.stringify(members);
  const rowsName = `${rangeName} ${filter && nameOfValue(filter.conditions)}`;
  return {
    hub,
    name: `${kind}${rowsName}${reverse} ${offset} ${limit}`,
    range,
    cut,
    rangeName,
    rowsName,
    places,
    reverse,
    offset,
    limit,
    filter,
    kind,
    rowOf: (...row) => source.rowOf(...row),
    whenReady: () => source.whenReady?.(),
  };
}

/** Checks a source whose range is to be counted. Throws as `buildRowsSpec` does. */
export function buildCountSpec(call: string, source: LiveSource<unknown>): FollowerSpec {
  const { db, options, rowOf, filter } = source;
  const all = { ...options, after: undefined };
  const wanted = buildRowsSpec(call, {
    db,
    options: all,
    rowOf,
    filter,
    whenReady: () => source.whenReady?.(),
  });
  return { ...wanted, name: wanted.rowsName, reverse: false, offset: 0, limit: UNLIMITED };
}

function refuse(message: string): never {
  throw new HedgerowError('invalid-argument', message);
}
