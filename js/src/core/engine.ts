import * as Reply from '../base/abi/reply.js';
import * as Size from '../base/abi/size.js';
import * as Status from '../base/abi/status.js';
import { HedgerowError } from '../base/errors.js';
import { type Core, guard, refuse } from './guard.js';
import { instantiate } from './module.js';

/** An operation under way in the core. */
export type Op = number;

/** Handles of an instance are above those of all before it. */
const HANDLES = 2 ** 32;

/** So many traps without a successful call in between are final. */
const FINAL_TRAPS = 2;

/**
 * Owns one instance of the core: its life, its memory and its handles. `calls/` has what is asked of
 * it. Everything but the start is synchronous; `host.ts` adds time and storage.
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
  /** Called when another instance has started, which knows nothing yet. */
  onStart: () => void = () => {};
  /** Bytes that a character of the last blocks took: see `calls/ingest.ts`. */
  bytesPerUnit = 1;
  readonly encoder = new TextEncoder();
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #bytes = new Uint8Array();
  #words = new Float64Array();
  #scratch = 0;
  #scratchLength = 0;

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
    this.onStart();
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
    const message = 'the core crashed meanwhile: try again';
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

  /** The exports of the instance. They throw once that has trapped. */
  get core(): Core {
    return this.#core;
  }

  /** For what nobody waits for: the next call is told of a trap. */
  quietly(call: () => void): void {
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
      this.#words = new Float64Array(buffer, this.#reply, Size.replyWords);
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

  /** The address of a buffer of at least `length` bytes for the argument of the next call. */
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

  /** Text of which the core has given bytes. */
  decode(bytes: Uint8Array): string {
    return this.#decoder.decode(bytes);
  }

  /** The doubles that the last reply tells of: the ids of segments, after `Status.need`. */
  needed(): number[] {
    const { buffer } = this.memory;
    const count = this.word(Reply.numbersCount);
    return [...new Float64Array(buffer, this.word(Reply.numbersAddress), count)];
  }

  /** A copy of bytes whose address and length are at these places of the last reply. */
  copy(address: number, length: number): Uint8Array {
    const { memory } = this;
    const at = this.word(address);
    return memory.slice(at, at + this.word(length));
  }

  /** A copy of the bytes that the last reply tells of. */
  replyBytes(): Uint8Array {
    return this.copy(Reply.bytesAddress, Reply.bytesLength);
  }

  /** Opens a view of a commit; `openedView` then tells of it. */
  openView(commitBytes: Uint8Array): number {
    this.pass(commitBytes);
    return this.#core.open_view();
  }

  /** The view that was opened. */
  openedView(): { view: number; rows: number } {
    return { view: this.given(this.word(Reply.viewHandle)), rows: this.word(Reply.viewRows) };
  }

  /** Closes a view. */
  closeView(view: number): void {
    if (view < this.#firstHandle) return;
    this.quietly(() => this.#core.close_view(this.own(view)));
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
    this.quietly(() => this.#core.free(this.own(op), committed ? 1 : 0));
  }

  /** The hash whose address is in the reply at `index`. */
  hash(index: number): Uint8Array {
    const { memory } = this;
    const at = this.word(index);
    return memory.slice(at, at + 32);
  }
}
