import * as Reply from '../base/abi/reply.js';
import * as Size from '../base/abi/size.js';
import * as Status from '../base/abi/status.js';
import { HedgerowError } from '../base/errors.js';
import type { SegmentRequest } from '../storage/segment-store.js';
import { blockExports, type Core, guard } from './guard.js';
import { instantiate } from './module.js';
import type { NeededPart } from './needed-part.js';
import { leave, rebalance } from './shared-cache.js';

/** The handle of an operation in the core. */
export type Op = number;

/** The distance between the handles of one instance and the next: no handle is used twice. */
const HANDLES = 2 ** 32;

/** This many traps without a successful call in between close the store. */
const FINAL_TRAPS = 2;

/**
 * Owns one instance of the core: its lifetime, its memory and its handles. `calls/` has the calls.
 * Everything except the start is synchronous; `host.ts` adds time and storage.
 *
 * An instance that traps is dropped at once, with all its memory. From then on its handles are
 * refused. `history/branch-head.ts` starts another one and moves it to the stored commit.
 *
 * Make new views of linear memory after every call that may grow it. Bytes that leave the core are
 * copied.
 */
export class Engine {
  readonly #onTrap = new Set<(error: HedgerowError) => void>();
  /** Whether its cache is a part of the page's. */
  readonly #isShared: boolean;
  #cacheBytes: number;
  #requestCost: number | undefined;
  #core: Core;
  /** The exports as they were instantiated, without the guard. */
  #raw: Core;
  #reply = 0;
  #firstHandle = 0;
  #isReady = false;
  #trap: HedgerowError | undefined;
  #trapsInARow = 0;
  #ended: HedgerowError | undefined;
  /** Called when a new instance has started, which has no state yet. */
  onStart: () => void = () => {};
  /** Bytes for each UTF-16 unit of text to reserve for the next block: see `calls/ingest-calls.ts`. */
  bytesPerUnit = 1;
  readonly encoder = new TextEncoder();
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #bytes = new Uint8Array();
  #words = new Float64Array();
  #scratch = 0;
  #scratchLength = 0;

  private constructor(core: Core, cacheBytes: number | undefined) {
    this.#isShared = cacheBytes === undefined;
    this.#cacheBytes = cacheBytes ?? 0;
    this.#core = core;
    this.#raw = core;
    this.#start(core);
    this.#isReady = true;
  }

  /** Starts an engine that caches about `cacheBytes` of stored segments, or its share of the page's cache. */
  static async create(cacheBytes?: number): Promise<Engine> {
    const engine = new Engine(await instantiate(), cacheBytes);
    engine.rebalance();
    return engine;
  }

