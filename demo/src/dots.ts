const NEWLINE = 10;
const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const BRACE = 125;

/** Bytes of a line's end that hold both coordinates, and more. */
const END_BYTES = 64;

/** The text between the two numbers. */
const BETWEEN = ',"lng":'.length;

/** Lines between two looks at the clock. */
const LINES = 128;

/**
 * Reads the places of cities off the bytes of their rows as they pass: no row becomes a string or an object.
 * `prepare.mjs` writes both coordinates at the end of every row,
 *
 *     {"id":…,"lat":48.85341,"lng":2.3488}
 *
 * so the reader takes them from the end of each line backwards.
 */
export class DotReader {
  readonly #onDot: (lat: number, lng: number) => void;
  readonly #parts: Uint8Array[] = [];
  /** The number of bytes read of the first part. */
  #at = 0;
  /** The end of the part before, which may hold a line's last bytes. */
  #before = new Uint8Array(0);
  /** The index before the number that `#number` read. */
  #left = 0;

  constructor(onDot: (lat: number, lng: number) => void) {
    this.#onDot = onDot;
  }

  /** Keeps a part of the bytes, to read it later. */
  add(part: Uint8Array): void {
    this.#parts.push(part);
  }

  /** Whether all added bytes were read. */
  get isDone(): boolean {
    return this.#parts.length === 0;
  }

  /** Reads the added bytes, until the clock shows `deadlineMs`. */
  read(deadlineMs: number): void {
    for (;;) {
      const part = this.#parts[0];
      if (part === undefined || performance.now() >= deadlineMs) return;
      if (this.#readLines(part)) continue;
      this.#before = part.slice(-END_BYTES);
      this.#parts.shift();
      this.#at = 0;
    }
  }

  /** Reads some lines of a part; `false` at its end. */
  #readLines(part: Uint8Array): boolean {
    for (let lines = 0; lines < LINES; lines++) {
      const end = part.indexOf(NEWLINE, this.#at);
      if (end < 0) return false;
      if (end < END_BYTES && this.#at === 0) this.#readJoined(part, end);
      else this.#readEnd(part, end);
      this.#at = end + 1;
    }
    return true;
  }

  /** Reads a line that may have begun in the part before. */
  #readJoined(part: Uint8Array, end: number): void {
    const joined = new Uint8Array(this.#before.length + end);
    joined.set(this.#before);
    joined.set(part.subarray(0, end), this.#before.length);
    this.#readEnd(joined, joined.length);
  }

  /** Reads both numbers before a line's end. The store refuses lines without them. */
  #readEnd(bytes: Uint8Array, end: number): void {
    if (bytes[end - 1] !== BRACE) return;
    const lng = this.#number(bytes, end - 1);
    const lat = this.#number(bytes, this.#left - BETWEEN);
    if (!Number.isNaN(lat) && !Number.isNaN(lng)) this.#onDot(lat, lng);
  }

  /** Reads the decimal number that ends before `end`; `NaN` when there is no number. */
  #number(bytes: Uint8Array, end: number): number {
    let [digits, unit, divisor, at] = [0, 1, 1, end - 1];
    for (; at >= 0; at--) {
      const byte = bytes[at] as number;
      if (byte === POINT) {
        divisor = unit;
        continue;
      }
      const digit = byte - ZERO;
      if (digit < 0 || digit > 9) break;
      digits += digit * unit;
      unit *= 10;
    }
    const isNegative = bytes[at] === MINUS;
    this.#left = isNegative ? at : at + 1;
    if (unit === 1) return Number.NaN;
    return (isNegative ? -digits : digits) / divisor;
  }
}
