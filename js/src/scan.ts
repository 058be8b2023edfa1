/** Reads ranges: blocks come from the core as one JSON text each, and are handed out in rows. */
import { type Op, Status } from './engine.js';
import { HedgerowError } from './errors.js';
import type { Host, Runner } from './host.js';
import { isOfIndex } from './indexes/index-set.js';
import { type Holder, holdWith, type WaitOptions } from './indexes/ready.js';
import type { IndexRange, SecondaryKey } from './indexes/secondary.js';
import { type KeyRange, ScanFlag } from './range.js';
import { turn } from './scheduler.js';
import { checkSignal, untilEnded } from './signal.js';

/** How a scan goes. */
export interface ScanControl {
  /** Descending order. */
  readonly reverse?: boolean | undefined;
  /** At most so many. */
  readonly limit?: number | undefined;
  /** Ends the scan with `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/** Which rows a scan yields. */
export interface ScanOptions extends KeyRange, ScanControl {}

/** Which rows a scan of an index yields. */
export interface IndexScanOptions extends IndexRange, ScanControl, WaitOptions {}

/** A stream of rows, read when it is iterated. */
export interface Rows<T> extends AsyncIterable<T> {
  /** All of them. */
  toArray(): Promise<T[]>;
}

/** What `scan` returns: entries, or only their keys or values. */
export interface Scan<Value> extends Rows<[key: string, value: Value]> {
  /** Only the keys: values are not read. */
  keys(): Rows<string>;
  /** Only the values. */
  values(): Rows<Value>;
}

/** What `scan` returns of an index: entries with their secondary keys, or only parts of them. */
export interface IndexScan<Value>
  extends Rows<[key: string, value: Value, secondary: SecondaryKey]> {
  /** Only the keys of rows: these are not read. */
  keys(): Rows<string>;
  /** Only the values. */
  values(): Rows<Value>;
}

/** Bytes of the first block: a screenful comes at once. */
const FIRST_BLOCK = 32 << 10;
const LARGEST_BLOCK = 4 << 20;

/** An operation that has an output, and what to do when it has ended. */
export interface Started {
  readonly op: Op;
  /** The part of the core that has it, if not the first one. */
  readonly runner?: Runner;
  end?(): void;
}

/** Reads the members of an output, block by block. */
export function blocks(
  host: Host,
  start: () => Started | Promise<Started>,
  signal: AbortSignal | undefined,
): AsyncGenerator<unknown[], void, void> {
  const read = blocksOf(host, start, signal);
  return signal === undefined ? read : untilEnded(read, signal);
}

async function* blocksOf(
  host: Host,
  start: () => Started | Promise<Started>,
  signal: AbortSignal | undefined,
): AsyncGenerator<unknown[], void, void> {
  const { engine, sliceMs } = host;
  checkSignal(signal);
  if (!engine.isReady) await host.recover();
  const { op, end, runner = engine } = await start();
  try {
    let budget = FIRST_BLOCK;
    for (;;) {
      const startMs = performance.now();
      const status = runner.step(op, budget);
      if (status === Status.need) {
        await host.load(engine.needed());
      } else if (status === Status.done || status === Status.yield) {
        engine.succeeded();
        const members = engine.output();
        const ms = performance.now() - startMs;
        const growth = Math.min(4, Math.max(0.25, (0.7 * sliceMs) / Math.max(ms, 0.05)));
        budget = Math.min(LARGEST_BLOCK, Math.max(FIRST_BLOCK, budget * growth));
        if (status === Status.yield) host.prefetch(runner.ahead(op));
        if (members.length > 0) yield members;
        if (status === Status.done) return;
        await turn();
      } else {
        engine.fail(status);
      }
      checkSignal(signal);
    }
  } finally {
    runner.free(op);
    end?.();
  }
}

/** Starts a scan of a view. */
export function startScan(
  { engine, indexes }: Host,
  view: number,
  options: ScanOptions | IndexScanOptions,
  parts: number,
): Op {
  const { reverse = false, limit = Number.MAX_SAFE_INTEGER } = options;
  if (!(limit >= 0)) throw new HedgerowError('invalid-argument', 'limit is not below 0');
  const { flags, rangeBytes } = indexes.encode(options);
  const allFlags = flags | parts | (reverse ? ScanFlag.reverse : 0);
  return engine.scan(view, allFlags, rangeBytes, limit);
}

/** How rows are taken from the members of a block. */
interface Shape<T> {
  readonly parts: number;
  readonly width: number;
  at(members: unknown[], index: number): T;
}

const ENTRIES: Shape<[string, unknown]> = {
  parts: ScanFlag.keys | ScanFlag.values,
  width: 2,
  at: (members, index) => [members[index] as string, members[index + 1]],
};

function single<T>(parts: number): Shape<T> {
  return { parts, width: 1, at: (members, index) => members[index] as T };
}

const EMPTY: unknown[] = [];

class BlockRows<T> implements Rows<T> {
  protected readonly source: (parts: number) => AsyncGenerator<unknown[], void, void>;
  readonly #shape: Shape<T>;

