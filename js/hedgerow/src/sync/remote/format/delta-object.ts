/** A delta that is too long for a head: a separate object. Its salt makes its name unique. */

import type { Scope } from './cipher-suite.js';
import { unwritable } from './field-codec.js';
import { MAX_TAIL_BYTES } from './format-limits.js';
import { unwrapObject, wrapObject, wrappedLength } from './single-part-object.js';

/** Returns how many bytes the object of a delta has. */
export function deltaObjectLength(deltaLength: number, scope: Scope): number {
  return wrappedLength('delta', deltaLength, scope);
}

/** Makes the object of a delta, at most 1 MiB with its envelope and seal; `saltBytes` are 16 random bytes. */
export async function encodeDeltaObject(
  deltaBytes: Uint8Array,
  saltBytes: Uint8Array,
  scope: Scope,
): Promise<Uint8Array> {
  if (deltaBytes.length === 0) throw unwritable('delta', 'it is empty');
  return wrapObject('delta', saltBytes, deltaBytes, MAX_TAIL_BYTES, scope);
}

/** Reads the object of a delta. Throws `remote/data`, `newer-version/format` or `wrong-key`. */
export async function decodeDeltaObject(bytes: Uint8Array, scope: Scope): Promise<Uint8Array> {
  const { reader } = await unwrapObject('delta', bytes, MAX_TAIL_BYTES, scope);
  reader.check(reader.left > 0, 'it is empty', reader.at);
  return reader.take(reader.left);
}
