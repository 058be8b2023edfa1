/** Values of other databases. */

import { isPlain } from '../base/kind.js';
import { file } from '../tables/index.js';

/** How deep the parts of a value are counted; structured clones may be circular. */
const MAX_DEPTH = 6;

/** About how many bytes a value takes. */
export function sizeOf(value: unknown, depth = 0): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return 8;
  const { size, byteLength } = value as { size?: number; byteLength?: number };
  if (typeof byteLength === 'number') return byteLength;
  if (value instanceof Blob) return size ?? 0;
  const parts =
    size === undefined || isPlain(value) ? Object.entries(value) : (value as Set<unknown>);
  let bytes = 16;
  for (const part of parts) {
    if (!Array.isArray(part)) bytes += sizeOf(part, depth + 1);
    else for (const one of part) bytes += sizeOf(one, depth + 1);
  }
  return bytes;
}

/** A copy of a row in which each `Blob` is a `StoredFile`, and each `ArrayBuffer` a `Uint8Array`; the row itself if it has none. */
export async function withFiles(value: unknown, depth = 0): Promise<unknown> {
  if (value instanceof Blob) return file(value);
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  const isList = Array.isArray(value);
  if (depth > 512 || !(isList || isPlain(value))) return value;
  const entries = Object.entries(value as object);
  let isChanged = false;
  for (const entry of entries) {
    const made = await withFiles(entry[1], depth + 1);
    isChanged ||= made !== entry[1];
    entry[1] = made;
  }
  if (!isChanged) return value;
  return isList ? entries.map(([, one]) => one) : Object.fromEntries(entries);
}
