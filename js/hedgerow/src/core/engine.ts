import * as Reply from '../base/abi/reply.js';
import * as Size from '../base/abi/size.js';
import * as Status from '../base/abi/status.js';
import { HedgerowError, kindOfError } from '../base/errors.js';
import type { SegmentRequest } from '../storage/segment-store.js';
import { loadCore } from './load-core.js';
import type { NeededPart } from './needed-segment-part.js';
import { createReader, type ReaderCore } from './reader/core-reader.js';
import { loadIndexWalks } from './reader/index-walk-code.js';
import { leave, rebalance } from './shared-cache-budget.js';
import { type Core, guard } from './trap-guard.js';

/** The handle of an operation in the core. */
export type Op = number;

/** The distance between the handles of one instance and the next, so that no handle is used twice. */
const HANDLES = 2 ** 32;

/** This many traps without a successful call in between close the store. */
const FINAL_TRAPS = 2;

/**
 * One instance of the core: its lifetime, its memory and its handles. `calls/` has the calls. Everything except the
 * start is synchronous; `operation-host.ts` adds time and storage.
 *
 * A trap drops the instance at once, with all its memory. From then on calls with its handles throw.
 * `engine/history/branch-head.ts` starts another instance and moves it to the stored commit.
 *
 * Make new views of linear memory after every call that may grow it. Bytes that leave the core are copies.
 */
export class Engine {
  readonly #onTrap = new Set<(error: HedgerowError) => void>();
  /** Whether its cache is a part of the page's cache. */
  #isShared: boolean;
  #cacheBytes: number;
  #requestCost: number | undefined;
  /** The exports of the instance, if there is one. */
  #core: Core | undefined;
  /** The exports without the guard. */
  #raw: Core | undefined;
  #reply = 0;
  #firstHandle: number;
  #isReady = false;
  #isReader = false;
  #trap: HedgerowError | undefined;
  #trapsInARow = 0;
  /** How often calls have needed storage. */
  needs = 0;
  #ended: HedgerowError | undefined;
  /** Prepares scans of indexes; returns `undefined` if they can begin. Only a reader must load their code. */
  prepareIndexWalks: () => Promise<void> | undefined = () => undefined;
  /** Called at the start of a new instance, which has no state yet. */
  onStart: () => void = () => {};
  /** Bytes for each UTF-16 unit of text to reserve for the next block: see `calls/ingest-calls.ts`. */
  bytesPerUnit = 1;
  readonly encoder = new TextEncoder();
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #bytes = new Uint8Array();
  #words = new Float64Array();
  #scratch = 0;
  #scratchLength = 0;

  private constructor(cacheBytes: number | undefined, firstHandle: number) {
    this.#isShared = cacheBytes === undefined;
    this.#cacheBytes = cacheBytes ?? 0;
    this.#firstHandle = firstHandle;
  }

  /**
   * Makes an engine without an instance, which `restart` starts. It caches about `cacheBytes` of stored segments, or its
   * share of the page's cache.
   */
  static later(cacheBytes?: number): Engine {
    // No handle of it is one of a reader.
    return new Engine(cacheBytes, HANDLES);
  }

  /** Starts an engine that only reads, at once. */
  static createReader(cacheBytes?: number): Engine {
    const engine = new Engine(cacheBytes, 0);
    engine.#isReader = true;
    engine.prepareIndexWalks = loadIndexWalks;
    engine.#start(createReader() as unknown as Core);
    engine.ready();
    return engine;
  }

  /** The reader, if this engine only reads, and works. */
  get reader(): ReaderCore | undefined {
    return this.#isReader && this.#isReady ? (this.core as unknown as ReaderCore) : undefined;
  }

