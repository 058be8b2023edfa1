/** Cuts bytes that arrive in parts, NDJSON or one JSON array, into rows: as the core does for plain tables. */

import type { ByteFormat } from '../../base/byte-source.js';
import { HedgerowError } from '../../base/errors.js';
import { MAX_ROW_TEXT_BYTES } from '../../base/limits.js';
import { addElement, addElements, addLines, afterSpaces, Code, NoJson } from './parse-json-rows.js';

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/**
 * The part of the source that comes next. Before the rows there are a byte order mark, and the first two bytes, which
 * show the format.
 */
type CutterState = 'mark' | 'first' | 'second' | 'lines' | 'array' | 'end';

/** A cutter of bytes into rows. */
export class JsonRowSplitter {
  readonly #format: ByteFormat | undefined;
  readonly #mostBytes: number;
  #place: CutterState = 'mark';
  #marks = 0;
  #hasFeed = false;
  /** The bytes of the next row so far. */
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  /** Of an array: the number of brackets around the next byte, with its own; whether it is in a string, and escaped. */
  #depth = 1;
  #isInString = false;
  #isEscaped = false;
  #hasElement = false;
  /** The number of rows taken. */
  #taken = 0;
  /** Rows to take. */
  #rows: unknown[] = [];
  /** The fault after these rows. */
  #fault: HedgerowError | undefined;

  constructor(format: ByteFormat | undefined, mostBytes = MAX_ROW_TEXT_BYTES) {
    this.#format = format;
    this.#mostBytes = mostBytes;
  }

