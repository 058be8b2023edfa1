/**
 * The reader: the part of the core that reads, in JavaScript, with the same exports. It answers while the core is
 * fetched and compiled. It reads the same formats with the same checks, and takes what `core/calls/` passes to them.
 */
import * as ChunkKind from '../../base/abi/chunk-kind.js';
import * as IndexState from '../../base/abi/index-state.js';
import * as ReadFlag from '../../base/abi/read-flag.js';
import * as Reply from '../../base/abi/reply.js';
import * as Status from '../../base/abi/status.js';
import * as ValueKind from '../../base/abi/value-kind.js';
import { Arena } from './arena.js';
import { Budget } from './budget.js';
import { decodeText } from './bytes-view.js';
import { ChunkCache } from './chunk-cache.js';
import {
  type CommitTree,
  EMPTY_TREE,
  INDEX,
  PARTIAL_INDEX,
  ROW_TREE,
  readCommit,
  SUMS,
} from './commit.js';
import { checkChunk, Fault, MalformedBytes, Need, type Want } from './fault.js';
import { Count, Find, findEntry } from './find.js';
import { indexWalkCode } from './index-walk-code.js';
import { BYTES, entryValue, OUT_OF_LINE, tagAt } from './node.js';
import type { Operation } from './operation.js';
import { Output } from './output.js';
import { RangeWalk } from './range-walk.js';
import { Slots } from './slots.js';

/** An open commit: its trees by name. */
type View = ReadonlyMap<string, CommitTree>;

/** A read, and its output so far. */
interface RunningRead {
  readonly operation: Operation;
  out: Output;
}

const HASH_BYTES = 32;
const NO_TREES: View = new Map();

/** Returns the number of columns in the definition of an index: see `core/indexes/definition.ts`. */
function columnsOf(definition: string): number {
  const [, ...parts] = JSON.parse(definition) as string[];
  return parts.filter((part) => part !== '?' && !part.startsWith('<')).length;
}

/** The reader of one store. */
class Reader {
  readonly arena = new Arena();
  readonly cache = new ChunkCache();
  readonly views = new Slots<View>();
  readonly operations = new Slots<RunningRead>();
  /** Its value is 1 after memory was missing, as in the core. */
  readonly outOfMemory = { value: 0 };
  readonly #encoder = new TextEncoder();
  /** The definitions of indexes. Calls name them by their number, from 1. */
  #indexes: string[] = [];

  /** Returns the status of a call that may not be able to go on. */
  answer(call: () => number): number {
    try {
      return call();
    } catch (cause) {
      if (cause instanceof Need) return this.#need(cause.wants);
      if (cause instanceof RangeError) this.outOfMemory.value = 1;
      const isMalformed = cause instanceof MalformedBytes;
      if (!isMalformed && !(cause instanceof Fault)) throw cause;
      const { field, offset, expected, got } = cause.malformed;
      const [address = 0] = isMalformed ? [] : this.arena.put(cause.hash);
      this.arena.tell(Reply.chunkFaultHash, address, field, offset, expected, got);
      return isMalformed ? Status.malformed : cause.status;
    }
  }

