/** Measures and copies values of other databases. */

import { file } from 'hedgerow';
import { isBuffer, isPlain } from 'hedgerow/kit';

/** The depth down to which the parts of a value count. */
const MAX_DEPTH = 6;

/** Estimates the bytes of a value. `seen` has the counted objects, since structured clones may be circular. */
export function sizeOf(value: unknown, depth = 0, seen = new Set<unknown>()): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return 8;
  if (seen.has(value)) return 8;
  seen.add(value);
  // This checks no members, since an object may have members of any name.
  if (ArrayBuffer.isView(value) || isBuffer(value)) return value.byteLength;
  if (value instanceof Blob) return value.size;
  const isSet = value instanceof Set || value instanceof Map;
  const parts: Iterable<unknown> = isSet ? value : Object.entries(value);
  let bytes = 16;
  for (const part of parts) {
    if (!Array.isArray(part)) bytes += sizeOf(part, depth + 1, seen);
    else for (const one of part) bytes += sizeOf(one, depth + 1, seen);
  }
  return bytes;
}

/** Copies a row with files for `Blob`s and a `Uint8Array` for each `ArrayBuffer`; otherwise returns it as it is. */
export async function withFiles(
  value: unknown,
  depth = 0,
  known = new Map<unknown, unknown>(),
): Promise<unknown> {
  if (value instanceof Blob) return file(value);
  if (isBuffer(value)) return new Uint8Array(value);
  const isList = Array.isArray(value);
  if (depth > 512 || !(isList || isPlain(value))) return value;
  if (known.has(value)) return known.get(value);
  // A part that contains itself stays as it is: the table refuses it.
  known.set(value, value);
  const entries = Object.entries(value as object);
  let isChanged = false;
  for (const entry of entries) {
    const made = await withFiles(entry[1], depth + 1, known);
    isChanged ||= made !== entry[1];
    entry[1] = made;
  }
  if (!isChanged) return value;
  const copy = isList ? entries.map(([, one]) => one) : Object.fromEntries(entries);
  known.set(value, copy);
  return copy;
}
