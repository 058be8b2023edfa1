/** A table of a store as TanStack DB sees it. */

import type { IR } from '@tanstack/db';
import type { KeyRange, Snapshot, Store } from 'hedgerow';
import type { IndexRange, ScanOptions } from 'hedgerow/kit';
import {
  HedgerowError,
  kindOf,
  memberOf,
  parsePointer,
  type Spec,
  type StoreTable,
  type TableIndex,
} from 'hedgerow/kit';
import { pathText } from './expression-conditions.js';
import type { Candidate } from './index-access-paths.js';
import type { Part, RequestPlan, RowSource } from './plan-and-read-request.js';
import type { CollectionRow } from './subset-request.js';

/** The key of a row in a collection. */
export type Key = string | number;

/** A stored row. */
export interface StoredTableRow {
  readonly key: string;
  readonly row: CollectionRow;
}

/** An index of a table, or its keys. */
export interface TableCandidate extends Candidate {
  readonly index: TableIndex | undefined;
}

const LEXICAL = { direction: 'asc', nulls: 'first', stringSort: 'lexical' } as const;

/** A table of a store, or of a branch of one. */
export class TableSource {
  readonly table: StoreTable;
  readonly db: Store;
  readonly spec: Spec;
  readonly candidates: readonly TableCandidate[];
  /** The order of keys, for requests that name no order. */
  readonly keyOrder: IR.OrderBy;

  /** Throws `invalid-argument` unless `table` is a table of a store. */
  constructor(call: string, table: unknown) {
    const place = memberOf(table, 'place') as StoreTable['place'] | undefined;
    if (memberOf(place, 'store') === undefined || place === undefined) {
      const message = `${call}: table must be a table of a store or a branch, such as db.issues, not ${kindOf(table)}`;
      throw new HedgerowError('invalid-argument', message);
    }
    this.table = table as StoreTable;
    this.db = place.store as Store;
    const { spec } = place;
    this.spec = spec;
    const keyPaths = spec.keys.columns.map((name) => pathText([name]));
    const ofKey: TableCandidate = {
      index: undefined,
      columns: keyPaths,
      nulls: false,
      isKey: true,
      columnOf: (value) =>
        spec.keys.isPlain && typeof value !== 'string' ? undefined : scalar(value),
    };
    this.candidates = [ofKey, ...spec.indexes.flatMap((index) => candidateOf(spec, index))];
    const expression = { type: 'ref', path: [spec.keys.columns[0]] } as unknown as IR.PropRef;
    this.keyOrder = [{ expression, compareOptions: LEXICAL }];
  }

  /** Returns the key of a row: its one member, or a JSON text of several. */
  readonly keyOf = (row: CollectionRow): Key => {
    const { columns } = this.spec.keys;
    const parts = columns.map((name) => row[name]);
    const [part] = parts;
    const isKey = parts.length === 1 && (typeof part === 'string' || typeof part === 'number');
    return isKey ? part : JSON.stringify(parts);
  };

  /** Returns the key of a row as calls of the table take it. */
  tableKey(row: CollectionRow): unknown {
    const parts = this.spec.keys.columns.map((name) => row[name]);
    return this.spec.keys.isPlain ? parts[0] : parts;
  }

  /** Returns the range of keys, or of an index, that has the rows of all these plans. */
  rangeOf(plans: Iterable<RequestPlan<TableCandidate>>): KeyRange | IndexRange {
    const { spec } = this;
    const all = { prefix: spec.prefix };
    let by: TableCandidate | undefined;
    let common: readonly unknown[] = [];
    for (const { access } of plans) {
      if (access === undefined) return all;
      for (const start of access.starts) {
        if (by === undefined) [by, common] = [access.by, start];
        if (by !== access.by) return all;
        const end = common.findIndex((value, at) => value !== start[at]);
        if (end >= 0) common = common.slice(0, end);
      }
    }
    if (by === undefined || common.length === 0) return all;
    return rangeOf(spec, by, { start: common, bounds: {} });
  }

  /** Returns the rows of a commit. */
  at(snapshot: Snapshot, signal: AbortSignal): RowSource<TableCandidate, StoredTableRow> {
    const { spec } = this;
    return {
      candidates: this.candidates,
      count: (by, part) => snapshot.count(rangeOf(spec, by, part)),
      scan: (by, part) => {
        const { reverse, offset, limit } = part;
        const scan = { ...rangeOf(spec, by, part), reverse, offset, limit, signal };
        return this.#readRows(snapshot.scan(scan as ScanOptions));
      },
      get: (_, starts) => this.#byKeys(snapshot, starts),
      all: () => this.#readRows(snapshot.scan({ prefix: spec.prefix, signal })),
      keyOf: ({ key }) => key,
    };
  }

  async *#readRows(
    scan: AsyncIterable<readonly [key: string, stored: unknown, ...rest: unknown[]]>,
  ): AsyncGenerator<StoredTableRow, void, void> {
    for await (const [key, stored] of scan) yield { key, row: this.spec.rowOf(key, stored) };
  }

  async *#byKeys(
    snapshot: Snapshot,
    starts: readonly (readonly unknown[])[],
  ): AsyncGenerator<StoredTableRow, void, void> {
    const { keys, rowOf } = this.spec;
    const wanted = starts.map((start) => keys.of(keys.isPlain ? start[0] : start));
    const stored = await snapshot.getMany(wanted);
    for (const [at, key] of wanted.entries()) {
      if (stored[at] !== undefined) yield { key, row: rowOf(key, stored[at]) };
    }
  }
}

function rangeOf(
  spec: Spec,
  { index }: TableCandidate,
  { start, bounds }: Part,
): KeyRange | IndexRange {
  const range: Record<string, unknown> = { ...(start.length > 0 && { equals: start }) };
  for (const [name, value] of Object.entries(bounds)) range[name] = [value];
  const of = range as Omit<IndexRange, 'index'>;
  return index === undefined ? spec.keys.range(of) : { index: index.stored, ...of };
}

/** Returns no candidate for an index of words: its entries show too little of a row. */
function candidateOf(spec: Spec, index: TableIndex): TableCandidate[] {
  const columns = index.paths.map((path) => parsePointer(path));
  if (!columns.every((names) => names !== undefined)) return [];
  const columnOf = (value: unknown) => {
    try {
      return scalar(spec.kept.column(value));
    } catch {
      // A date in a table without dates, or an invalid date.
      return undefined;
    }
  };
  return [{ index, columns: columns.map(pathText), nulls: index.nulls, isKey: false, columnOf }];
}

/** Returns a value that an index can list; `undefined` for other values. */
function scalar(value: unknown): unknown {
  if (typeof value === 'string') return /\p{Surrogate}/u.test(value) ? undefined : value;
  const isScalar =
    typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));
  return isScalar ? value : undefined;
}
