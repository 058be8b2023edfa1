/** Reads ranges. The core returns each block as one output, which becomes rows. */

import * as ReadFlag from '../../base/abi/read-flag.js';
import * as Status from '../../base/abi/status.js';
import { checkSignal, untilEnded } from '../../base/abort-signal.js';
import type { Exactly } from '../../base/exhaustive-members-type.js';
import { iterateUntilDropped } from '../../base/finalization-registry.js';
import { turn } from '../../base/slice-queue.js';
import * as reads from '../../core/calls/read-calls.js';
import type { Op } from '../../core/engine.js';
import type { SecondaryKey } from '../../core/indexes/index-range.js';
import { isOfIndex } from '../../core/indexes/index-set.js';
import type { Host, Runner } from '../../core/operation-host.js';
import { fail } from '../../core/status-errors.js';
import {
  checkedScan,
  type IndexScanOptions,
  type ScanOptions,
  type StoredScan,
  UNLIMITED,
} from './scan-options.js';
import { type Holder, holdWith, ownEdits } from './wait-for-index.js';

/** A stream of rows that is read while it is iterated. */
export interface Rows<T> extends AsyncIterable<T> {
  /** Reads all rows into an array. */
  toArray(): Promise<T[]>;
  /** Returns the first row, or `undefined` without rows. A scan reads no other row, as with `limit: 1`. */
  first(): Promise<T | undefined>;
}

/** The result of `scan`: entries, or only their keys or values. */
export interface Scan<Value> extends Rows<[key: string, value: Value]> {
  /** Only the keys: values are not read. */
  keys(): Rows<string>;
  /** Only the values. */
  values(): Rows<Value>;
}

/** The result of `scan` of an index: entries with their secondary keys, or only parts of them. */
export interface IndexScan<Value>
  extends Rows<[key: string, value: Value, secondary: SecondaryKey]> {
  /** Only the keys: the rows are not read. */
  keys(): Rows<string>;
  /** Only the values. */
  values(): Rows<Value>;
}

/** Bytes of the first block: enough for a screen, and fast. */
const FIRST_BLOCK = 32 << 10;
const LARGEST_BLOCK = 4 << 20;

/** An operation with an output, and its clean-up. */
export interface OutputOperation {
  readonly op: Op;
  /** The part of the core that runs the operation; by default the first part. */
  readonly runner?: Runner;
  end?(): void;
}

/** An operation, and the host that runs it. */
interface HostedOperation extends OutputOperation {
  readonly host: Host;
}

/** Yields the output of an operation, block by block. */
export function blocks(
  host: Host,
  start: () => OutputOperation | Promise<OutputOperation>,
  signal: AbortSignal | undefined,
): AsyncIterableIterator<unknown[], void> {
  const startInHost = async () => {
    if (!host.engine.isReady) await host.recover();
    return { host, ...(await start()) };
  };
  return iterateUntilDropped((state) => read(startInHost, signal, state));
}

/** As `blocks`, for callers that end it themselves. Sets `isOver` once it holds no resources any more. */
function read(
  start: () => Promise<HostedOperation>,
  signal: AbortSignal | undefined,
  state?: { isOver?: boolean },
): AsyncGenerator<unknown[], void, void> {
  const reading = steps(start, signal, state);
  return signal === undefined ? reading : untilEnded(reading, signal);
}

async function* steps(
  start: () => Promise<HostedOperation>,
  signal: AbortSignal | undefined,
  state: { isOver?: boolean } = {},
): AsyncGenerator<unknown[], void, void> {
  checkSignal(signal);
  const { host, op, end, ...started } = await start();
  const { engine, sliceMs } = host;
  const { runner = engine } = started;
  const release = () => {
    if (state.isOver) return;
    state.isOver = true;
    runner.free(op);
    end?.();
  };
  try {
    let budget = FIRST_BLOCK;
    for (;;) {
      const startMs = performance.now();
      const status = runner.step(op, budget);
      if (status === Status.need) {
        await host.load(engine.readNeededParts());
      } else if (status === Status.done || status === Status.yield) {
        engine.noteSuccess();
        const members = reads.output(engine);
        const ms = performance.now() - startMs;
        const growth = Math.min(4, Math.max(0.25, (0.7 * sliceMs) / Math.max(ms, 0.05)));
        budget = Math.min(LARGEST_BLOCK, Math.max(FIRST_BLOCK, budget * growth));
        if (status === Status.yield) host.prefetch(runner.ahead(op));
        // Release now: a caller that has the last rows may never ask for more.
        else release();
        if (members.length > 0) yield members;
        if (status === Status.done) return;
        await turn();
      } else {
        fail(engine, status);
      }
      checkSignal(signal);
    }
  } finally {
    release();
  }
}

/** Starts a scan of a view. */
export function startScan(
  { engine, indexes }: Host,
  view: number,
  {
    range,
    cut,
    reverse,
    offset,
    limit,
    parts,
  }: Exactly<StoredScan, 'range' | 'cut' | 'reverse' | 'offset' | 'limit' | 'parts'>,
): Op {
  const encoded = indexes.encode(range, cut);
  return reads.scan(engine, view, { range: encoded, parts, reverse, offset, limit });
}

