/** Packs leaves and keys for the core. */

import { HedgerowError } from '../../base/errors.js';
import { isByteArray } from '../../base/is-byte-array.js';
import { memberAt, parsePointer } from '../../base/json-pointer.js';
import { MAX_SUM_VALUE_BYTES } from '../../base/limits.js';
import { shownAs } from '../../base/runtime-type-checks.js';
import type { SumPutOptions } from '../../core/sum-tree-options.js';
import type { SumItem, SumKey } from '../../core/sum-tree-types.js';

/** Marks a key of 32 bytes, or a leaf to delete, in place of a length. */
const NONE = 0xffff_ffff;
const KEY_BYTES = 32;
const MAX_SUM = 2n ** 64n - 1n;

/** The packed bytes at which a packer is full. */
const FULL_BYTES = 256 << 10;

const encoder = new TextEncoder();

function bad(
  code: 'invalid-argument/key' | 'invalid-argument/value',
  row: number,
  what: string,
): HedgerowError {
  return new HedgerowError(code, `leaf ${row}: ${what}`, { row });
}

/** A growing buffer of leaves or keys. */
export class LeafPacker {
  #bytes = new Uint8Array(64 << 10);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;
  /** The number of packed leaves. */
  leaves = 0;

  get isFull(): boolean {
    return this.#length >= FULL_BYTES;
  }

  /** Returns the packed bytes and starts again. They are valid until the next call that packs. */
  take(): Uint8Array {
    const bytes = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    return bytes;
  }

  #reserve(length: number): void {
    const needed = this.#length + length;
    if (needed <= this.#bytes.length) return;
    const bytes = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
    bytes.set(this.#bytes);
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer);
  }

  /** Adds a key. The core hashes keys that are texts. */
  key(key: SumKey): void {
    const isText = typeof key === 'string';
    if (isText ? !isWellFormed(key) : !isByteArray(key) || key.length !== KEY_BYTES) {
      throw bad('invalid-argument/key', this.leaves, 'a key is 32 bytes, or a text');
    }
    const keyBytes = isText ? encoder.encode(key) : key;
    this.#reserve(4 + keyBytes.length);
    this.#view.setUint32(this.#length, isText ? keyBytes.length : NONE, true);
    this.#bytes.set(keyBytes, this.#length + 4);
    this.#length += 4 + keyBytes.length;
  }

  /** Adds a leaf to put. Throws `invalid-argument/key` or `invalid-argument/value`. */
  put({ key, value, sum }: SumItem): void {
    if (typeof sum !== 'bigint' || sum < 0n || sum > MAX_SUM) {
      throw bad('invalid-argument/value', this.leaves, 'its sum is no bigint from 0 to 2^64 - 1');
    }
    if (!isByteArray(value) || value.length > MAX_SUM_VALUE_BYTES) {
      throw bad(
        'invalid-argument/value',
        this.leaves,
        'its value is no Uint8Array of at most 1 MiB',
      );
    }
    this.key(key);
    this.#reserve(12 + value.length);
    this.#view.setBigUint64(this.#length, sum, true);
    this.#view.setUint32(this.#length + 8, value.length, true);
    this.#bytes.set(value, this.#length + 12);
    this.#length += 12 + value.length;
    this.leaves += 1;
  }

  /** Adds a key to delete. Throws `invalid-argument/key`. */
  delete(key: SumKey): void {
    this.key(key);
    this.#reserve(12);
    this.#view.setBigUint64(this.#length, 0n, true);
    this.#view.setUint32(this.#length + 8, NONE, true);
    this.#length += 12;
    this.leaves += 1;
  }
}

/** Packs keys in the form that the core reads. */
export function packKeys(keys: Iterable<SumKey>): { keyBytes: Uint8Array; count: number } {
  const packer = new LeafPacker();
  for (const key of keys) {
    packer.key(key);
    packer.leaves += 1;
  }
  return { keyBytes: packer.take(), count: packer.leaves };
}

/** Reports whether a text has no lone surrogates, which UTF-8 cannot represent. */
function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** Returns a function that reads a leaf from a row. Throws `invalid-argument` for a malformed pointer. */
export function itemOf<Row>({ key, sum, value }: SumPutOptions<Row>): (row: Row) => SumItem {
  if (key === undefined && sum === undefined && value === undefined) {
    return (row) => Object(row) as SumItem;
  }
  const [keyAt, sumAt, valueAt] = [key ?? '/key', sum ?? '/sum', value ?? ''].map(pointerOf);
  let row = -1;
  return (given) => {
    row += 1;
    const found = memberAt(given, keyAt as string[]);
    return {
      key: typeof found === 'number' ? String(found) : (found as SumKey),
      sum: wholeOf(memberAt(given, sumAt as string[]), row),
      value: bytesOf(memberAt(given, valueAt as string[]), row),
    };
  };
}

function pointerOf(pointer: string): string[] {
  const names = parsePointer(pointer);
  if (names !== undefined) return names;
  throw new HedgerowError('invalid-argument', `not a JSON pointer: ${shownAs(pointer)}`);
}

function wholeOf(sum: unknown, row: number): bigint {
  if (typeof sum === 'bigint') return sum;
  if (typeof sum === 'number' && Number.isSafeInteger(sum)) return BigInt(sum);
  if (typeof sum === 'string' && /^\d{1,20}$/.test(sum)) return BigInt(sum);
  throw bad('invalid-argument/value', row, 'its sum is no whole number');
}

/** Returns bytes as they are; for any other value its JSON text, as in trees that follow rows. */
function bytesOf(value: unknown, row: number): Uint8Array {
  if (isByteArray(value)) return value;
  const text = JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part));
  if (text === undefined) throw bad('invalid-argument/value', row, 'it has no value');
  return encoder.encode(text);
}