  constructor(source: (parts: number) => AsyncGenerator<unknown[], void, void>, shape: Shape<T>) {
    this.source = source;
    this.#shape = shape;
  }

  async toArray(): Promise<T[]> {
    const { parts, width, at } = this.#shape;
    const blocks: unknown[][] = [];
    for await (const members of this.source(parts)) blocks.push(members);
    // In one piece: an array that grows row by row is copied again and again.
    const members = blocks.length === 1 ? (blocks[0] as unknown[]) : EMPTY.concat(...blocks);
    if (width === 1) return members as T[];
    const all = new Array<T>(members.length / width);
    for (let index = 0; index < all.length; index++) all[index] = at(members, index * width);
    return all;
  }

  [Symbol.asyncIterator](): AsyncIterator<T, void> {
    const { parts, width, at } = this.#shape;
    const source = this.source(parts);
    let members: unknown[] = [];
    let index = 0;
    // Calls that did not wait for the one before wait here.
    let tail: Promise<unknown> = Promise.resolve();
    let waiting = 0;
    const take = (): IteratorResult<T, void> => {
      const value = at(members, index);
      index += width;
      return { done: false, value };
    };
    const next = async (): Promise<IteratorResult<T, void>> => {
      if (index < members.length) return take();
      const block = await source.next();
      if (block.done === true) return { done: true, value: undefined };
      members = block.value;
      index = 0;
      return take();
    };
    return {
      next: () => {
        if (waiting === 0 && index < members.length) return Promise.resolve(take());
        waiting += 1;
        const result = tail.then(next).finally(() => {
          waiting -= 1;
        });
        tail = result.catch(() => {});
        return result;
      },
      return: async () => {
        members = [];
        await source.return();
        return { done: true, value: undefined };
      },
    };
  }
}

const INDEXED: Shape<[string, unknown, SecondaryKey]> = {
  parts: ENTRIES.parts | ScanFlag.secondary,
  width: 3,
  at: (members, index) => members.slice(index, index + 3) as [string, unknown, SecondaryKey],
};

class EntryRows<T> extends BlockRows<T> {
  keys(): Rows<string> {
    return new BlockRows(this.source, single<string>(ScanFlag.keys));
  }

  values(): Rows<unknown> {
    return new BlockRows(this.source, single<unknown>(ScanFlag.values));
  }
}

/** A scan of the head as it is when it begins to be read. */
export function scanOf(
  host: () => Host,
  from: Holder,
  options: ScanOptions | IndexScanOptions,
): Scan<unknown> | IndexScan<unknown> {
  const source = (parts: number) => {
    const start = async () => {
      const index = isOfIndex(options) ? options.index : undefined;
      const { head, release } = await holdWith(from, index, options);
      try {
        return { op: startScan(from.host, head.view, options, parts), end: release };
      } catch (cause) {
        release();
        throw cause;
      }
    };
    return blocks(host(), start, options.signal);
  };
  return isOfIndex(options) ? new EntryRows(source, INDEXED) : new EntryRows(source, ENTRIES);
}