/** Makes `Rows` of a function that begins to read. */
export function makeRows<T>(iterate: () => AsyncGenerator<T, void, void>): Rows<T> {
  return {
    [Symbol.asyncIterator]: iterate,
    async toArray() {
      const all: T[] = [];
      for await (const row of iterate()) all.push(row);
      return all;
    },
    first: () => firstOf(iterate()),
  };
}

/** Returns the first row and ends the read. */
export async function firstOf<T>(rows: AsyncIterable<T>): Promise<T | undefined> {
  for await (const row of rows) return row;
  return undefined;
}

/** Yields the rows of the iterable that `load` resolves to. */
export async function* yieldLoaded<T>(
  load: () => Promise<AsyncIterable<T>>,
): AsyncGenerator<T, void, void> {
  yield* await load();
}

/** The conversion of the members of a block to rows. */
interface Shape<T> {
  readonly parts: number;
  readonly width: number;
  at(members: unknown[], index: number): T;
}

const ENTRIES: Shape<[string, unknown]> = {
  parts: ReadFlag.keys | ReadFlag.values,
  width: 2,
  at: (members, index) => [members[index] as string, members[index + 1]],
};

function single<T>(parts: number): Shape<T> {
  return { parts, width: 1, at: (members, index) => members[index] as T };
}

/** Reads blocks with the wanted parts of rows, `most` rows in all. */
type Source = (
  parts: number,
  state?: { isOver?: boolean },
  most?: number,
) => ReturnType<typeof read>;

class BlockRows<T> implements Rows<T> {
  protected readonly source: Source;
  readonly #shape: Shape<T>;

  constructor(source: Source, shape: Shape<T>) {
    this.source = source;
    this.#shape = shape;
  }

  async toArray(): Promise<T[]> {
    const { parts, width, at } = this.#shape;
    const blocks: T[][] = [];
    for await (const members of this.source(parts)) {
      if (width === 1) blocks.push(members as T[]);
      else {
        // Make the rows in the slice that has read them.
        const rows = new Array<T>(members.length / width);
        for (let index = 0; index < rows.length; index++) rows[index] = at(members, index * width);
        blocks.push(rows);
      }
    }
    // Join at once: growing an array row by row would copy it again and again.
    return blocks.length === 1 ? (blocks[0] as T[]) : ([] as T[]).concat(...blocks);
  }

  async first(): Promise<T | undefined> {
    const { parts, at } = this.#shape;
    const members = await firstOf(this.source(parts, undefined, 1));
    return members && at(members, 0);
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<T, void> {
    const { parts, width, at } = this.#shape;
    const source = iterateUntilDropped((state) => this.source(parts, state));
    let members: unknown[] = [];
    let index = 0;
    // Runs calls one after the other when one is made before the last has settled.
    let tail: Promise<unknown> = Promise.resolve();
    let waiting = 0;
    const take = (): IteratorResult<T, void> => {
      const value = at(members, index);
      index += width;
      return { done: false, value };
    };
    const noteAnswer = () => {
      waiting -= 1;
    };
    const next = async (): Promise<IteratorResult<T, void>> => {
      if (index < members.length) return take();
      const block = await source.next();
      if (block.done === true) return { done: true, value: undefined };
      members = block.value;
      index = 0;
      return take();
    };
    const iterator: AsyncIterableIterator<T, void> = {
      next: () => {
        if (waiting === 0 && index < members.length) return Promise.resolve(take());
        const result = waiting === 0 ? next() : tail.then(next);
        waiting += 1;
        tail = result.then(noteAnswer, noteAnswer);
        return result;
      },
      return: async () => {
        members = [];
        await source.return?.();
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }
}

const INDEXED: Shape<[string, unknown, SecondaryKey]> = {
  parts: ENTRIES.parts | ReadFlag.secondary,
  width: 3,
  at: (members, index) => members.slice(index, index + 3) as [string, unknown, SecondaryKey],
};

class EntryRows<T> extends BlockRows<T> {
  keys(): Rows<string> {
    return new BlockRows(this.source, single<string>(ReadFlag.keys));
  }

  values(): Rows<unknown> {
    return new BlockRows(this.source, single<unknown>(ReadFlag.values));
  }
}

/** Scans the head at the moment when the caller begins to read. */
export function scanOf(
  check: () => void,
  from: Holder,
  options: ScanOptions | IndexScanOptions,
): Scan<unknown> | IndexScan<unknown> {
  const source: Source = (parts, state, most = UNLIMITED) => {
    const { signal, wait, ...plan } = checkedScan('scan', options);
    const limit = Math.min(plan.limit, most);
    const start = async () => {
      const own = ownEdits(from, plan.range);
      if (own) await own;
      const { head, release } = await holdWith(from, plan.range, { wait, signal });
      try {
        const { host, view } = head;
        return { host, op: startScan(host, view, { ...plan, limit, parts }), end: release };
      } catch (cause) {
        release();
        throw cause;
      }
    };
    check();
    return read(start, signal, state);
  };
  return isOfIndex(options) ? new EntryRows(source, INDEXED) : new EntryRows(source, ENTRIES);
}
