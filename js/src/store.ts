/** What a user holds: an open store. */
import type { ByteSource } from './bytes.js';
import { Commits } from './commit.js';
import { type Change, type DiffOptions, diffOf } from './diff.js';
import { Engine, hex, Status } from './engine.js';
import { HedgerowError } from './errors.js';
import { Host } from './host.js';
import type { IngestResult } from './ingest.js';
import { checkKey } from './key.js';
import { Lane } from './lane.js';
import { deleteRange, type PutManyOptions, putMany } from './put-many.js';
import { encodeRange, type KeyRange } from './range.js';
import { type Rows, type Scan, type ScanOptions, scanOf } from './scan.js';
import type { Durability, SegmentStore, Storage } from './segment-store.js';
import { idb } from './segment-stores/idb.js';
import { checkSignal } from './signal.js';
import { SingleEdits } from './single-edits.js';
import type { Source } from './source.js';
import { Tabs } from './tabs.js';
import { type TransactionOptions, Transactions } from './transaction/run.js';
import type { Transaction } from './transaction/transaction.js';
import { Flusher, Writer, type WriterOptions } from './writer.js';

/** How a store is opened. */
export interface OpenOptions {
  /** Where it is kept; `idb()` by default. */
  readonly storage?: Storage | undefined;
  /** When a write counts as done; `'relaxed'` by default. */
  readonly durability?: Durability | undefined;
  /** Milliseconds that a slice of work may hold the thread; 8 by default. */
  readonly sliceMs?: number | undefined;
  /** Bytes of stored segments kept in memory; 64 MiB by default, at least 24 MiB. */
  readonly cacheBytes?: number | undefined;
}

/** One level of a tree. */
export interface LevelStats {
  /** 0 for leaves. */
  readonly level: number;
  readonly nodes: number;
  readonly bytes: number;
  /** The smallest node. */
  readonly minBytes: number;
  /** The largest node. */
  readonly maxBytes: number;
}

/** What a store holds. */
export interface Stats {
  readonly root: string;
  readonly rows: number;
  /** From the top. */
  readonly levels: readonly LevelStats[];
  /** Stored segments and chunks, those included that no commit reaches any more. */
  readonly segments: number;
  readonly chunks: number;
  readonly storedBytes: number;
  /** Bytes of segments in memory, and all linear memory. */
  readonly cachedBytes: number;
  readonly memoryBytes: number;
}

const CENSUS_WORDS = 4;

/** An open store. Made by `open`. */
export class Store {
  /** The name that it was opened under. */
  readonly name: string;
  readonly #host: Host;
  readonly #commits: Commits;
  readonly #edits: SingleEdits;
  readonly #transactions: Transactions;
  readonly #durability: Durability;
  readonly #bulks = new Set<Promise<void>>();
  readonly #flushers = new Set<Flusher>();
  readonly #tabs: Tabs | undefined;
  #closing: Promise<void> | undefined;

  private constructor(
    name: string,
    host: Host,
    commits: Commits,
    durability: Durability,
    tabs: Tabs | undefined,
  ) {
    this.name = name;
    this.#tabs = tabs;
    this.#host = host;
    this.#commits = commits;
    this.#durability = durability;
    this.#edits = new SingleEdits(host, commits, durability);
    this.#transactions = new Transactions(host, commits);
  }

  /** Opens a store; see the function `open`. */
  static async open(name: string, options: OpenOptions = {}): Promise<Store> {
    const { storage = idb(), durability = 'relaxed', sliceMs = 8, cacheBytes = 64 << 20 } = options;
    if (typeof name !== 'string') {
      throw new HedgerowError('invalid-argument', 'the name of a store is a string');
    }
    if (!(sliceMs > 0 && Number.isFinite(sliceMs))) {
      throw new HedgerowError('invalid-argument', 'sliceMs is above 0 and finite');
    }
    if (!(cacheBytes >= 0 && cacheBytes < 2 ** 31)) {
      throw new HedgerowError('invalid-argument', 'cacheBytes is below 2 GiB');
    }
    const [engine, segments] = await both(Engine.create(cacheBytes), storage.open(name));
    const host = new Host(engine, segments, sliceMs);
    let tabs: Tabs | undefined;
    const isShared = storage.isShared === true;
    const lane = new Lane(isShared ? `hedgerow/${name}/lane` : undefined, () =>
      tabs?.announceRace(),
    );
    const commits = new Commits(host, (generation) => tabs?.announce(generation), lane);
    // Before the first look, so that nothing is missed in between.
    if (isShared) {
      tabs = new Tabs(
        name,
        (news) => commits.follow(news),
        () => lane.note(),
      );
    }
    try {
      await commits.refresh();
    } catch (cause) {
      tabs?.close();
      await segments.close();
      throw cause;
    }
    return new Store(name, host, commits, durability, tabs);
  }

