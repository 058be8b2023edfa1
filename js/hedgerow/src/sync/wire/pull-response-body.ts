/**
 * Reads the body of a pull as it arrives. It hands on the operations of the patch as they are, in parts, keeps all
 * else, within a limit, and parses that at the end. The receiver of the patch checks its content.
 */
import { HedgerowError, isRefusal } from '../../base/errors.js';
import { turn } from '../../base/slice-queue.js';

/** The most bytes of all members but the patch. */
const MAX_KEPT_BYTES = 1 << 20;
/** Bytes that one slice reads. */
const PART_BYTES = 256 << 10;

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const isSpace = (byte: number): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

const MALFORMED = 'it sent malformed JSON';
export const PAGE = 'it sent a page, not JSON';

/** Makes the error for a malformed response. */
export function badResponse(what: string, cause?: unknown): HedgerowError {
  return new HedgerowError('remote/response', `the server: ${what}`, { cause, status: 200 });
}

/** Makes the error for an answer that reports a failure in its body: `error`, `errors` as of GraphQL, `ok: false`. */
export function failureIn(members: Readonly<Record<string, unknown>>): HedgerowError | undefined {
  const { error, errors, ok } = members;
  const said = error ?? errors ?? (ok === false ? { ok } : undefined);
  return said === undefined ? undefined : badResponse(`it answers ${JSON.stringify(said)}`);
}

/** Returns the error of a patch that was not taken: a malformed patch is a fault of the server. */
export function patchFault(cause: unknown): unknown {
  return isRefusal(cause) ? badResponse(`its patch: ${cause.message}`, cause) : cause;
}

/** The end of the kept bytes where a patch begins, and the most bytes of that end. */
const BEFORE_PATCH = /[{,]\s*"patch"\s*:\s*$/;
const BEFORE_PATCH_BYTES = 64;

export class PullBody {
  readonly #parts: AsyncIterable<Uint8Array>;
  readonly #clears: boolean;
  #members: Readonly<Record<string, unknown>> = {};
  /** Skipped bytes of a byte order mark. */
  #marks = 0;
  #isText = false;
  #isEscaped = false;
  #depth = 0;
  #isPatch = false;
  /** Whether the patch has no operation yet, except one that was put before it. */
  #isFirst = true;
  #hasPatch = false;
  /** All bytes but the content of the patch. */
  readonly #kept: number[] = [];

  /** With `clears`, an operation that deletes all rows comes before the patch. */
  constructor(parts: AsyncIterable<Uint8Array>, clears: boolean) {
    this.#parts = parts;
    this.#clears = clears;
  }

  /** Returns a member, once the patch was read. */
  member(name: string): unknown {
    return Object.hasOwn(this.#members, name) ? this.#members[name] : undefined;
  }

  get hasPatch(): boolean {
    return this.#hasPatch;
  }

  /** Yields the patch, as the bytes of a JSON array. */
  async *patch(): AsyncGenerator<Uint8Array, void, void> {
    yield new TextEncoder().encode(this.#clears ? '[{"op":"clear"}' : '[');
    for await (const whole of this.#parts) {
      // Some platforms hand over a body as one part: this cuts it as others would.
      for (let from = 0; from < whole.length; from += PART_BYTES) {
        if (from > 0) await turn();
        const bytes = whole.subarray(from, from + PART_BYTES);
        for (let at = 0; at < bytes.length; ) {
          const start = at;
          const wasPatch = this.#isPatch;
          at = this.#step(bytes, at);
          if (wasPatch) yield* this.#patchPart(bytes.subarray(start, at));
        }
      }
    }
    this.#parse();
    if (!this.#hasPatch) yield Uint8Array.of(CLOSE_LIST);
  }

  /** Yields bytes of the patch after its bracket; a comma comes first if another operation was put there. */
  *#patchPart(bytes: Uint8Array): Generator<Uint8Array, void, void> {
    if (this.#isFirst) {
      const byte = bytes.find((one) => !isSpace(one));
      if (byte === undefined) return;
      this.#isFirst = false;
      if (this.#clears && byte !== CLOSE_LIST) yield Uint8Array.of(COMMA);
    }
    yield bytes;
  }

  /** Takes bytes from `from` on, up to where a patch begins or ends, and returns that place. */
  #step(bytes: Uint8Array, from: number): number {
    // Most bytes are of a patch, so the loop has only locals.
    let [isText, isEscaped, depth, at] = [this.#isText, this.#isEscaped, this.#depth, from];
    const isPatch = this.#isPatch;
    const { length } = bytes;
    let isOver = false;
    while (at < length && !isOver) {
      const byte = bytes[at++] as number;
      if (!isPatch) this.#keep(byte);
      if (isText) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isText = false;
      } else if (byte === QUOTE) isText = true;
      else if (byte === OPEN || byte === OPEN_LIST) {
        depth += 1;
        isOver = !isPatch && depth === 2 && byte === OPEN_LIST && this.#beginsPatch();
      } else if (byte === CLOSE || byte === CLOSE_LIST) {
        depth -= 1;
        isOver = isPatch && depth === 1;
      }
    }
    [this.#isText, this.#isEscaped, this.#depth] = [isText, isEscaped, depth];
    if (isOver) this.#isPatch = !isPatch;
    if (isOver && isPatch) this.#keep(CLOSE_LIST);
    return at;
  }

  #keep(byte: number): void {
    const kept = this.#kept;
    if (kept.length === 0) {
      if (byte === BYTE_ORDER_MARK[this.#marks]) {
        this.#marks += 1;
        return;
      }
      const isMarkOver = this.#marks % BYTE_ORDER_MARK.length === 0;
      // A mark comes first of all.
      if (isMarkOver) this.#marks = BYTE_ORDER_MARK.length;
      if (isMarkOver && isSpace(byte)) return;
      if (byte !== OPEN || !isMarkOver) throw badResponse(byte === 0x3c ? PAGE : MALFORMED);
    }
    if (kept.length === MAX_KEPT_BYTES) {
      throw badResponse(`more than ${MAX_KEPT_BYTES} bytes beside the patch`);
    }
    kept.push(byte);
  }

  /** Returns whether the last kept bracket begins the patch. */
  #beginsPatch(): boolean {
    if (!BEFORE_PATCH.test(String.fromCharCode(...this.#kept.slice(-BEFORE_PATCH_BYTES, -1)))) {
      return false;
    }
    if (this.#hasPatch) throw badResponse('it sent two patches');
    this.#hasPatch = true;
    return true;
  }

  #parse(): void {
    if (this.#depth > 0) throw badResponse('its answer is cut off');
    try {
      const text = new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(this.#kept));
      this.#members = JSON.parse(text);
    } catch (cause) {
      throw badResponse(MALFORMED, cause);
    }
  }
}