  #need(wants: readonly Want[]): number {
    const [address = 0] = this.arena.put(Float64Array.from(wants.flat()));
    this.arena.tell(Reply.numbersAddress, address, 3 * wants.length);
    return Status.need;
  }

  #treeOf(view: number, name: string): CommitTree {
    return this.views.get(view)?.get(name) ?? EMPTY_TREE;
  }

  /** Returns the tree of an index, or of the rows for 0. */
  #treeByNumber(view: number, number: number): CommitTree {
    return this.#treeOf(view, number === 0 ? ROW_TREE : INDEX + this.#indexes[number - 1]);
  }

  #text(length: number): string {
    return decodeText(this.arena.readScratch(length));
  }

  #list(length: number): string[] {
    return JSON.parse(this.#text(length)) as string[];
  }

  #begin(operation: Operation): number {
    return this.operations.add({ operation, out: new Output() });
  }

  addTable(id: number, length: number): number {
    this.cache.addTable(id, this.arena.readScratch(length).slice());
    return Status.done;
  }

  openView(): number {
    const hash = this.arena.readScratch(HASH_BYTES).slice();
    let trees = NO_TREES;
    if (hash.some((byte) => byte !== 0)) {
      let commit: Uint8Array;
      try {
        commit = this.cache.chunk(hash, ChunkKind.commit);
      } catch (cause) {
        if (!(cause instanceof Need)) throw cause;
        // Next to a commit are the nodes that the first reads need.
        const whole = cause.wants.map((want): Want => (want[2] < 0 ? want : [want[0], 0, 0]));
        return this.#need(whole);
      }
      trees = checkChunk(hash, () => readCommit(commit));
    }
    const { count } = trees.get(ROW_TREE) ?? EMPTY_TREE;
    this.arena.tell(Reply.viewHandle, this.views.add(trees), count);
    return Status.done;
  }

  setIndexes(length: number): number {
    this.#indexes = this.#list(length);
    return Status.done;
  }

  indexState(view: number, number: number): void {
    const definition = this.#indexes[number - 1];
    const trees = this.views.get(view) ?? NO_TREES;
    const isComplete = !trees.has(ROW_TREE) || trees.has(INDEX + definition);
    const partial = trees.get(PARTIAL_INDEX + definition);
    if (isComplete || partial === undefined) {
      const state = isComplete ? IndexState.complete : IndexState.none;
      this.arena.tell(Reply.indexReachState, state);
      return;
    }
    const [address = 0] = this.arena.put(partial.reach);
    this.arena.tell(Reply.indexReachState, IndexState.partial, address, partial.reach.length);
  }

  indexCount(view: number): number {
    const isIndex = (name: string) => name.startsWith(INDEX) || name.startsWith(PARTIAL_INDEX);
    return [...(this.views.get(view) ?? NO_TREES).keys()].filter(isIndex).length;
  }

  total(view: number, length: number): void {
    const { reach } = this.#treeOf(view, SUMS + this.#text(length));
    const [address = 0] = this.arena.put(reach);
    this.arena.tell(Reply.bytesAddress, address, reach.length);
  }

  get(view: number, length: number): number {
    const { arena } = this;
    const entry = findEntry(this.cache, this.#treeOf(view, ROW_TREE), arena.readScratch(length));
    if (entry === undefined) {
      arena.tell(Reply.valueKind, ValueKind.absent);
      return Status.done;
    }
    const tag = tagAt(entry.leaf, entry.index);
    if ((tag & OUT_OF_LINE) !== 0) return Status.far;
    const value = entryValue(entry.leaf, entry.index);
    const [address = 0] = arena.put(value);
    const kind = (tag & BYTES) === 0 ? ValueKind.json : ValueKind.bytes;
    arena.tell(Reply.valueKind, kind, address, value.length);
    return Status.done;
  }

  find(view: number, length: number): number {
    const keys = this.#list(length).map((key) => this.#encoder.encode(key));
    return this.#begin(new Find(this.cache, this.#treeOf(view, ROW_TREE), keys));
  }

  scan(view: number, flags: number, length: number, offset: number, limit: number): number {
    const { cache } = this;
    const range = this.arena.readScratch(length);
    const number = flags >> ReadFlag.indexShift;
    const definition = this.#indexes[number - 1];
    const rows = this.#treeOf(view, ROW_TREE);
    if (definition === undefined) {
      return this.#begin(new RangeWalk(cache, rows, flags, range, offset, limit));
    }
    // `prepareIndexWalks` has loaded it.
    const { IndexWalk } = indexWalkCode() as NonNullable<ReturnType<typeof indexWalkCode>>;
    const trees = { index: this.#treeByNumber(view, number), rows, columns: columnsOf(definition) };
    return this.#begin(new IndexWalk(cache, trees, flags, range, offset, limit));
  }

  count(view: number, flags: number, length: number): number {
    const tree = this.#treeByNumber(view, flags >> ReadFlag.indexShift);
    return this.#begin(new Count(this.cache, tree, flags, this.arena.readScratch(length)));
  }

  step(handle: number, budget: number): number {
    const running = this.operations.get(handle);
    if (running === undefined) return Status.done;
    const { operation, out } = running;
    const status = operation.step(new Budget(budget), out);
    if (operation.rows !== undefined) this.arena.tell(Reply.countRows, operation.rows);
    else if (status === Status.done || !(out.isPartial || operation.positions)) {
      this.#handOut(running);
      running.out = new Output();
    } else {
      // The next step goes on with an output that ends within a value, or that a search hands out at its end.
      this.#handOut({ operation, out: new Output() });
    }
    return status;
  }

  #handOut({ operation: { positions = [] }, out }: RunningRead): void {
    out.close();
    const [text = 0, bytes = 0, marks = 0, found = 0, keys = 0] = this.arena.put(
      out.text.bytes,
      out.bytes.bytes,
      Uint32Array.from(out.marks),
      Uint32Array.from(positions),
      out.keys.bytes,
    );
    const { arena } = this;
    arena.tell(Reply.outputText, text, out.text.length, bytes, marks, out.marks.length / 3);
    arena.tell(Reply.outputValueCount, out.values, found, positions.length);
    arena.tell(Reply.outputKeys, keys, out.keys.length);
  }

  ahead(handle: number): number {
    const wants = this.operations.get(handle)?.operation.ahead?.() ?? [];
    return wants.length === 0 ? Status.done : this.#need(wants);
  }
}