  /** The hash of all that the store holds, in hexadecimal. */
  get root(): string {
    return hex(this.#commits.head.commitBytes);
  }

  #check(): void {
    if (this.#closing !== undefined)
      throw new HedgerowError('closed', `the store ${this.name} is closed`);
  }

  /**
   * Puts many rows in one commit: all of them are seen, or none. Keys may come in any order;
   * of equal keys the last wins. Ascending keys into an empty store are fastest, and take
   * bounded memory. Other writes go on meanwhile; the commit comes when the rows end, on top
   * of theirs.
   *
   * Rows come from an iterable or async iterable, or as bytes, NDJSON or one JSON array of
   * them, which is the faster way: from a `Response`, a `Blob`, a stream, or an iterable of
   * parts. A malformed row of bytes is `invalid-row`, with its number and offset.
   */
  async putMany<Row>(
    source: Source<Row> | ByteSource,
    options: PutManyOptions<Row> = {},
  ): Promise<IngestResult> {
    this.#check();
    checkSignal(options.signal);
    const durability = options.durability ?? this.#durability;
    return this.#bulk(putMany(this.#host, this.#commits, source, { ...options, durability }));
  }

  /**
   * Deletes many rows in one commit: those with the keys of an iterable, or all of a range.
   * A range is dropped unread, at the cost of its two ends; the result then tells how many
   * rows there were.
   */
  async deleteMany(
    keysOrRange: Source<string> | KeyRange,
    options: Pick<PutManyOptions<string>, 'signal' | 'durability'> = {},
  ): Promise<IngestResult> {
    this.#check();
    checkSignal(options.signal);
    if (typeof keysOrRange !== 'object' || keysOrRange === null) {
      throw new HedgerowError('invalid-argument', 'deleteMany takes keys or a range');
    }
    const durability = options.durability ?? this.#durability;
    const isRange = !(Symbol.iterator in keysOrRange || Symbol.asyncIterator in keysOrRange);
    if (isRange) {
      return this.#bulk(
        deleteRange(this.#host, this.#commits, keysOrRange as KeyRange, durability),
      );
    }
    const job = { ...options, durability, deletes: true };
    const keys = keysOrRange as Source<string>;
    return this.#bulk(putMany(this.#host, this.#commits, keys, job));
  }

  /**
   * Runs `body` and commits what it has put and deleted, all of it or, when it throws, nothing.
   * `body` reads the store as it was when the transaction began, with its own edits so far. When
   * something that it has read was changed before its commit, it is run again from anew: so it
   * is as if transactions came one after the other, in all tabs. Without edits it commits
   * nothing.
   *
   * Resolves to what `body` returned. Rejects with what it threw, and with `conflict` when it was
   * overtaken again and again.
   */
  async transaction<T>(
    body: (tx: Transaction) => T | PromiseLike<T>,
    { durability = this.#durability, signal }: TransactionOptions = {},
  ): Promise<T> {
    this.#check();
    if (typeof body !== 'function') {
      throw new HedgerowError('invalid-argument', 'a transaction is a function');
    }
    return this.#bulk(this.#transactions.run(body, { durability, signal }));
  }

  /** Keeps account of a change of several steps, which `close` waits for. */
  #bulk<T>(change: Promise<T>): Promise<T> {
    const ended = change.then(
      () => {},
      () => {},
    );
    this.#bulks.add(ended);
    void ended.then(() => this.#bulks.delete(ended));
    return change;
  }

  /** Deletes all rows. */
  async clear(): Promise<void> {
    await this.deleteMany({});
  }

  /**
   * A writer that takes rows one by one without a promise for each:
   * `if (!writer.tryPut(key, value)) await writer.put(key, value);`. Nothing is seen before
   * `writer.finish()`, or before every `commitEvery` rows. It holds up no other write; when
   * the store is closed, or the writer forgotten, its rows are dropped.
   */
  writer({ commitEvery = Number.POSITIVE_INFINITY, durability }: WriterOptions = {}): Writer {
    this.#check();
    if (!(commitEvery >= 1)) {
      throw new HedgerowError('invalid-argument', 'commitEvery is at least 1');
    }
    const flusher = new Flusher(
      this.#host,
      this.#commits,
      durability ?? this.#durability,
      commitEvery,
      (ended) => this.#flushers.delete(ended),
    );
    this.#flushers.add(flusher);
    return new Writer(flusher);
  }

  /** Puts one row. Rows put in one turn share one commit. */
  async put(key: string, value: unknown): Promise<void> {
    this.#check();
    return this.#edits.put(key, value);
  }

  /** Deletes one row; does nothing when there is none. */
  async delete(key: string): Promise<void> {
    this.#check();
    return this.#edits.delete(key);
  }

  /** The value of a key, or `undefined`. Every call makes a new value. */
  get<Value = unknown>(key: string): Promise<Value | undefined> {
    try {
      this.#check();
      checkKey(key);
      const { engine } = this.#host;
      const status = engine.get(this.#commits.head.view, key);
      if (status === Status.done) return Promise.resolve(engine.found() as Value | undefined);
      if (status >= Status.row) engine.fail(status);
    } catch (cause) {
      return Promise.reject(cause);
    }
    return this.getMany<Value>([key]).then(([value]) => value);
  }

  /** The values of keys, in their order; `undefined` for a key that is absent. */
  async getMany<Value = unknown>(keys: Iterable<string>): Promise<(Value | undefined)[]> {
    this.#check();
    const wanted = [...keys];
    for (const [row, key] of wanted.entries()) checkKey(key, row);
    const { engine } = this.#host;
    const op = engine.find(this.#commits.head.view, wanted);
    return this.#host.read(op, () => {
      const values = new Array<Value | undefined>(wanted.length).fill(undefined);
      const { members } = engine.output();
      for (const [index, position] of engine.positions().entries()) {
        values[position] = members[index] as Value;
      }
      return values;
    });
  }

  /** Whether there is a row with this key. */
  async has(key: string): Promise<boolean> {
    this.#check();
    checkKey(key);
    return (await this.count({ gte: key, lte: key })) > 0;
  }

  /** The number of rows in a range, all by default. Costs two nodes for each level. */
  async count(range: KeyRange = {}): Promise<number> {
    this.#check();
    const { engine } = this.#host;
    const { flags, rangeBytes } = encodeRange(range);
    const op = engine.count(this.#commits.head.view, flags, rangeBytes);
    return this.#host.read(op, () => engine.word(0));
  }

  /** The rows of a range in the order of their keys, as they are when the reading begins. */
  scan<Value = unknown>(options: ScanOptions = {}): Scan<Value> {
    const host = () => {
      this.#check();
      return this.#host;
    };
    return scanOf(host, () => this.#commits.head, options) as Scan<Value>;
  }

  /**
   * The changes that lead from one root to another, in the order of keys. Costs the nodes
   * that the two do not share. Roots are those that `root` had, while their chunks are stored.
   */
  diff<Value = unknown>(from: string, to: string, options: DiffOptions = {}): Rows<Change<Value>> {
    const host = () => {
      this.#check();
      return this.#host;
    };
    return diffOf(host, this.#commits, from, to, options) as Rows<Change<Value>>;
  }

  /** What the store holds, and the shape of its tree. Reads all internal nodes. */
  async stats(): Promise<Stats> {
    this.#check();
    const { engine } = this.#host;
    const { root } = this;
    const { rows, view } = this.#commits.head;
    const numbers = await this.#host.read(engine.census(view), () => engine.numbers());
    const count = numbers.length / CENSUS_WORDS;
    const levels = Array.from({ length: count }, (_, index) => {
      const [nodes = 0, bytes = 0, minBytes = 0, maxBytes = 0] = numbers.slice(
        index * CENSUS_WORDS,
        (index + 1) * CENSUS_WORDS,
      );
      return { level: count - 1 - index, nodes, bytes, minBytes, maxBytes };
    });
    return { root, rows, levels, ...engine.cacheStats(), memoryBytes: engine.memoryBytes };
  }

  /** Closes the store, after the writes under way have ended. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#tabs?.close();
    const aborts = [...this.#flushers].map((flusher) => flusher.abort('the store was closed'));
    await Promise.all([this.#edits.settled(), ...this.#bulks, ...aborts]);
    await this.#commits.queued(() => this.#host.segments.close());
  }
}

/** Both results, or neither: a segment store must not stay open when the engine fails. */
async function both(
  engine: Promise<Engine>,
  segments: Promise<SegmentStore>,
): Promise<[Engine, SegmentStore]> {
  const [made, opened] = await Promise.allSettled([engine, segments]);
  if (opened.status === 'rejected') throw opened.reason;
  if (made.status === 'rejected') {
    await opened.value.close();
    throw made.reason;
  }
  return [made.value, opened.value];
}
