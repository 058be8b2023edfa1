import { HedgerowError } from '../base/errors.js';
import type { Exactly } from '../base/exactly.js';
import { isKeyFault, malformed, rowFault } from '../base/faults.js';
import { MAX_TREES } from '../base/limits.js';
import type { EncodedScan } from '../base/range.js';
import { type Core, guard, refuse } from './guard.js';
import { instantiate } from './module.js';

/** The meanings of a status; `crate/src/wasm/reply.rs` has the same list. */
export const Status = {
  done: 0,
  need: 1,
  yield: 2,
  far: 3,
  segment: 4,
  row: 16,
  missingChunk: 17,
  corruptChunk: 18,
  unsupportedFormat: 19,
  malformed: 20,
  invalidProof: 21,
  proofTooLarge: 22,
  commitTooLarge: 28,
  noOp: 0xffff_ffff,
} as const;

/** A finished segment as the core hands it out. */
export interface MadeSegment {
  readonly id: number;
  readonly segmentBytes: Uint8Array;
  readonly tableBytes: Uint8Array;
}

/** An operation under way in the core. */
export type Op = number;

/** What the members of a block are. */
export type BlockFormat = 'pairs' | 'rows' | 'deletes' | 'patch';

const TOO_MANY_TREES = `a commit names at most ${MAX_TREES} trees (rows, indexes and sum trees), in 512 KiB: drop some`;

/** Handles of an instance are above those of all before it. */
const HANDLES = 2 ** 32;

/** So many traps without a successful call in between are final. */
const FINAL_TRAPS = 2;

/**
 * Owns one instance of the core and speaks its language: handles, statuses and addresses.
 * Everything but the start is synchronous; `host.ts` adds time and storage.
 *
 * An instance that traps is let go of at once, with all its memory. Its handles are refused
 * from then on; `history/branch-head.ts` has another one started, and brings it to where the store stands.
 *
 * Views of linear memory are taken anew after every call that may grow it. Bytes that
 * leave are copied.
 */
export class Engine {
  readonly #onTrap = new Set<(error: HedgerowError) => void>();
  readonly #cacheBytes: number;
  #core: Core;
  /** As it was instantiated. */
  #raw: Core;
  #reply = 0;
  #firstHandle = 0;
  #isReady = false;
  #trap: HedgerowError | undefined;
  #trapsInARow = 0;
  readonly #encoder = new TextEncoder();
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #bytes = new Uint8Array();
  #words = new Float64Array();
  #scratch = 0;
  #scratchLength = 0;
  #bytesPerUnit = 1;
  #indexes: readonly string[] = [];

  private constructor(core: Core, cacheBytes: number) {
    this.#cacheBytes = cacheBytes;
    this.#core = core;
    this.#raw = core;
    this.#start(core);
    this.#isReady = true;
  }

  /** Starts an engine that keeps about `cacheBytes` of stored segments in memory. */
  static async create(cacheBytes: number): Promise<Engine> {
    return new Engine(await instantiate(), cacheBytes);
  }

  /** Starts a new instance in the place of one that trapped. It knows nothing yet. */
  async restart(): Promise<void> {
    this.#start(await instantiate());
  }

  #start(core: Core): void {
    this.#raw = core;
    this.#core = guard(core, (error) => this.#trapped(error));
    this.#scratchLength = 0;
    // Nobody else may know by what the core hashes keys that others have chosen.
    const [a = 0, b = 0, c = 0, d = 0] = crypto.getRandomValues(new Uint32Array(4));
    this.#reply = this.#core.start(this.#cacheBytes, a, b, c, d);
    if (this.#indexes.length > 0) this.#nameIndexes();
  }

  #trapped(error: HedgerowError): void {
    this.#trap = error;
    this.#trapsInARow += 1;
    this.#isReady = false;
    this.#firstHandle += HANDLES;
    this.#core = refuse(this.#core, () => this.#refusal());
    this.#raw = this.#core;
    this.#bytes = new Uint8Array();
    this.#words = new Float64Array();
    for (const listener of [...this.#onTrap]) listener(error);
  }

  #refusal(): HedgerowError {
    const cause = this.#trap;
    const message = 'the core has trapped while this was under way';
    return new HedgerowError(cause?.code ?? 'crashed', message, { cause });
  }

