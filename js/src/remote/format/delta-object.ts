/** A delta that is too long for a head: an object of its own. Its salt makes its name one of its own. */

import { FieldWriter, unwritable } from './cursor.js';
import { unwrapped, wrapped } from './envelope.js';
import { MAX_TAIL_BYTES } from './limits.js';

/** The object of a delta, at most 1 MiB with its 28 bytes of envelope and seal; `saltBytes` are 16 random bytes. */
export function encodeDeltaObject(deltaBytes: Uint8Array, saltBytes: Uint8Array): Uint8Array {
  const writer = new FieldWriter('delta');
  if (deltaBytes.length === 0) throw unwritable('delta', 'it is empty');
  writer.bytes(deltaBytes);
  return wrapped('delta', saltBytes, writer.done(), MAX_TAIL_BYTES);
}

/** Reads it. Throws `invalid-remote`, or `unsupported-format`. */
export function decodeDeltaObject(bytes: Uint8Array): Uint8Array {
  const { reader } = unwrapped('delta', bytes, MAX_TAIL_BYTES);
  reader.check(reader.left > 0, 'it is empty', reader.at);
  return reader.take(reader.left);
}
