/** The deflated body of an object, such as the edits of a step: length before deflating, u32, and the rest. */

import { concatBytes } from '../../../base/bytes.js';
import { kindOfError, type RemoteKind } from '../../../base/errors.js';
import type { Deflate, Inflate } from './deflate.js';
import { FieldReader, FieldWriter, invalidRemote } from './field-codec.js';
import { MAX_PLAIN_DELTA_BYTES } from './format-limits.js';

/** Deflates a delta of 1 byte to 16 MiB. */
export async function encodeDeltaBody(
  deltaBytes: Uint8Array,
  deflate: Deflate,
): Promise<Uint8Array> {
  const writer = new FieldWriter('delta');
  writer.u32(deltaBytes.length);
  writer.bytes(await deflate(deltaBytes));
  return writer.toBytes();
}

/**
 * Inflates a delta of at most 16 MiB, in the parts that `inflate` gives. Throws `remote/data`, at once for a bad
 * length, else where the parts end.
 */
export function decodeDeltaBody(
  bodyBytes: Uint8Array,
  inflate: Inflate,
  object: RemoteKind = 'delta',
): AsyncIterable<Uint8Array> {
  const length = deltaBodyLength(bodyBytes, object);
  return checkInflated(inflate(bodyBytes.subarray(4), length), length, object);
}

/** Inflates a delta as a whole. */
export async function wholeDeltaBody(
  bodyBytes: Uint8Array,
  inflate: Inflate,
  object: RemoteKind,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of decodeDeltaBody(bodyBytes, inflate, object)) parts.push(part);
  const [only] = parts;
  return only !== undefined && parts.length === 1 ? only : concatBytes(parts);
}

/** Reads the inflated length that a delta states. Throws `remote/data`. */
export function deltaBodyLength(bodyBytes: Uint8Array, object: RemoteKind): number {
  const reader = new FieldReader(object, bodyBytes);
  const length = reader.u32();
  const isLength = length > 0 && length <= MAX_PLAIN_DELTA_BYTES;
  reader.check(isLength, `${length} bytes when inflated`, 0);
  return length;
}

async function* checkInflated(
  parts: AsyncIterable<Uint8Array>,
  length: number,
  object: RemoteKind,
): AsyncGenerator<Uint8Array, void, void> {
  let total = 0;
  try {
    for await (const part of parts) {
      total += part.length;
      yield part;
    }
  } catch (cause) {
    const isLacking = kindOfError(cause) === 'unsupported';
    throw isLacking ? cause : invalidRemote(object, 'it cannot be inflated', 4);
  }
  if (total !== length) throw invalidRemote(object, `${total} bytes of ${length}`, 4);
}