  /** Has `listener` called when an instance traps; returns how to end that. */
  onTrap(listener: (error: HedgerowError) => void): () => void {
    this.#onTrap.add(listener);
    return () => this.#onTrap.delete(listener);
  }

  /** Whether new calls may be made: not from a trap until `ready` is called. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** A new instance stands where the store stands. */
  ready(): void {
    this.#isReady = true;
  }

  /** A call of a user has succeeded. */
  succeeded(): void {
    this.#trapsInARow = 0;
  }

  /** The trap after which no other instance is worth a try. */
  get finalTrap(): HedgerowError | undefined {
    return this.#trapsInARow < FINAL_TRAPS ? undefined : this.#trap;
  }

  /** Changes with each trap: what began before it is of no use to the next instance. */
  get epoch(): number {
    return this.#firstHandle;
  }

  /** A handle that the core gave, as it is known outside. */
  given(handle: number): number {
    return this.#firstHandle + (handle >>> 0);
  }

  /** A handle as the core gave it; throws when that was another instance. */
  own(handle: number): number {
    if (handle < this.#firstHandle) throw this.#refusal();
    return handle - this.#firstHandle;
  }

  /** For what nobody waits for: the next call is told of a trap. */
  #quietly(call: () => void): void {
    const { epoch } = this;
    try {
      call();
    } catch (cause) {
      if (this.#isReady && this.epoch === epoch) throw cause;
    }
  }

  /** Linear memory, until the next call. */
  get memory(): Uint8Array {
    const { buffer } = this.#core.memory;
    if (this.#bytes.buffer !== buffer) {
      this.#bytes = new Uint8Array(buffer);
      this.#words = new Float64Array(buffer, this.#reply, 16);
    }
    return this.#bytes;
  }

  /** Bytes of linear memory. */
  get memoryBytes(): number {
    return this.#core.memory.buffer.byteLength;
  }

  /** The number at `index` of the last call's reply. */
  word(index: number): number {
    void this.memory;
    return this.#words[index] ?? 0;
  }

  #scratchFor(length: number): number {
    if (length > this.#scratchLength) {
      this.#scratch = this.#core.scratch(length);
      this.#scratchLength = length;
    }
    return this.#scratch;
  }

  /** Copies bytes to the scratch buffer. */
  pass(bytes: Uint8Array): void {
    const at = this.#scratchFor(bytes.length);
    this.memory.set(bytes, at);
  }

  /** Encodes text to the scratch buffer; returns its length in bytes. */
  passText(text: string): number {
    const room = text.length * 3;
    const at = this.#scratchFor(room);
    return this.#encoder.encodeInto(text, this.memory.subarray(at, at + room)).written;
  }

  /** Throws the error that `status` stands for; `isBytes` when rows come as bytes. */
  fail(status: number, isBytes = false): never {
    const [first, second, third] = [this.word(0), this.word(1), this.word(2)];
    const chunk = () => hex(this.memory.subarray(first, first + 32));
    switch (status) {
      case Status.row: {
        if (isBytes) {
          throw new HedgerowError(
            'invalid-row',
            `row ${first}, byte ${second}: ${rowFault(third)}`,
            {
              row: first,
              offset: second,
            },
          );
        }
        const code = isKeyFault(third) ? 'invalid-key' : 'invalid-value';
        throw new HedgerowError(code, `row ${first}: ${rowFault(third)}`, {
          row: first,
        });
      }
      case Status.missingChunk:
        throw new HedgerowError('missing-chunk', `no segment holds ${chunk()}`, { chunk: chunk() });
      case Status.corruptChunk: {
        const fault = () => `is ${malformed(second, third, this.word(3), this.word(4))}`;
        const what = second < 0 ? 'does not have its hash' : fault();
        throw new HedgerowError('corrupt-chunk', `${chunk()} ${what}`, { chunk: chunk() });
      }
      case Status.unsupportedFormat:
        throw new HedgerowError('unsupported-format', `a chunk has format ${first}`);
      case Status.invalidProof:
        throw new HedgerowError('invalid-proof', 'it does not prove this under this root');
      case Status.proofTooLarge:
        throw new HedgerowError('invalid-argument', 'its proof would take more than 128 MiB');
      case Status.commitTooLarge:
        throw new HedgerowError('invalid-argument', TOO_MANY_TREES);
      default:
        throw new HedgerowError('storage', `the core answered ${status}`);
    }
  }

