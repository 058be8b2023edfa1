import * as Status from '../base/abi/status.js';
import { until } from '../base/abort-signal.js';
import { isMissing } from '../base/errors.js';
import { checkKey, checkKeys } from '../base/key.js';
import type { EncodedRange, KeyRange } from '../base/range.js';
import * as reads from '../core/calls/read-calls.js';
import type { Engine, Op } from '../core/engine.js';
import type { EntryPosition, SecondaryKey } from '../core/indexes/index-range.js';
import { isOfIndex } from '../core/indexes/index-set.js';
import type { Head } from '../engine/history/branch-head.js';
import type { ReadContext } from '../engine/read/context.js';
import { type CountOptions, type CountPlan, checkedCount } from '../engine/read/count-options.js';
import { foundOf, KeyParts } from '../engine/read/key-batches.js';
import {
  atOf,
  checkedAt,
  checkedRank,
  type IndexOrderOptions,
  type OrderOptions,
  oneOf,
} from '../engine/read/rank-options.js';
import { type IndexScan, type Scan, scanOf } from '../engine/read/scan.js';
import type { IndexScanOptions, ScanOptions } from '../engine/read/scan-options.js';
import { holdWith, ownEdits } from '../engine/read/wait-for-index.js';
import { SumTree } from '../engine/sums/sum-tree.js';
import { readParts } from './on-demand-code.js';

/** Most loads of a get before it becomes a search, which keeps the nodes that it has found. */
const MOST_LOADS = 4;

/** Reads of rows, from wherever the reader stands: at a head that moves, or at one commit. */
export class Reader {
  protected readonly from: ReadContext;

  /** Reads from where `from` stands at the time of a call. */
  constructor(from: ReadContext) {
    this.from = from;
  }

  /** Keeps Vue from making a proxy, through which the private members of a class cannot be read. */
  protected __v_skip(): void {}

  /** Returns the value of a key, or `undefined`. Every call makes a new value. */
  get<Value = unknown>(key: string): Promise<Value | undefined> {
    const own = this.from.pending?.of(key);
    return own === undefined ? this.#get<Value>(key) : own.then(() => this.#get<Value>(key));
  }

  /** Gets a value in memory. It loads the nodes on the way up to `loads` times, and then leaves them to a search. */
  #get<Value>(key: string, loads = MOST_LOADS): Promise<Value | undefined> {
    const from = this.from;
    try {
      from.check();
      checkKey(key);
      if (!from.isReady) return from.ready().then(() => this.#get<Value>(key));
      const { host, view } = from.head;
      const { engine } = host;
      const status = reads.get(engine, view, key);
      if (status === Status.done)
        return Promise.resolve(reads.readFoundValue(engine) as Value | undefined);
      if (status === Status.need && loads > 0) {
        const loading = host.load(engine.readNeededParts());
        return loading.then(() => this.#get<Value>(key, loads - 1));
      }
    } catch (cause) {
      return Promise.reject(cause);
    }
    return this.#find([key]).then(([value]) => value as Value | undefined);
  }

  /**
   * Returns the values of keys, in their order, all of one commit; `undefined` for a missing key. Many are read in
   * slices. An array may be changed after the call; another iterable is iterated as the reading goes.
   */
  async getMany<Value = unknown>(keys: Iterable<string>): Promise<(Value | undefined)[]> {
    const from = this.from;
    from.check();
    const parts = new KeyParts(checkKeys('getMany', keys));
    let few: Set<string> | undefined;
    const isAmong = (key: string) => {
      few ??= new Set(parts.part);
      return !parts.isLast || few.has(key);
    };
    await from.pending?.ofAll(isAmong);
    if (parts.isLast) return this.#find(parts.part) as Promise<Value[]>;
    const held = await from.holdToRead();
    try {
      const { findMany } = await readParts();
      const found = findMany(held.head.host, held.head.view, parts, () => from.check());
      return (await found) as Value[];
    } finally {
      held.release();
    }
  }

  /** Looks up a few keys. */
  #find(keys: readonly string[]): Promise<unknown[]> {
    const start = ({ host, view }: Head) => reads.find(host.engine, view, keys);
    return this.#read(start, (engine) => foundOf(engine, keys.length));
  }

