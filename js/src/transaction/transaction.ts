/** What the function of a transaction is given: reads of one commit, and edits of its own. */
import type { Commits } from '../commit.js';
import { Status } from '../engine.js';
import { HedgerowError } from '../errors.js';
import type { Host } from '../host.js';
import { checkKey } from '../key.js';
import { encodeRange, type KeyRange } from '../range.js';
import type { Scan, ScanOptions } from '../scan.js';
import type { Base } from './base.js';
import { OwnEdits, readBack } from './edits.js';
import { countOthers, Reads } from './reads.js';
import { mergedScan, type Sources } from './scan.js';

/** One run of a transaction: what it reads from, and what it has read and edited. */
export class Run implements Sources {
  readonly host: Host;
  readonly base: Base;
  readonly edits: OwnEdits;
  readonly reads = new Reads();
  #ended = false;

  constructor(host: Host, commits: Commits, base: Base) {
    this.host = host;
    this.base = base;
    this.edits = new OwnEdits(commits);
  }

  /** The function has ended: it reads and edits no more. */
  end(): void {
    this.#ended = true;
  }

  /** Throws `closed` when the function has ended. */
  check(): void {
    if (this.#ended) throw new HedgerowError('closed', 'the transaction has ended');
  }

  get view(): number {
    this.check();
    return this.base.view;
  }
}

/**
 * What a transaction's function reads and writes by. Reads see the commit at which the
 * transaction began, with its own edits so far. When the function has ended, all calls are
 * refused with `closed`.
 */
export class Transaction {
  readonly #run: Run;

  /** Made by `db.transaction`. */
  constructor(run: Run) {
    this.#run = run;
  }

  /** The value of a key, or `undefined`. Every call makes a new value. */
  async get<Value = unknown>(key: string): Promise<Value | undefined> {
    const { view, edits, reads, host } = this.#run;
    checkKey(key);
    const own = edits.get(key);
    if (own !== undefined) return readBack(own) as Value | undefined;
    reads.value(key);
    const { engine } = host;
    const status = engine.get(view, key);
    if (status === Status.done) return engine.found() as Value | undefined;
    if (status >= Status.row) engine.fail(status);
    const [value] = await this.#stored([key]);
    return value as Value | undefined;
  }

  /** The values of keys, in their order; `undefined` for a key that is absent. */
  async getMany<Value = unknown>(keys: Iterable<string>): Promise<(Value | undefined)[]> {
    const { edits, reads } = this.#run;
    this.#run.check();
    const wanted = [...keys];
    for (const [row, key] of wanted.entries()) checkKey(key, row);
    const own = wanted.map((key) => edits.get(key));
    const others = wanted.filter((_, at) => own[at] === undefined);
    for (const key of others) reads.value(key);
    const stored = others.length > 0 ? await this.#stored(others) : [];
    let next = 0;
    return own.map((edit) => (edit === undefined ? stored[next++] : readBack(edit)) as Value);
  }

  #stored(keys: readonly string[]): Promise<unknown[]> {
    const { view, host } = this.#run;
    const { engine } = host;
    return host.read(engine.find(view, keys), () => {
      const values = new Array<unknown>(keys.length).fill(undefined);
      const { members } = engine.output();
      for (const [index, position] of engine.positions().entries()) {
        values[position] = members[index];
      }
      return values;
    });
  }

  /** Whether there is a row with this key. */
  async has(key: string): Promise<boolean> {
    this.#run.check();
    checkKey(key);
    return (await this.count({ gte: key, lte: key })) > 0;
  }

  /**
   * The number of rows in a range, all by default. Costs two nodes for each level, and as much
   * for each key of the range that the transaction has edited.
   */
  async count(range: KeyRange = {}): Promise<number> {
    const { view, edits, reads, host } = this.#run;
    const { prefix, gt, gte, lt, lte } = range;
    const wanted = { prefix, gt, gte, lt, lte };
    encodeRange(wanted);
    const own = edits.in(wanted);
    const keys = own.map(({ key }) => key);
    const others = await countOthers(host, view, wanted, keys);
    this.#run.check();
    reads.count({ range: wanted, own: keys, others });
    return others + own.filter(({ value }) => value !== undefined).length;
  }

  /** The rows of a range in the order of their keys, as they are when the reading begins. */
  scan<Value = unknown>(options: ScanOptions = {}): Scan<Value> {
    this.#run.check();
    const sources = () => {
      this.#run.check();
      return this.#run;
    };
    return mergedScan(sources, options) as Scan<Value>;
  }

  /**
   * Puts one row when the transaction commits. The value is taken as it is now, and checked:
   * throws `invalid-key` or `invalid-value`.
   */
  put(key: string, value: unknown): void {
    this.#run.check();
    this.#run.edits.put(key, value);
  }

  /** Deletes one row when the transaction commits; does nothing when there is none. */
  delete(key: string): void {
    this.#run.check();
    this.#run.edits.delete(key);
  }
}