/** The exports of a reader. */
export type ReaderCore = ReturnType<typeof createReader>;

/** Makes a reader without segments; returns the exports of the core that it has. */
export function createReader() {
  const reader = new Reader();
  const { arena, cache } = reader;
  return {
    memory: arena.memory,
    out_of_memory: reader.outOfMemory,
    start(cacheBytes: number) {
      cache.fit(cacheBytes);
      return 0;
    },
    scratch: (length: number) => arena.scratch(length),
    fit_cache: (bytes: number) => cache.fit(bytes),
    set_request_cost(bytes: number) {
      cache.requestCost = bytes;
    },
    await_tables(awaits: number) {
      cache.awaitsTables = awaits !== 0;
    },
    reserve_tables: () => {},
    add_table: (id: number, length: number) => reader.answer(() => reader.addTable(id, length)),
    /** Only a reader has this: it takes bytes of a segment without a copy. */
    take_segment: (id: number, from: number, to: number, bytes: Uint8Array) =>
      cache.load(id, from, to, bytes),
    remove_segment: (id: number) => cache.remove(id),
    open_view: () => reader.answer(() => reader.openView()),
    close_view: (view: number) => reader.views.free(view),
    set_indexes: (length: number) => reader.setIndexes(length),
    index_state: (view: number, number: number) => reader.indexState(view, number),
    index_count: (view: number) => reader.indexCount(view),
    get: (view: number, length: number) => reader.answer(() => reader.get(view, length)),
    find: (view: number, length: number) => reader.find(view, length),
    scan: (...call: Parameters<Reader['scan']>) => reader.scan(...call),
    count: (...call: Parameters<Reader['count']>) => reader.count(...call),
    total: (view: number, length: number) => reader.total(view, length),
    step: (handle: number, budget: number) => reader.answer(() => reader.step(handle, budget)),
    ahead: (handle: number) => reader.ahead(handle),
    free: (handle: number) => reader.operations.free(handle),
    /** Only a reader has this: its segments, for the core that takes over. */
    records: () => cache.records(),
  };
}