  /** Returns whether there is a row with this key. */
  async has(key: string): Promise<boolean> {
    checkKey(key);
    return (await this.#count(() => ({ range: { gte: key, lte: key } }))) > 0;
  }

  /** Counts the rows in a range, all by default; of an index, its entries. Costs two nodes for each level. */
  count(range: CountOptions = {}): Promise<number> {
    return this.#count(() => checkedCount('count', range));
  }

  /**
   * Returns the row with a number, from 0, in the order of the keys of a range, all by default; of an index, the entry
   * with that number. Returns `undefined` if there are no more rows. Costs two paths of the tree, however large the
   * number is.
   */
  at<Value = unknown>(
    n: number,
    options: IndexOrderOptions,
  ): Promise<[key: string, value: Value, secondary: SecondaryKey] | undefined>;
  at<Value = unknown>(
    n: number,
    options?: OrderOptions,
  ): Promise<[key: string, value: Value] | undefined>;
  at(n: number, options: OrderOptions | IndexOrderOptions = {}): Promise<never> {
    const plan = () => checkedAt('at', n, options);
    return this.#inRange(plan, atOf, oneOf) as Promise<never>;
  }

  /**
   * Counts the rows of a range, all by default, that come before a key, whether or not it has a row; of an index, the
   * entries before a position. Costs two nodes for each level.
   */
  rank(position: EntryPosition, options: IndexOrderOptions): Promise<number>;
  rank(key: string, options?: OrderOptions): Promise<number>;
  rank(
    at: string | EntryPosition,
    options: OrderOptions | IndexOrderOptions = {},
  ): Promise<number> {
    return this.#count(() => checkedRank('rank', at, options));
  }

  #count(planned: () => CountPlan): Promise<number> {
    return this.#inRange(planned, reads.startCount, reads.readCountReply);
  }

  /** Runs a short read of a range of rows or of an index. */
  async #inRange<Plan extends CountPlan, T>(
    planned: () => Plan,
    begin: (engine: Engine, view: number, encoded: EncodedRange, plan: Plan) => Op,
    answerOf: (engine: Engine) => T,
  ): Promise<T> {
    const from = this.from;
    from.check();
    const plan = planned();
    const { range, cut, wait, signal } = plan;
    const encoded = from.host.indexes.encode(range, cut);
    const own = ownEdits(from, range);
    if (own) await own;
    const start = ({ host, view }: Head) => begin(host.engine, view, encoded, plan);
    if (!isOfIndex(range)) return until(this.#read(start, answerOf), signal);
    const { head, release } = await holdWith(from, range, { wait, signal });
    const answer = () => answerOf(head.host.engine);
    const reading = async () => head.host.read(start(head), answer);
    return until(reading().finally(release), signal);
  }

  /** Reads from a head that it does not hold; if it was collected, reads again from another one. */
  async #read<T>(start: (head: Head) => Op, answerOf: (engine: Engine) => T): Promise<T> {
    const from = this.from;
    for (;;) {
      if (!from.isReady) await from.ready();
      const { head } = from;
      const { host } = head;
      try {
        return await host.read(start(head), () => answerOf(host.engine));
      } catch (cause) {
        if (!isMissing(cause) || !(await from.moveOn(head))) throw cause;
      }
    }
  }

  /**
   * Reads the rows of a range in the order of their keys, as they are when the reading begins. With `index`, reads the
   * rows of a range of the index, in its order, each with its secondary key: a row with an array comes once for each of
   * its members. It then waits until the index is built; if `wait` is false, it fails with `not-ready` instead.
   */
  scan<Value = unknown>(options: IndexScanOptions): IndexScan<Value>;
  scan<Value = unknown>(options?: ScanOptions): Scan<Value>;
  scan(options: ScanOptions | IndexScanOptions = {}): Scan<unknown> | IndexScan<unknown> {
    return scanOf(() => this.from.check(), this.from, options);
  }

  /**
   * Makes a proof for `verifyProof`: of the value of a key, or that it has no value; of all rows of a range, and that
   * there are no others. It holds for the root that is read at the time of the call. Reads and takes the nodes on the
   * way, about 5 KB for each level of the tree, and of a range all leaves and large values in it, up to 128 MiB.
   */
  async prove(keyOrRange: string | KeyRange): Promise<Uint8Array> {
    this.from.check();
    const held = await this.from.holdHead();
    try {
      const { prove } = await readParts();
      return await prove(this.from.host, held.head, keyOrRange);
    } finally {
      held.release();
    }
  }

  /** Returns the sum tree of a name, which need not have leaves yet. */
  sumTree(name: string): SumTree {
    this.from.check();
    return new SumTree(this.from, name);
  }
}
