/** Converts keys of IndexedDB: to text to go on from, to text for people, and to keys of a store. */

import { encodeKey, HedgerowError } from 'hedgerow';
import { hex, type Scalar, unhex } from 'hedgerow/kit';

/** A key in a form that JSON can hold. */
type JsonKey = string | number | readonly JsonKey[] | { readonly [kind: string]: string | number };

const bytesOf = (key: BufferSource): Uint8Array =>
  ArrayBuffer.isView(key)
    ? new Uint8Array(key.buffer, key.byteOffset, key.byteLength)
    : new Uint8Array(key);

const isBinary = (key: unknown): key is BufferSource =>
  ArrayBuffer.isView(key) || Object.prototype.toString.call(key) === '[object ArrayBuffer]';

function toJsonKey(key: unknown): JsonKey {
  if (Array.isArray(key)) return key.map(toJsonKey);
  if (key instanceof Date) return { date: key.getTime() };
  if (isBinary(key)) return { bytes: hex(bytesOf(key)) };
  // JSON has no infinite numbers.
  return typeof key === 'number' && !Number.isFinite(key)
    ? { number: String(key) }
    : (key as JsonKey);
}

function fromJsonKey(key: JsonKey): IDBValidKey {
  if (Array.isArray(key)) return key.map(fromJsonKey);
  if (typeof key !== 'object') return key;
  const { date, bytes, number } = key as Record<string, string>;
  if (date !== undefined) return new Date(date);
  if (number !== undefined) return Number(number);
  return unhex(bytes ?? '');
}

/** Encodes a key of a database as well-formed text. */
export const encodeSourceKey = (key: unknown): string => JSON.stringify(toJsonKey(key));

/** Decodes the text of `encodeSourceKey`. */
export const keyAt = (place: string): IDBValidKey => fromJsonKey(JSON.parse(place));

/** Formats a key for messages. */
export function describeSourceKey(key: unknown): string {
  if (key instanceof Date) return key.toISOString();
  if (isBinary(key)) return `0x${hex(bytesOf(key))}`;
  if (Array.isArray(key)) return `[${key.map(describeSourceKey)}]`;
  return typeof key === 'string' ? JSON.stringify(key) : String(key);
}

/** Makes the store key of a database key: a string as it is, others by `encodeKey`. Throws `invalid-argument/key`. */
export function storeKeyOf(key: unknown): string {
  if (typeof key === 'string') return key;
  return encodeKey((Array.isArray(key) ? key : [key]).map(scalarOf));
}

/** Turns dates into milliseconds and bytes into digits, so that their order stays. */
function scalarOf(key: unknown): Scalar {
  if (key instanceof Date) return key.getTime();
  if (isBinary(key)) return hex(bytesOf(key));
  if (!Array.isArray(key)) return key as Scalar;
  throw new HedgerowError(
    'invalid-argument/key',
    'no key is made of a list within a list: give the target a function key',
  );
}