  /**
   * Returns the rows that have ended since the last call. Throws `invalid-data/row` after the rows before a malformed
   * one.
   */
  take(): unknown[] {
    const rows = this.#rows;
    if (rows.length === 0 && this.#fault !== undefined) throw this.#fault;
    this.#rows = [];
    this.#taken += rows.length;
    return rows;
  }

  /** Adds bytes, which may be changed after the call. */
  add(bytes: Uint8Array): void {
    this.#cut(() => {
      const at = this.#start(bytes);
      if (this.#place === 'lines') this.#addLines(bytes, at);
      else if (this.#place === 'array') this.#addElements(bytes, at);
      else if (this.#place === 'end' && afterSpaces(bytes, at) < bytes.length) throw new NoJson();
    });
  }

  /** Takes the end of the bytes. */
  end(): void {
    this.#cut(() => {
      const rest = this.#joined(new Uint8Array());
      if (this.#place === 'lines') addLines(rest, this.#rows);
      else if (this.#place === 'array') {
        // The last row of the array may be complete.
        if (afterSpaces(rest, 0) < rest.length) addElement(rest, this.#rows);
        throw new NoJson();
      } else if (this.#place === 'second' || this.#isInMark) throw new NoJson();
    });
  }

  get #isInMark(): boolean {
    return this.#place === 'mark' && this.#marks > 0;
  }

  #cut(work: () => void): void {
    if (this.#fault !== undefined) return;
    try {
      work();
    } catch (cause) {
      if (!(cause instanceof NoJson)) throw cause;
      this.#refuse(cause.what, cause.cause);
    }
  }

  #refuse(what: string, cause?: unknown): void {
    const row = this.#taken + this.#rows.length;
    this.#fault = new HedgerowError('invalid-data/row', `row ${row}: ${what}`, { row, cause });
  }

  /** Finds the format of the bytes, if it is not known yet; returns where they go on. */
  #start(bytes: Uint8Array): number {
    let at = 0;
    if (this.#place === 'mark') {
      while (at < bytes.length && bytes[at] === BYTE_ORDER_MARK[this.#marks]) {
        at += 1;
        this.#marks += 1;
      }
      if (at === bytes.length && this.#marks < 3) return at;
      if (this.#marks % 3 > 0) throw new NoJson();
      this.#place = 'first';
    }
    if (this.#place === 'first') {
      at = afterSpaces(bytes, at);
      if (at === bytes.length) return at;
      const isList = bytes[at] === Code.openList;
      if (this.#format === 'json' && !isList) throw new NoJson();
      if (this.#format === 'ndjson' || !isList) this.#place = 'lines';
      else {
        at += 1;
        this.#place = this.#format === 'json' ? 'array' : 'second';
      }
    }
    if (this.#place === 'second') {
      const from = at;
      at = afterSpaces(bytes, at);
      this.#hasFeed ||= bytes.subarray(from, at).includes(Code.feed);
      const second = bytes[at];
      if (second === undefined) return at;
      const isArray = second === Code.open || second === Code.openList || second === Code.closeList;
      this.#place = isArray ? 'array' : 'lines';
      // A list of other values is the row of the first line.
      if (!isArray && this.#hasFeed) throw new NoJson();
      if (!isArray) this.#hold(Uint8Array.of(Code.openList), 0);
    }
    return at;
  }

  #hold(bytes: Uint8Array, at: number): void {
    const from = this.#heldBytes > 0 ? at : afterSpaces(bytes, at);
    if (from === bytes.length) return;
    // A copy: sources use their buffers again.
    this.#held.push(new Uint8Array(bytes.subarray(from)));
    this.#heldBytes += bytes.length - from;
    if (this.#heldBytes <= this.#mostBytes) return;
    this.#held = [];
    this.#refuse('the value is larger than 64 MiB');
  }

  /** Returns the held bytes, with the bytes that follow. */
  #joined(bytes: Uint8Array): Uint8Array {
    if (this.#held.length === 0) return bytes;
    const all = new Uint8Array(this.#heldBytes + bytes.length);
    let at = 0;
    for (const part of this.#held) {
      all.set(part, at);
      at += part.length;
    }
    all.set(bytes, at);
    this.#held = [];
    this.#heldBytes = 0;
    return all;
  }

  #addLines(bytes: Uint8Array, from: number): void {
    const end = bytes.lastIndexOf(Code.feed) + 1;
    if (end > from) addLines(this.#joined(bytes.subarray(from, end)), this.#rows);
    this.#hold(bytes, Math.max(from, end));
  }

  #addElements(bytes: Uint8Array, from: number): void {
    let [depth, isInString] = [this.#depth, this.#isInString];
    /** The number of elements that end here, and where the last one ends. */
    let count = 0;
    let end = -1;
    let at = this.#isEscaped ? from + 1 : from;
    for (; at < bytes.length && depth > 0; at++) {
      const code = bytes[at];
      if (isInString) {
        if (code === Code.backslash) at += 1;
        else if (code === Code.quote) isInString = false;
        continue;
      }
      switch (code) {
        case Code.quote:
          isInString = true;
          break;
        case Code.open:
        case Code.openList:
          depth += 1;
          break;
        case Code.close:
        case Code.closeList:
          depth -= 1;
          break;
        case Code.comma:
          if (depth > 1) break;
          count += 1;
          end = at;
      }
    }
    this.#isEscaped = at > bytes.length;
    this.#depth = depth;
    this.#isInString = isInString;
    if (depth === 0) {
      this.#endArray(bytes, from, at, count);
      return;
    }
    if (count > 0) {
      this.#hasElement = true;
      addElements(this.#joined(bytes.subarray(from, end)), count, this.#rows);
    }
    this.#hold(bytes, Math.max(from, end + 1));
  }

  /** Adds the last elements; `count` of them are before a comma. */
  #endArray(bytes: Uint8Array, from: number, after: number, count: number): void {
    const last = this.#joined(bytes.subarray(from, after - 1));
    const isEmpty = count === 0 && !this.#hasElement && afterSpaces(last, 0) === last.length;
    if (!isEmpty) addElements(last, count + 1, this.#rows);
    this.#place = 'end';
    if (bytes[after - 1] !== Code.closeList) throw new NoJson();
    if (afterSpaces(bytes, after) < bytes.length) throw new NoJson();
  }
}
