/** Scans of a transaction: stored rows merged with its own edits, in the order of keys. */

import * as ReadFlag from '../../base/abi/read-flag.js';
import type { Exactly } from '../../base/exhaustive-members-type.js';
import { compareKeys } from '../../base/key.js';
import { encodeRange, type KeyRange } from '../../base/range.js';
import { trackUnawaitedCalls } from '../../base/track-unawaited-calls.js';
import type { UnawaitedCalls } from '../../base/unawaited-calls.js';
import type { Host } from '../../core/operation-host.js';
import { blocks, firstOf, type Rows, type Scan, startScan } from '../read/scan.js';
import {
  checkedScan,
  type ScanOptions,
  type ScanPlan,
  type StoredScan,
  UNLIMITED,
} from '../read/scan-options.js';
import { type OwnEdit, type OwnEdits, readBack } from './edits.js';
import type { ReadSet, ScanRead } from './read-set.js';

/** The parts of a transaction that a scan reads from. */
export interface Sources {
  readonly host: Host;
  /** The view of stored rows. Throws when the transaction has ended. */
  readonly view: number;
  readonly edits: OwnEdits;
  readonly reads: ReadSet;
  /** The calls of the function, which must read each scan to its end, or leave it. */
  readonly calls: UnawaitedCalls;
}

/** The number of members of a block for each row: its key, or its key and its value. */
type Width = 1 | 2;

/** Rows in blocks of members, and the record of the rows that were read. */
interface BlockScan {
  readonly read: ScanRead;
  /** The number of rows to leave out, and the number to return. */
  readonly skip: number;
  readonly limit: number;
  readonly blocks: AsyncIterable<unknown[], void>;
}

function begin(sources: Sources, options: ScanOptions, width: Width): BlockScan {
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
  const range = wanted as KeyRange;
  // Throws for a malformed range before its first use.
  encodeRange(range);
  const own = edits.in(range, reverse);
  const edited = edits.size;
  const read: ScanRead = { range, reverse, keysOnly: width === 1, edited, ended: false };
  reads.scan(read);
  const parts = width === 1 ? ReadFlag.keys : ReadFlag.keys | ReadFlag.values;
  const isOwn = own.length > 0;
  // Each own edit can hide one stored row, so `offset` and `limit` apply after the merge.
  const stored: StoredScan = {
    range,
    cut,
    reverse,
    offset: isOwn ? 0 : offset,
    limit: isOwn ? Math.min(offset + limit + own.length, UNLIMITED) : limit,
    parts,
  };
  const found = blocks(host, () => ({ op: startScan(host, view, stored) }), signal);
  if (!isOwn) return { read, skip: 0, limit, blocks: found };
  return { read, skip: offset, limit, blocks: mergeOwnEdits(found, own, width, reverse) };
}

/** Merges own edits into stored rows in the same order, and replaces rows of the same key. */
async function* mergeOwnEdits(
  stored: AsyncIterable<unknown[], void>,
  own: readonly OwnEdit[],
  width: Width,
  reverse: boolean,
): AsyncGenerator<unknown[], void, void> {
  const sign = reverse ? -1 : 1;
  let next = 0;
  const takeOwn = (into: unknown[], isDue: (edit: OwnEdit) => boolean) => {
    for (let edit = own[next]; edit !== undefined && isDue(edit); edit = own[++next]) {
      if (edit.value === undefined) continue;
      into.push(edit.key);
      if (width === 2) into.push(readBack(edit));
    }
  };
  for await (const members of stored) {
    const rows: unknown[] = [];
    for (let at = 0; at < members.length; at += width) {
      const key = members[at] as string;
      takeOwn(rows, (edit) => sign * compareKeys(edit.key, key) < 0);
      if (own[next]?.key === key) takeOwn(rows, (edit) => edit.key === key);
      else for (let part = 0; part < width; part++) rows.push(members[at + part]);
    }
    yield rows;
  }
  const rest: unknown[] = [];
  takeOwn(rest, () => true);
  yield rest;
}

/** The rows of a scan; `shape` makes each result from a key and a value. */
class MergedRows<T> implements Rows<T> {
  protected readonly sources: () => Sources;
  protected readonly calls: UnawaitedCalls;
  protected readonly options: ScanOptions;
  readonly #width: Width;
  readonly #shape: (key: string, value: unknown) => T;

  protected static readonly awaitedCalls = trackUnawaitedCalls(
    MergedRows,
    'toArray first',
    ({ calls }) => [calls, 'tx.scan'],
  );

  constructor(
    sources: () => Sources,
    options: ScanOptions,
    width: Width,
    shape: (key: string, value: unknown) => T,
  ) {
    this.sources = sources;
    this.calls = sources().calls;
    this.options = options;
    this.#width = width;
    this.#shape = shape;
  }

  async toArray(): Promise<T[]> {
    const all: T[] = [];
    for await (const rows of this.#blocks()) for (const row of rows) all.push(row);
    return all;
  }

  first(): Promise<T | undefined> {
    return firstOf(this);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    const end = this.calls.begin('tx.scan');
    try {
      for await (const rows of this.#blocks()) for (const row of rows) yield row;
    } finally {
      end();
    }
  }

  /** Yields blocks of rows, and records each row as read only when it is taken. */
  async *#blocks(): AsyncGenerator<Generator<T, void, void>, void, void> {
    const { read, skip, limit, blocks } = begin(this.sources(), this.options, this.#width);
    let toSkip = skip;
    let left = limit;
    const take = function* (this: MergedRows<T>, members: unknown[]): Generator<T, void, void> {
      const skipped = Math.min(toSkip, members.length / this.#width);
      toSkip -= skipped;
      for (let at = skipped * this.#width; at < members.length && left > 0; at += this.#width) {
        const key = members[at] as string;
        left -= 1;
        read.reached = key;
        yield this.#shape(key, members[at + 1]);
      }
    };
    if (left === 0) return;
    for await (const members of blocks) {
      // Throws if the transaction has ended during a read of storage.
      this.sources();
      yield take.call(this, members);
      if (left === 0) return;
    }
    read.ended = true;
  }
}

class MergedScan extends MergedRows<[string, unknown]> implements Scan<unknown> {
  keys(): Rows<string> {
    return new MergedRows(this.sources, this.options, 1, (key) => key);
  }

  values(): Rows<unknown> {
    return new MergedRows(this.sources, this.options, 2, (_, value) => value);
  }
}

/** Scans the rows that `sources` returns when reading begins; `sources` throws when the transaction has ended. */
export function mergedScan(sources: () => Sources, options: ScanOptions): Scan<unknown> {
  return new MergedScan(sources, options, 2, (key, value) => [key, value]);
}