  /** The ids in the reply to `Status.need`. */
  needed(): number[] {
    void this.memory;
    const [address, length] = [this.word(0), this.word(1)];
    return [...new Float64Array(this.#core.memory.buffer, address, length)];
  }

  /** Makes room for tables of so many bytes in all. */
  reserve(tableBytes: number): void {
    this.#core.reserve_tables(tableBytes);
  }

  /** Makes a stored segment known by its table; `false` when the table is malformed. */
  addTable(id: number, tableBytes: Uint8Array): boolean {
    this.pass(tableBytes);
    return this.#core.add_table(id, tableBytes.length) === Status.done;
  }

  /** Takes the bytes of a known segment. */
  loadSegment(id: number, segmentBytes: Uint8Array): void {
    this.incoming(segmentBytes);
    this.#core.load_segment(id);
  }

  /** A segment made here is stored, and may leave memory. */
  storedSegment(id: number): void {
    this.#quietly(() => this.#core.stored_segment(id));
  }

  /** Forgets a segment and its chunks. */
  removeSegment(id: number): void {
    this.#quietly(() => this.#core.remove_segment(id));
  }

  /** Sets the id of the next segment made here. */
  setNextSegment(id: number): void {
    this.#core.set_next_segment(id);
  }

  /** Opens a view of a commit; `openedView` then tells of it. */
  openView(commitBytes: Uint8Array): number {
    this.pass(commitBytes);
    return this.#core.open_view();
  }

  /** The view that was opened. */
  openedView(): { view: number; rows: number } {
    return { view: this.given(this.word(0)), rows: this.word(1) };
  }

  /** Closes a view. */
  closeView(view: number): void {
    if (view < this.#firstHandle) return;
    this.#quietly(() => this.#core.close_view(this.own(view)));
  }

  /** Looks up a key, which must be well-formed and within its limit. */
  get(view: number, key: string): number {
    const status = this.#core.get(this.own(view), this.#passKey(key));
    this.#trapsInARow = 0;
    return status;
  }

  /** As `#passText`; for short ASCII a loop is more than twice as fast as `encodeInto`. */
  #passKey(key: string): number {
    const { length } = key;
    if (length > 48) return this.passText(key);
    const at = this.#scratchFor(length * 3);
    const memory = this.memory;
    for (let index = 0; index < length; index++) {
      const unit = key.charCodeAt(index);
      if (unit > 0x7f) return this.passText(key);
      memory[at + index] = unit;
    }
    return length;
  }

  /** The value in the reply to `get`: `undefined` when the key is absent. */
  found(): unknown {
    const bytes = this.memory;
    const [kind, address, length] = [this.word(0), this.word(1), this.word(2)];
    if (kind === 0) return undefined;
    const value = bytes.subarray(address, address + length);
    return kind === 2 ? value.slice() : this.#parse(value);
  }

  #parse(bytes: Uint8Array): unknown {
    try {
      return JSON.parse(this.#decoder.decode(bytes));
    } catch (cause) {
      throw new HedgerowError('corrupt-chunk', 'a stored value is not JSON', { cause });
    }
  }

  /** Starts a search for many keys. */
  find(view: number, keys: readonly string[]): Op {
    const op = this.#core.find(this.own(view), this.passText(JSON.stringify(keys)));
    return op >>> 0 === Status.noOp ? this.fail(Status.row) : this.given(op);
  }

  /** Starts a scan, see `base/range.ts`. */
  scan(
    view: number,
    {
      flags,
      rangeBytes,
      offset,
      limit,
    }: Exactly<EncodedScan, 'flags' | 'rangeBytes' | 'offset' | 'limit'>,
  ): Op {
    this.pass(rangeBytes);
    return this.given(this.#core.scan(this.own(view), flags, rangeBytes.length, offset, limit));
  }

  /** Starts a count of an encoded range. */
  count(view: number, flags: number, rangeBytes: Uint8Array): Op {
    this.pass(rangeBytes);
    return this.given(this.#core.count(this.own(view), flags, rangeBytes.length));
  }

  /** Starts a diff of two views over an encoded range. */
  diff(from: number, to: number, flags: number, rangeBytes: Uint8Array): Op {
    this.pass(rangeBytes);
    const [old, young] = [this.own(from), this.own(to)];
    return this.given(this.#core.diff(old, young, flags, rangeBytes.length));
  }

  /** Whether an ingest that was finished waits for its sum trees: see `sums/bring.ts`. */
  awaitsSums(op: Op): boolean {
    return this.#core.awaits_sums(this.own(op)) !== 0;
  }

  /** Has an ingest wait for them. */
  expectSums(op: Op): void {
    this.#core.expect_sums(this.own(op));
  }

  /** What a commit tells of a sum tree: see `sums/sum-tree.ts`. */
  total(view: number, name: string): Uint8Array {
    this.#core.total(this.own(view), this.passText(name));
    return this.memory.slice(this.word(0), this.word(0) + this.word(1));
  }

  /**
   * The exports of a part of the module that is loaded later, as `link` makes them from those of
   * the instance. They throw once that has trapped.
   */
  async linked<Part extends object>(
    link: (exports: WebAssembly.Exports) => Promise<Part>,
  ): Promise<Part> {
    const { epoch } = this;
    const part = await link(this.#raw as unknown as WebAssembly.Exports);
    this.own(epoch);
    return guard({ ...this.#raw, ...part }, (error) => this.#trapped(error)) as unknown as Part;
  }

  /** Copies bytes to the segment buffer. */
  incoming(bytes: Uint8Array): void {
    const at = this.#core.segment_buffer(bytes.length);
    this.memory.set(bytes, at);
  }

  /** Has an ingest delete all rows of an encoded range. */
  drop(op: Op, flags: number, rangeBytes: Uint8Array): void {
    this.pass(rangeBytes);
    this.#core.ingest_drop(this.own(op), flags, rangeBytes.length);
  }

  /** Names the indexes that are wanted, by their definitions. */
  setIndexes(definitions: readonly string[]): void {
    this.#indexes = definitions;
    this.#nameIndexes();
  }

  #nameIndexes(): void {
    const length = this.passText(JSON.stringify(this.#indexes));
    if (this.#core.set_indexes(length) >>> 0 !== Status.noOp) return;
    throw new HedgerowError('invalid-argument', 'the definition of an index was refused');
  }

  /** How far a view has the index of a number; in part, `indexReach` tells to which row. */
  indexState(view: number, number: number): number {
    this.#core.index_state(this.own(view), number);
    return this.word(0);
  }

  /** The key in the reply to `indexState`. */
  indexReach(): string {
    const [address, length] = [this.word(1), this.word(2)];
    return this.#decoder.decode(this.memory.subarray(address, address + length));
  }

  /** The number of indexes of a view. */
  indexCount(view: number): number {
    return this.#core.index_count(this.own(view));
  }

  /** Has an ingest make a part of the wanted indexes, of about `work` bytes of rows. */
  extendIndexes(op: Op, alone: boolean, work: number): void {
    this.#core.extend_indexes(this.own(op), Number(alone), work);
  }

  /** The doubles at the address in the reply, as many as it says. */
  numbers(): number[] {
    return this.needed();
  }

  /** Starts an ingest on top of a view. */
  ingest(view: number, prefix: string, pointer: string): Op {
    const [prefixLength, pointerLength] = this.#passBoth(prefix, pointer);
    const op = this.#core.ingest(this.own(view), prefixLength, pointerLength);
    return op >>> 0 === Status.noOp ? refusePointer(pointer) : this.given(op);
  }

  /** Starts an ingest of bytes on top of a view; without a pointer rows are `[key, value]`. */
  ingestBytes(
    view: number,
    prefix: string,
    pointer: string | undefined,
    format: 'ndjson' | 'json' | undefined,
    isPatch = false,
  ): Op {
    const [prefixLength, pointerLength] = this.#passBoth(prefix, pointer ?? '');
    const framing = format === undefined ? 0 : { ndjson: 1, json: 2 }[format];
    const length = isPatch ? -2 : pointer === undefined ? -1 : pointerLength;
    const op = this.#core.ingest_bytes(this.own(view), prefixLength, length, framing);
    return op >>> 0 === Status.noOp ? refusePointer(pointer ?? '') : this.given(op);
  }

  #passBoth(prefix: string, pointer: string): [number, number] {
    const prefixBytes = this.#encoder.encode(prefix);
    const pointerBytes = this.#encoder.encode(pointer);
    const both = new Uint8Array(prefixBytes.length + pointerBytes.length);
    both.set(prefixBytes);
    both.set(pointerBytes, prefixBytes.length);
    this.pass(both);
    return [prefixBytes.length, pointerBytes.length];
  }

  /** Gives an ingest of bytes the next ones. */
  append(op: Op, bytes: Uint8Array): void {
    const at = this.#core.ingest_room(this.own(op), bytes.length);
    this.memory.set(bytes, at);
  }

  /** Tells an ingest of bytes that it has all of them. */
  end(op: Op): void {
    this.#core.ingest_end(this.own(op));
  }

  /**
   * Feeds a block of rows: an array as JSON text and the byte values that belong to some of
   * its rows. Returns the bytes fed.
   */
  feed(
    op: Op,
    text: string,
    format: BlockFormat,
    values: readonly { row: number; bytes: Uint8Array }[],
  ): number {
    const valueBytes = values.reduce((sum, { bytes }) => sum + bytes.length, 0);
    const extra = valueBytes + 12 * values.length;
    // Room as the blocks before needed it; only when it proves too little, for the worst case.
    let room = Math.ceil(text.length * this.#bytesPerUnit);
    let at = this.#core.ingest_buffer(this.own(op), room + extra);
    let encoded = this.#encoder.encodeInto(text, this.memory.subarray(at, at + room));
    if (encoded.read < text.length) {
      room = text.length * 3;
      at = this.#core.ingest_buffer(this.own(op), room + extra);
      encoded = this.#encoder.encodeInto(text, this.memory.subarray(at, at + room));
      this.#bytesPerUnit = Math.min(3, (1.1 * encoded.written) / text.length);
    }
    const memory = this.memory;
    let start = encoded.written;
    const table = new DataView(memory.buffer, at + start + valueBytes, 12 * values.length);
    for (const [index, { row, bytes }] of values.entries()) {
      memory.set(bytes, at + start);
      table.setUint32(12 * index, row, true);
      table.setUint32(12 * index + 4, start, true);
      table.setUint32(12 * index + 8, bytes.length, true);
      start += bytes.length;
    }
    const length = encoded.written + extra;
    const code = { pairs: 0, rows: 1, deletes: 2, patch: 3 }[format];
    this.#core.ingest_feed(this.own(op), encoded.written, length, values.length, code);
    return length;
  }

  /** Tells an ingest that it has all rows. */
  finish(op: Op): void {
    this.#core.ingest_finish(this.own(op));
  }

  /**
   * Brings an ingest whose commit was made onto the commit of a view; `kept` are the keys, as
   * JSON texts, that stay as they are in that.
   */
  rebase(op: Op, view: number, kept: Iterable<string>): void {
    const text = `[${[...kept].join(',')}]`;
    const [own, onto] = [this.own(op), this.own(view)];
    const status = this.#core.ingest_rebase(own, onto, this.passText(text));
    if (status !== Status.done) this.fail(status);
  }

  /** Has the next `rebase` of an ingest bring in what was changed since the commit of a view. */
  since(op: Op, view: number): void {
    this.#core.ingest_since(this.own(op), this.own(view));
  }

  /** Takes the next segment that an ingest or a collection has made. */
  takeSegment(op: Op): MadeSegment | undefined {
    if (this.#core.take_segment(this.own(op)) !== Status.segment) return undefined;
    const memory = this.memory;
    const word = (index: number) => this.word(index);
    return {
      id: word(0),
      segmentBytes: memory.slice(word(1), word(1) + word(2)),
      tableBytes: memory.slice(word(3), word(3) + word(4)),
    };
  }

  /** Goes on with an operation for about `budget` bytes of work. */
  step(op: Op, budget: number): number {
    return this.#core.step(this.own(op), Math.min(budget, 0x7fff_ffff));
  }

  /** The segments that a scan will want next. Overwrites the reply of its last step. */
  ahead(op: Op): number[] {
    return this.#core.ahead(this.own(op)) === Status.need ? this.needed() : [];
  }

  /** Frees an operation; segments of an ingest are forgotten unless it is committed. */
  free(op: Op, committed = true): void {
    if (op < this.#firstHandle) return;
    this.#quietly(() => this.#core.free(this.own(op), committed ? 1 : 0));
  }

  /** The hash whose address is in the reply at `index`. */
  hash(index: number): Uint8Array {
    const at = this.word(index);
    return this.memory.slice(at, at + 32);
  }

  /**
   * The members of the output in the reply: keys, values and what else the core says. Values are a
   * text of their own, so that one that is not JSON cannot add a key; `null` holds their places.
   */
  output(): unknown[] {
    const memory = this.memory;
    const word = (index: number) => this.word(index);
    const values = this.#parse(memory.subarray(word(0), word(0) + word(1))) as unknown[];
    if (values.length !== word(5)) {
      throw new HedgerowError('corrupt-chunk', 'a stored value is not one JSON value');
    }
    const marks = new Uint32Array(memory.buffer, word(3), 3 * word(4));
    for (let mark = 0; mark < marks.length; mark += 3) {
      const [value, start, length] = [marks[mark], marks[mark + 1], marks[mark + 2]];
      const at = word(2) + (start ?? 0);
      values[value ?? 0] = memory.slice(at, at + (length ?? 0));
    }
    if (word(13) === 0) return values;
    const members = this.#parse(memory.subarray(word(12), word(12) + word(13))) as unknown[];
    if (values.length > 0) {
      for (let at = 0, next = 0; at < members.length; at++) {
        if (members[at] === null) members[at] = values[next++];
      }
    }
    return members;
  }

  /** The positions in the reply of a find. */
  positions(): Uint32Array {
    return new Uint32Array(this.memory.buffer, this.word(6), this.word(7)).slice();
  }

  /** Starts a collection of what is stored now; see `crate/src/wasm/mod.rs` for the flags. */
  collect(flags: number, valuesBefore: number): Op {
    return this.given(this.#core.collect(flags, valuesBefore));
  }

  /** Has a collection take all for live that a commit reaches, or what is left of it if it may be gone. */
  collectCommit(op: Op, commitBytes: Uint8Array, mayBeGone = false): void {
    this.pass(commitBytes);
    this.#core.collect_commit(this.own(op), Number(mayBeGone));
  }

  /** Has a collection keep the segments from `from` to before `to`. */
  collectKeep(op: Op, from: number, to: number): void {
    this.#core.collect_keep(this.own(op), from, to);
  }

  /** What a collection asked for is stored, and what it named is deleted. */
  collectExchanged(op: Op): void {
    this.#core.collect_exchanged(this.own(op));
  }

  /** Segments, chunks and bytes known, bytes in memory, and how many segments are small. */
  cacheStats(): {
    segments: number;
    chunks: number;
    storedBytes: number;
    cachedBytes: number;
    smallSegments: number;
  } {
    this.#core.cache_stats();
    return {
      segments: this.word(0),
      chunks: this.word(1),
      storedBytes: this.word(2),
      cachedBytes: this.word(3),
      smallSegments: this.word(4),
    };
  }
}

function refusePointer(pointer: string): never {
  throw new HedgerowError('invalid-argument', `not a JSON pointer: ${pointer}`);
}

/** Bytes in hexadecimal. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
