/** Scans of an index in a transaction: stored entries merged with entries of its own edits, in order. */
import * as ReadFlag from '../../base/abi/read-flag.js';
import { HedgerowError } from '../../base/errors.js';
import type { Exactly } from '../../base/exhaustive-members-type.js';
import { compareKeys } from '../../base/key.js';
import { isInRange } from '../../base/range.js';
import type { UnawaitedCalls } from '../../base/unawaited-calls.js';
import type { Index } from '../../core/indexes/definition.js';
import { deriveEntries } from '../../core/indexes/index-entries.js';
import {
  type IndexRange,
  positionOf,
  positionsOf,
  type SecondaryKey,
} from '../../core/indexes/index-range.js';
import { State } from '../../core/indexes/index-set.js';
import { blocks, type IndexScan, makeRows, type Rows, startScan } from '../read/scan.js';
import {
  checkedScan,
  type IndexScanOptions,
  type ScanPlan,
  type StoredScan,
  UNLIMITED,
} from '../read/scan-options.js';
import { readBack } from './edits.js';
import type { Sources } from './merged-scan.js';
import type { IndexRead } from './read-set.js';

/** An entry of an index, and the row that it names. */
interface IndexedRow {
  readonly position: string;
  readonly key: string;
  readonly value: unknown;
  readonly secondary: SecondaryKey;
}

/** Returns the index of a range; throws `not-ready` if the transaction's commit does not have the whole index. */
export function readyIndex({ host, view }: Sources, { index: name }: IndexRange): Index {
  const index = host.indexes.get(name);
  if (host.indexes.state(view, index) === State.complete) return index;
  throw new HedgerowError('not-ready', `the index ${name} is not made yet`);
}

/** Returns the entries of the transaction's own edits in a range of positions, in order. */
export function ownEntries(
  { edits }: Sources,
  index: Index,
  range: ReturnType<typeof positionsOf>,
  reverse: boolean,
): IndexedRow[] {
  const sign = reverse ? -1 : 1;
  const found: IndexedRow[] = [];
  for (const edit of edits.in({ prefix: index.prefix })) {
    if (edit.value === undefined) continue;
    let isGiven = false;
    const value = readBack(edit);
    for (const entry of deriveEntries(index, edit.key, value)) {
      if (!isInRange(entry.position, range)) continue;
      // Each entry gets its own copy of the value, as stored entries do.
      found.push({ ...entry, key: edit.key, value: isGiven ? readBack(edit) : value });
      isGiven = true;
    }
  }
  return found.sort((a, b) => sign * compareKeys(a.position, b.position));
}

async function* mergeEntries(
  sources: Sources,
  options: IndexScanOptions,
  keysOnly: boolean,
): AsyncGenerator<IndexedRow, void, void> {
  const { host, view, edits, reads } = sources;
  const {
    range: wanted,
    cut,
    reverse,
    offset,
    limit,
    wait: _,
    signal,
  }: Exactly<
    ScanPlan,
    'range' | 'cut' | 'reverse' | 'offset' | 'limit' | 'wait' | 'signal'
  > = checkedScan('tx.scan', options);
  const index = readyIndex(sources, wanted as IndexRange);
  const range = positionsOf(index, wanted as IndexRange, cut);
  const own = ownEntries(sources, index, range, reverse);
  const hidden = new Set(edits.in({ prefix: index.prefix }).map(({ key }) => key));
  const read: IndexRead = { index, range, reverse, keysOnly, edited: edits.size, ended: false };
  reads.index(read);
  // Own edits may hide any number of entries. Then this function applies `offset` and `limit`, not the core.
  const isOwn = hidden.size > 0;
  let skip = isOwn ? offset : 0;
  let left = limit;
  const isTaken = ({ position }: IndexedRow) => {
    if (skip > 0) {
      skip -= 1;
      return false;
    }
    left -= 1;
    read.reached = position;
    return true;
  };
  if (left === 0) return;
  const parts = ReadFlag.keys | ReadFlag.secondary | (keysOnly ? 0 : ReadFlag.values);
  const bounds = isOwn ? { offset: 0, limit: UNLIMITED } : { offset, limit };
  const stored: StoredScan = { range: wanted, cut, reverse, parts, ...bounds };
  const width = keysOnly ? 2 : 3;
  const start = () => ({ op: startScan(host, view, stored) });
  let next = 0;
  for await (const members of blocks(host, start, signal)) {
    for (let at = 0; at < members.length; at += width) {
      // Throws if the transaction has ended: during a read of storage, or between two rows.
      sources.view;
      const key = members[at] as string;
      if (hidden.has(key)) continue;
      const secondary = members[at + width - 1] as SecondaryKey;
      const position = positionOf(index, secondary, key);
      for (let due = own[next]; due !== undefined; due = own[++next]) {
        const order = compareKeys(due.position, position);
        if (reverse ? order < 0 : order > 0) break;
        if (isTaken(due)) yield due;
        if (left === 0) return;
      }
      const value = keysOnly ? undefined : members[at + 1];
      const found = { position, key, value, secondary };
      if (isTaken(found)) yield found;
      if (left === 0) return;
    }
  }
  for (const found of own.slice(next)) {
    if (isTaken(found)) yield found;
    if (left === 0) return;
  }
  read.ended = true;
}

function shapeRows<T>(
  calls: UnawaitedCalls,
  found: () => AsyncGenerator<IndexedRow>,
  shape: (found: IndexedRow) => T,
): Rows<T> {
  const rows = makeRows(async function* () {
    const end = calls.begin('tx.scan');
    try {
      for await (const one of found()) yield shape(one);
    } finally {
      end();
    }
  });
  return {
    ...rows,
    toArray: () => calls.add('tx.scan.toArray', rows.toArray),
    first: () => calls.add('tx.scan.first', rows.first),
  };
}

/** Scans the rows that `sources` returns when reading begins; `sources` throws when the transaction has ended. */
export function mergedIndexScan(
  sources: () => Sources,
  options: IndexScanOptions,
): IndexScan<unknown> {
  const { calls } = sources();
  const readEntries = (keysOnly: boolean) => () => mergeEntries(sources(), options, keysOnly);
  const entry = ({ key, value, secondary }: IndexedRow): [string, unknown, SecondaryKey] => [
    key,
    value,
    secondary,
  ];
  return {
    ...shapeRows(calls, readEntries(false), entry),
    keys: () => shapeRows(calls, readEntries(true), ({ key }) => key),
    values: () => shapeRows(calls, readEntries(false), ({ value }) => value),
  };
}