  /** Shares the page's cache again after a read of this engine. */
  rebalance(): void {
    if (this.#isShared) rebalance(this);
  }

  /** Leaves the engine's part of the page's cache to others for good. */
  leaveBudget(): void {
    this.#isShared = false;
    leave(this);
  }

  /** Fits the cache to `bytes`; returns the number of bytes that it holds then. */
  fitCache(bytes: number): number {
    this.#cacheBytes = bytes;
    return this.#isReady ? this.core.fit_cache(bytes) : 0;
  }

  /** Sets the cost of a request to storage: see `SegmentStore.requestCost`. */
  setRequestCost(bytes: number): void {
    this.#requestCost = bytes;
    if (this.#isReady) this.core.set_request_cost(bytes);
  }

  /** Starts the first instance, or a new one after a trap. It has no state yet. */
  async restart(): Promise<void> {
    if (this.#ended !== undefined) throw this.#ended;
    const { instantiate } = await loadCore();
    const core = await instantiate();
    if (this.#ended !== undefined) throw this.#ended;
    this.#start(core);
  }

  #start(core: Core): void {
    this.#raw = core;
    this.#core = guard(core, (error) => this.#handleTrap(error));
    this.#scratchLength = 0;
    // The seed of the core's hash tables is secret: others may choose the keys.
    const [a = 0, b = 0, c = 0, d = 0] = crypto.getRandomValues(new Uint32Array(4));
    this.#reply = this.core.start(this.#cacheBytes, a, b, c, d);
    if (this.#requestCost !== undefined) this.core.set_request_cost(this.#requestCost);
    this.onStart();
  }

  #handleTrap(error: HedgerowError): void {
    this.#trap = error;
    this.#trapsInARow += 1;
    this.#drop(error);
  }

  /**
   * Releases the instance and its memory for good, so that a reference to a closed store does not keep them. Each later
   * call throws `reason`.
   */
  end(reason: HedgerowError): void {
    this.#ended = reason;
    this.leaveBudget();
    this.#drop(reason);
  }

  #drop(error: HedgerowError): void {
    this.#isReady = false;
    this.#firstHandle += HANDLES;
    this.#core = undefined;
    this.#raw = undefined;
    this.#bytes = new Uint8Array();
    this.#words = new Float64Array();
    for (const listener of [...this.#onTrap]) listener(error);
  }

  #refusal(): HedgerowError {
    if (this.#ended !== undefined) return this.#ended;
    const cause = this.#trap;
    const message = 'the core crashed: try again';
    return new HedgerowError(kindOfError(cause) ?? 'unavailable/crashed', message, { cause });
  }

  /** Calls `listener` when an instance traps or is released; returns a function that stops that. */
  onTrap(listener: (error: HedgerowError) => void): () => void {
    this.#onTrap.add(listener);
    return () => this.#onTrap.delete(listener);
  }

  /** Whether calls are possible: `false` from a trap until `ready` is called. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether the engine has ended for good. */
  get isOver(): boolean {
    return this.#ended !== undefined;
  }

  /** Marks that a new instance is at the stored commit. */
  ready(): void {
    this.#isReady = true;
    this.rebalance();
  }

  /** Marks that a call of a user has succeeded. */
  noteSuccess(): void {
    this.#trapsInARow = 0;
  }

  /** The trap after which no new instance starts. */
  get finalTrap(): HedgerowError | undefined {
    return this.#trapsInARow < FINAL_TRAPS ? undefined : this.#trap;
  }

  /** Changes with each trap: handles and replies of an earlier epoch are invalid. */
  get epoch(): number {
    return this.#firstHandle;
  }

  /** Turns a handle of the core into one for the wrapper, which is unique among all instances. */
  toHandle(handle: number): number {
    return this.#firstHandle + (handle >>> 0);
  }

  /** Returns the core's own number of a handle. Throws if another instance made the handle. */
  own(handle: number): number {
    const own = handle - this.#firstHandle;
    if (own < 0 || own >= HANDLES) throw this.#refusal();
    return own;
  }

  /** The exports of the instance. Throws without one, such as after a trap. */
  get core(): Core {
    if (this.#core === undefined) throw this.#refusal();
    return this.#core;
  }

  /** Makes a call that no caller waits for. After a trap in it the next call throws, not this one. */
  quietly(call: () => void): void {
    const { epoch } = this;
    try {
      call();
    } catch (cause) {
      if (this.#isReady && this.epoch === epoch) throw cause;
    }
  }

  /** Linear memory, valid until the next call. */
  get memory(): Uint8Array {
    const { buffer } = this.core.memory;
    if (this.#bytes.buffer !== buffer) {
      this.#bytes = new Uint8Array(buffer);
      this.#words = new Float64Array(buffer, this.#reply, Size.replyWords);
    }
    return this.#bytes;
  }

  /** Reads the number at `index` in the reply to the last call. */
  word(index: number): number {
    void this.memory;
    return this.#words[index] ?? 0;
  }

  /** Returns the address of a buffer of at least `length` bytes, for the argument of the next call. */
  scratch(length: number): number {
    if (length > this.#scratchLength) {
      this.#scratch = this.core.scratch(length);
      this.#scratchLength = length;
    }
    return this.#scratch;
  }

  /** Copies bytes to the scratch buffer. */
  pass(bytes: Uint8Array): void {
    const at = this.scratch(bytes.length);
    this.memory.set(bytes, at);
  }

  /** Encodes text to the scratch buffer; returns its length in bytes. */
  passText(text: string): number {
    const capacity = text.length * 3;
    const at = this.scratch(capacity);
    return this.encoder.encodeInto(text, this.memory.subarray(at, at + capacity)).written;
  }

  /** Decodes text of the core. */
  decode(bytes: Uint8Array): string {
    return this.#decoder.decode(bytes);
  }

  /** Reads what must be loaded, after `Status.need`. */
  readNeededParts(): (number | NeededPart)[] {
    this.needs += 1;
    const numbers = this.numbers();
    return Array.from({ length: numbers.length / 3 }, (_, at) => {
      const [id = 0, from = 0, to = 0] = numbers.slice(3 * at, 3 * at + 3);
      return to === 0 ? id : { id, from, to: Math.abs(to), isFar: to < 0 };
    });
  }

  /** Reads the numbers in the last reply. */
  numbers(): number[] {
    const { buffer } = this.memory;
    const count = this.word(Reply.numbersCount);
    return [...new Float64Array(buffer, this.word(Reply.numbersAddress), count)];
  }

  /** Copies bytes; `address` and `length` are indexes of words in the last reply. */
  copy(address: number, length: number): Uint8Array {
    const { memory } = this;
    const at = this.word(address);
    return memory.slice(at, at + this.word(length));
  }

  /** Copies the bytes in the last reply. */
  replyBytes(): Uint8Array {
    return this.copy(Reply.bytesAddress, Reply.bytesLength);
  }

  /** Opens a view of a commit and returns a status; then `openedView` returns the view. */
  openView(commitBytes: Uint8Array): number {
    this.pass(commitBytes);
    return this.core.open_view();
  }

  /** Reads the view in the reply to `openView`. */
  openedView(): { view: number; rows: number } {
    return { view: this.toHandle(this.word(Reply.viewHandle)), rows: this.word(Reply.viewRows) };
  }

  /** Closes a view; ignores a view of an earlier instance. */
  closeView(view: number): void {
    if (view < this.#firstHandle) return;
    this.quietly(() => this.core.close_view(this.own(view)));
  }

  /**
   * Returns the exports of the instance and of its later part, which `link` starts. They report traps as the exports of
   * the first part do.
   */
  async linkPart<Part extends object>(
    link: (exports: WebAssembly.Exports) => Promise<Part>,
  ): Promise<Part> {
    const { epoch } = this;
    const raw = this.#raw as Core;
    const part = await link(raw as unknown as WebAssembly.Exports);
    this.own(epoch);
    return guard({ ...raw, ...part }, (error) => this.#handleTrap(error)) as unknown as Part;
  }

  /** Copies bytes to the segment buffer. */
  incoming(bytes: Uint8Array): void {
    const at = this.core.segment_buffer(bytes.length);
    this.memory.set(bytes, at);
  }

  /** Continues an operation for about `budget` bytes of work. */
  step(op: Op, budget: number): number {
    return this.core.step(this.own(op), Math.min(budget, 0x7fff_ffff));
  }

  /** Returns what a scan will need next. Overwrites the reply to its last step. */
  ahead(op: Op): SegmentRequest[] {
    return this.core.ahead(this.own(op)) === Status.need ? this.readNeededParts() : [];
  }

  /** Frees an operation. Unless it is `committed`, an ingest forgets its segments. */
  free(op: Op, committed = true): void {
    if (op < this.#firstHandle) return;
    this.quietly(() => this.core.free(this.own(op), committed ? 1 : 0));
  }

  /** Copies the hash whose address is at `index` in the last reply. */
  hash(index: number): Uint8Array {
    const { memory } = this;
    const at = this.word(index);
    return memory.slice(at, at + 32);
  }
}
