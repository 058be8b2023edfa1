/** Reads and writes the fields of objects of a remote, and refuses bytes that no writer makes. */

import { sameBytes } from '../../../base/bytes.js';
import { HedgerowError, type RemoteKind } from '../../../base/errors.js';
import { hex } from '../../../base/hex.js';
import { LONE_SURROGATE } from '../../../base/key.js';

export const HASH_BYTES = 32;
export const ID_BYTES = 16;

const ENCODER = new TextEncoder();
const MAX_HIGH_WORD = 2 ** 21 - 1;

export const NO_BYTES: Uint8Array = new Uint8Array();

/** The hash that stands for no tree, and for no earlier head. */
export const NO_HASH: Uint8Array = new Uint8Array(HASH_BYTES);

/** Makes the error for bytes that no writer makes. `offset` counts from the start of the object. */
export function invalidRemote(object: RemoteKind, what: string, offset: number): HedgerowError {
  return new HedgerowError('remote/data', `${object}, byte ${offset}: ${what}`, {
    object,
    offset,
  });
}

/** Makes the error for a format that this version does not know. */
export function tooNew(object: RemoteKind, what: string): HedgerowError {
  const message = `${object}: written by a newer version of Hedgerow: update the app (${what})`;
  return new HedgerowError('newer-version/format', message, { object });
}

/** Makes the error for a write against a rule of the format. */
export function unwritable(object: RemoteKind, what: string): HedgerowError {
  return new HedgerowError('invalid-argument', `${object}: ${what}`, { object });
}

export function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

/** Returns the bytes of a well-formed text. */
export function utf8(text: string): Uint8Array {
  return ENCODER.encode(text);
}

/** A reader of fields from a part of an object, which begins at byte `base` of the object. */
export class FieldReader {
  readonly object: RemoteKind;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #base: number;
  /** The place of the next field in the object before it was sealed. */
  at: number;

  constructor(object: RemoteKind, bytes: Uint8Array, base = 0) {
    this.object = object;
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#base = base;
    this.at = base;
  }

  /** Bytes that are left. */
  get left(): number {
    return this.#base + this.#bytes.length - this.at;
  }

  /** Makes the error for a fault at `at`, or where the reader is. */
  fault(what: string, at = this.at): HedgerowError {
    return invalidRemote(this.object, what, at);
  }

  /** Throws the fault unless it `holds`. */
  check(holds: boolean, what: string, at: number): void {
    if (!holds) throw this.fault(what, at);
  }

  /** Skips bytes; returns where they begin in the part. */
  #skip(length: number): number {
    if (length > this.left) throw this.fault(`${length} bytes wanted, ${this.left} left`);
    const at = this.at - this.#base;
    this.at += length;
    return at;
  }

  u8(): number {
    return this.#view.getUint8(this.#skip(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#skip(2), true);
  }

  u32(): number {
    return this.#view.getUint32(this.#skip(4), true);
  }

  /** Reads a whole number up to 2^53 - 1. */
  u64(): number {
    const at = this.#skip(8);
    const high = this.#view.getUint32(at + 4, true);
    this.check(high <= MAX_HIGH_WORD, 'a number above 2^53 - 1', this.at - 8);
    return high * 2 ** 32 + this.#view.getUint32(at, true);
  }

  /** Reads any whole number of 64 bits. */
  wide(): bigint {
    return this.#view.getBigUint64(this.#skip(8), true);
  }

  /** Copies the next bytes. */
  take(length: number): Uint8Array {
    const at = this.#skip(length);
    return this.#bytes.slice(at, at + length);
  }

  hash(): Uint8Array {
    return this.take(HASH_BYTES);
  }

  /** Reads the hash of something that exists. */
  name(): Uint8Array {
    const { at } = this;
    const nameBytes = this.hash();
    this.check(!isZero(nameBytes), 'a name of zeros', at);
    return nameBytes;
  }

  /** Reads a text of `length` bytes. */
  text(length: number): string {
    const { at } = this;
    return decodeUtf8(this, this.take(length), at);
  }

  /** Reads bytes that must be zero. */
  zeros(length: number): void {
    const { at } = this;
    this.check(isZero(this.take(length)), 'not zero', at);
  }

  end(): void {
    if (this.left > 0) throw this.fault(`${this.left} bytes too many`);
  }
}

/** Returns the text of bytes; throws unless a writer makes exactly these bytes of it. */
export function decodeUtf8(reader: FieldReader, textBytes: Uint8Array, at: number): string {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(textBytes);
  reader.check(sameBytes(utf8(text), textBytes), 'not UTF-8', at);
  return text;
}

/** A writer of fields, one after the other. */
export class FieldWriter {
  readonly object: RemoteKind;
  #bytes = new Uint8Array(256);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  constructor(object: RemoteKind) {
    this.object = object;
  }

  get length(): number {
    return this.#length;
  }

  /** Makes space, if need be in new memory; returns where. */
  #grow(length: number): number {
    const at = this.#length;
    this.#length += length;
    if (this.#length > this.#bytes.length) {
      const longer = new Uint8Array(Math.max(this.#length, 2 * this.#bytes.length));
      longer.set(this.#bytes);
      this.#bytes = longer;
      this.#view = new DataView(longer.buffer);
    }
    return at;
  }

  #whole(value: number, most: number): void {
    if (Number.isInteger(value) && value >= 0 && value <= most) return;
    throw unwritable(this.object, `${value} is no whole number from 0 to ${most}`);
  }

  u8(value: number): void {
    this.#whole(value, 0xff);
    const at = this.#grow(1);
    this.#view.setUint8(at, value);
  }

  u16(value: number): void {
    this.#whole(value, 0xffff);
    const at = this.#grow(2);
    this.#view.setUint16(at, value, true);
  }

  u32(value: number): void {
    this.#whole(value, 0xffff_ffff);
    const at = this.#grow(4);
    this.#view.setUint32(at, value, true);
  }

  u64(value: number): void {
    this.#whole(value, Number.MAX_SAFE_INTEGER);
    const at = this.#grow(8);
    this.#view.setUint32(at, value % 2 ** 32, true);
    this.#view.setUint32(at + 4, Math.floor(value / 2 ** 32), true);
  }

  wide(value: bigint): void {
    if (value < 0n || value >= 1n << 64n)
      throw unwritable(this.object, `${value} has over 64 bits`);
    const at = this.#grow(8);
    this.#view.setBigUint64(at, value, true);
  }

  bytes(bytes: Uint8Array): void {
    const at = this.#grow(bytes.length);
    this.#bytes.set(bytes, at);
  }

  /** Writes bytes of a fixed length. */
  exactly(length: number, bytes: Uint8Array): void {
    if (bytes.length !== length) {
      throw unwritable(this.object, `${bytes.length} bytes where ${length} belong: ${hex(bytes)}`);
    }
    this.bytes(bytes);
  }

  hash(hashBytes: Uint8Array): void {
    this.exactly(HASH_BYTES, hashBytes);
  }

  /** Returns the bytes of a text; throws unless it is well-formed and short enough. */
  textBytes(text: string, most: number): Uint8Array {
    const textBytes = utf8(text);
    if (textBytes.length <= most && !LONE_SURROGATE.test(text)) return textBytes;
    throw unwritable(this.object, `not a text of at most ${most} bytes: ${JSON.stringify(text)}`);
  }

  toBytes(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }
}
