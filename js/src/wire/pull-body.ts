/**
 * Reads the body of a pull as it arrives. The operations of its patch are handed on as they are, in parts; the other
 * members are kept, within a limit. What is inside of the patch is checked by who takes it.
 */
import { HedgerowError } from '../base/errors.js';
import { turn } from '../base/scheduler.js';

/** Most bytes of all members but the patch. */
const MAX_KEPT_BYTES = 1 << 20;
/** Bytes that are looked at in one slice. */
const PART_BYTES = 256 << 10;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];
const isSpace = (byte: number): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

const MALFORMED = 'it sent malformed JSON';
export const PAGE = 'it sent a page, not JSON';

/** A response that is none. */
export function badResponse(what: string, cause?: unknown): HedgerowError {
  return new HedgerowError('bad-response', `the server: ${what}`, { cause, status: 200 });
}

/** What is thrown for what was thrown while a patch was taken: one that is malformed is a fault of the server. */
export function patchFault(cause: unknown): unknown {
  const isFault = cause instanceof HedgerowError && cause.code.startsWith('invalid-');
  return isFault ? badResponse(`its patch: ${cause.message}`, cause) : cause;
}

type Expected = 'object' | 'name or end' | 'name' | 'colon' | 'value' | 'comma or end' | 'nothing';

export class PullBody {
  readonly #parts: AsyncIterable<Uint8Array>;
  readonly #clears: boolean;
  readonly #members = new Map<string, unknown>();
  #awaits: Expected = 'object';
  #name: string | undefined;
  /** What is inside of a name or a value. */
  #isInside = false;
  #isText = false;
  #isEscaped = false;
  #depth = 0;
  #isPatch = false;
  /** Whether the patch has nothing yet but what was put before it. */
  #isFirst = false;
  #hasPatch = false;
  #kept: number[] = [];
  #keptBytes = 0;

  /** With `clears`, an operation that deletes all rows comes before those of the patch. */
  constructor(parts: AsyncIterable<Uint8Array>, clears: boolean) {
    this.#parts = parts;
    this.#clears = clears;
  }

  /** A member, once the patch was read. */
  member(name: string): unknown {
    return this.#members.get(name);
  }

  get hasPatch(): boolean {
    return this.#hasPatch;
  }

  /** The patch, as the bytes of a JSON array. */
  async *patch(): AsyncGenerator<Uint8Array, void, void> {
    const clear = new TextEncoder().encode(this.#clears ? '[{"op":"clear"}' : '[');
    for await (const whole of this.#parts) {
      // Some platforms hand over a body as one part: it is taken as others would cut it.
      for (let from = 0; from < whole.length; from += PART_BYTES) {
        if (from > 0) await turn();
        const bytes = whole.subarray(from, from + PART_BYTES);
        for (let at = 0; at < bytes.length; ) {
          const start = at;
          const wasInPatch = this.#isPatch && this.#isInside;
          at = this.#step(bytes, at);
          if (wasInPatch) yield* this.#patchPart(bytes.subarray(start, at));
          else if (this.#isPatch && this.#isInside) {
            this.#isFirst = true;
            yield clear;
          }
        }
      }
    }
    if (this.#awaits !== 'nothing') throw badResponse('its answer is cut off');
    if (!this.#hasPatch) {
      yield clear;
      yield Uint8Array.of(CLOSE_LIST);
    }
  }

  /** Bytes of the patch after its bracket. A comma is missing before the first operation if another one was put there. */
  *#patchPart(bytes: Uint8Array): Generator<Uint8Array, void, void> {
    if (this.#isFirst) {
      const byte = bytes.find((one) => !isSpace(one));
      if (byte === undefined) return;
      this.#isFirst = false;
      if (this.#clears && byte !== CLOSE_LIST) yield Uint8Array.of(COMMA);
    }
    yield bytes;
  }

  /** Takes bytes from `at` on, as far as they are of one kind, and returns where they end. */
  #step(bytes: Uint8Array, at: number): number {
    if (this.#isInside) return this.#inside(bytes, at);
    const byte = bytes[at] as number;
    if (isSpace(byte)) return at + 1;
    const refuse = (): never => {
      const what = byte === 0x3c ? PAGE : MALFORMED;
      throw badResponse(what);
    };
    switch (this.#awaits) {
      case 'object':
        if (byte !== OPEN) refuse();
        this.#awaits = 'name or end';
        return at + 1;
      case 'name or end':
      case 'name':
        if (byte === CLOSE && this.#awaits === 'name or end') this.#awaits = 'nothing';
        else if (byte === QUOTE) this.#begin(byte);
        else refuse();
        return at + 1;
      case 'colon':
        if (byte !== COLON) refuse();
        this.#awaits = 'value';
        return at + 1;
      case 'value':
        this.#isPatch = this.#name === 'patch';
        if (this.#isPatch && (byte !== OPEN_LIST || this.#hasPatch)) refuse();
        this.#hasPatch ||= this.#isPatch;
        this.#begin(byte);
        return at + 1;
      case 'comma or end':
        if (byte === COMMA) this.#awaits = 'name';
        else if (byte === CLOSE) this.#awaits = 'nothing';
        else refuse();
        return at + 1;
      case 'nothing':
        return refuse();
    }
  }

  #begin(byte: number): void {
    this.#isInside = true;
    this.#isText = byte === QUOTE;
    this.#depth = byte === OPEN || byte === OPEN_LIST ? 1 : 0;
    this.#keep(byte);
  }

  #keep(byte: number): void {
    if (this.#isPatch) return;
    if (++this.#keptBytes > MAX_KEPT_BYTES) {
      throw badResponse(`more than ${MAX_KEPT_BYTES} bytes beside the patch`);
    }
    this.#kept.push(byte);
  }

  /** Goes on in a name or a value. */
  #inside(bytes: Uint8Array, from: number): number {
    let [isText, isEscaped, depth] = [this.#isText, this.#isEscaped, this.#depth];
    let at = from;
    let isOver = false;
    const isPatch = this.#isPatch;
    for (; at < bytes.length && !isOver; at++) {
      const byte = bytes[at] as number;
      if (isText) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) {
          isText = false;
          isOver = depth === 0;
        }
      } else if (byte === QUOTE) isText = true;
      else if (byte === OPEN || byte === OPEN_LIST) depth += 1;
      else if (byte === CLOSE || byte === CLOSE_LIST) {
        // Of a number or a word, which nothing closes, this is what comes after it.
        if (depth === 0) break;
        depth -= 1;
        isOver = depth === 0;
      } else if (depth === 0 && (byte === COMMA || isSpace(byte))) break;
      if (!isPatch) this.#keep(byte);
    }
    [this.#isText, this.#isEscaped, this.#depth] = [isText, isEscaped, depth];
    if (isOver || at < bytes.length) this.#end();
    return at;
  }

  #end(): void {
    this.#isInside = false;
    if (this.#isPatch) {
      this.#isPatch = false;
      this.#awaits = 'comma or end';
      this.#name = undefined;
      return;
    }
    const value = this.#parsed();
    if (this.#name === undefined) {
      this.#name = value as string;
      this.#awaits = 'colon';
      return;
    }
    if (this.#members.has(this.#name)) {
      throw badResponse('a member comes twice');
    }
    this.#members.set(this.#name, value);
    this.#name = undefined;
    this.#awaits = 'comma or end';
  }

  #parsed(): unknown {
    const bytes = Uint8Array.from(this.#kept);
    this.#kept = [];
    try {
      return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    } catch (cause) {
      throw badResponse(MALFORMED, cause);
    }
  }
}