  /** Shares the page's cache anew: this engine has read. */
  rebalance(): void {
    if (this.#isShared) rebalance(this);
  }

  /** Fits the cache to so many bytes; returns those that it holds then. */
  fitCache(bytes: number): number {
    this.#cacheBytes = bytes;
    return this.#isReady ? this.#core.fit_cache(bytes) : 0;
  }

  /** Says what a request to storage costs: see `SegmentStore.requestCost`. */
  setRequestCost(bytes: number): void {
    this.#requestCost = bytes;
    this.#core.set_request_cost(bytes);
  }

  /** Starts a new instance after a trap. It has no state yet. */
  async restart(): Promise<void> {
    if (this.#ended !== undefined) throw this.#ended;
    this.#start(await instantiate());
  }

  #start(core: Core): void {
    this.#raw = core;
    this.#core = guard(core, (error) => this.#handleTrap(error));
    this.#scratchLength = 0;
    // A secret seed for the core's hash tables: others may choose the keys.
    const [a = 0, b = 0, c = 0, d = 0] = crypto.getRandomValues(new Uint32Array(4));
    this.#reply = this.#core.start(this.#cacheBytes, a, b, c, d);
    if (this.#requestCost !== undefined) this.#core.set_request_cost(this.#requestCost);
    this.onStart();
  }

  #handleTrap(error: HedgerowError): void {
    this.#trap = error;
    this.#trapsInARow += 1;
    this.#drop(error);
  }

  /**
   * Lets go of the instance and of its memory, for good: who keeps a closed store does not keep these. Each call
   * from now on is refused with `reason`.
   */
  end(reason: HedgerowError): void {
    this.#ended = reason;
    leave(this);
    this.#drop(reason);
  }

  #drop(error: HedgerowError): void {
    this.#isReady = false;
    this.#firstHandle += HANDLES;
    this.#core = blockExports(this.#core, () => this.#refusal());
    this.#raw = this.#core;
    this.#bytes = new Uint8Array();
    this.#words = new Float64Array();
    for (const listener of [...this.#onTrap]) listener(error);
  }

  #refusal(): HedgerowError {
    if (this.#ended !== undefined) return this.#ended;
    const cause = this.#trap;
    const message = 'the core crashed meanwhile: try again';
    return new HedgerowError(cause?.code ?? 'crashed', message, { cause });
  }

  /** Calls `listener` when an instance traps or is let go; returns a function that stops that. */
  onTrap(listener: (error: HedgerowError) => void): () => void {
    this.#onTrap.add(listener);
    return () => this.#onTrap.delete(listener);
  }

  /** Whether calls are possible: `false` from a trap until `ready` is called. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether it was let go for good. */
  get isOver(): boolean {
    return this.#ended !== undefined;
  }

  /** Call it when a new instance is at the stored commit. */
  ready(): void {
    this.#isReady = true;
  }

  /** Call it when a call of a user has succeeded. */
  noteSuccess(): void {
    this.#trapsInARow = 0;
  }

  /** The trap after which no new instance is started. */
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

  /** The core's own number of a handle. Throws if it is of an earlier instance. */
  own(handle: number): number {
    if (handle < this.#firstHandle) throw this.#refusal();
    return handle - this.#firstHandle;
  }

  /** The exports of the instance. They throw once it has trapped. */
  get core(): Core {
    return this.#core;
  }

  /** Makes a call that no caller waits for. A trap in it is not thrown here, but by the next call. */
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
    const { buffer } = this.#core.memory;
    if (this.#bytes.buffer !== buffer) {
      this.#bytes = new Uint8Array(buffer);
      this.#words = new Float64Array(buffer, this.#reply, Size.replyWords);
    }
    return this.#bytes;
  }

  /** The size of linear memory in bytes. */
  get memoryBytes(): number {
    return this.#core.memory.buffer.byteLength;
  }

  /** The number at `index` in the reply to the last call. */
  word(index: number): number {
    void this.memory;
    return this.#words[index] ?? 0;
  }

  /** The address of a buffer of at least `length` bytes, for the argument of the next call. */
  scratch(length: number): number {
    if (length > this.#scratchLength) {
      this.#scratch = this.#core.scratch(length);
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
    const room = text.length * 3;
    const at = this.scratch(room);
    return this.encoder.encodeInto(text, this.memory.subarray(at, at + room)).written;
  }

  /** Decodes text of the core. */
  decode(bytes: Uint8Array): string {
    return this.#decoder.decode(bytes);
  }

  /** After `Status.need`: what must be loaded. */
  readNeededParts(): (number | NeededPart)[] {
    const numbers = this.numbers();
    return Array.from({ length: numbers.length / 3 }, (_, at) => {
      const [id = 0, from = 0, to = 0] = numbers.slice(3 * at, 3 * at + 3);
      return to === 0 ? id : { id, from, to: Math.abs(to), isFar: to < 0 };
    });
  }

  /** The numbers in the last reply. */
  numbers(): number[] {
    const { buffer } = this.memory;
    const count = this.word(Reply.numbersCount);
    return [...new Float64Array(buffer, this.word(Reply.numbersAddress), count)];
  }

  /** A copy of bytes; `address` and `length` are indexes of words in the last reply. */
  copy(address: number, length: number): Uint8Array {
    const { memory } = this;
    const at = this.word(address);
    return memory.slice(at, at + this.word(length));
  }

  /** A copy of the bytes in the last reply. */
  replyBytes(): Uint8Array {
    return this.copy(Reply.bytesAddress, Reply.bytesLength);
  }

  /** Opens a view of a commit and returns a status; then `openedView` has the view. */
  openView(commitBytes: Uint8Array): number {
    this.pass(commitBytes);
    return this.#core.open_view();
  }

  /** The view in the reply to `openView`. */
  openedView(): { view: number; rows: number } {
    return { view: this.toHandle(this.word(Reply.viewHandle)), rows: this.word(Reply.viewRows) };
  }

  /** Closes a view; does nothing for one of an earlier instance. */
  closeView(view: number): void {
    if (view < this.#firstHandle) return;
    this.quietly(() => this.#core.close_view(this.own(view)));
  }

  /**
   * The exports of the instance and of its later part, which `link` starts. They report traps like
   * those of the first part.
   */
  async linkPart<Part extends object>(
    link: (exports: WebAssembly.Exports) => Promise<Part>,
  ): Promise<Part> {
    const { epoch } = this;
    const part = await link(this.#raw as unknown as WebAssembly.Exports);
    this.own(epoch);
    return guard({ ...this.#raw, ...part }, (error) => this.#handleTrap(error)) as unknown as Part;
  }

  /** Copies bytes to the segment buffer. */
  incoming(bytes: Uint8Array): void {
    const at = this.#core.segment_buffer(bytes.length);
    this.memory.set(bytes, at);
  }

  /** Continues an operation for about `budget` bytes of work. */
  step(op: Op, budget: number): number {
    return this.#core.step(this.own(op), Math.min(budget, 0x7fff_ffff));
  }

  /** What a scan will need next. Overwrites the reply to its last step. */
  ahead(op: Op): SegmentRequest[] {
    return this.#core.ahead(this.own(op)) === Status.need ? this.readNeededParts() : [];
  }

  /** Frees an operation. Unless it is `committed`, an ingest forgets its segments. */
  free(op: Op, committed = true): void {
    if (op < this.#firstHandle) return;
    this.quietly(() => this.#core.free(this.own(op), committed ? 1 : 0));
  }

  /** A copy of the hash whose address is at `index` in the last reply. */
  hash(index: number): Uint8Array {
    const { memory } = this;
    const at = this.word(index);
    return memory.slice(at, at + 32);
  }
}
