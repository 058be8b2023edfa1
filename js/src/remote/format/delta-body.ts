/** The edits of a step, deflated, as a head or a delta object has them: length before deflating, u32, and the rest. */

import { HedgerowError } from '../../base/errors.js';
import { FieldReader, FieldWriter, invalidRemote } from './cursor.js';
import type { Deflate, Inflate } from './deflate.js';
import { MAX_PLAIN_DELTA_BYTES } from './limits.js';

/** Deflates a delta of 1 byte to 16 MiB. */
export async function encodeDeltaBody(
  deltaBytes: Uint8Array,
  deflate: Deflate,
): Promise<Uint8Array> {
  const writer = new FieldWriter('delta');
  writer.u32(deltaBytes.length);
  writer.bytes(await deflate(deltaBytes));
  return writer.done();
}

/** Inflates a delta. Rejects with `invalid-remote`. Allocates what it says, at most 16 MiB. */
export async function decodeDeltaBody(
  bodyBytes: Uint8Array,
  inflate: Inflate,
): Promise<Uint8Array> {
  const reader = new FieldReader('delta', bodyBytes, 0, bodyBytes.length);
  const length = reader.u32();
  const isLength = length > 0 && length <= MAX_PLAIN_DELTA_BYTES;
  reader.check(isLength, `${length} bytes when inflated`, 0);
  const deltaBytes = await inflate(bodyBytes.subarray(4), length).catch((cause: unknown) => {
    throw cause instanceof HedgerowError && cause.code === 'unsupported'
      ? cause
      : invalidRemote('delta', 'it cannot be inflated', 4);
  });
  reader.check(deltaBytes.length === length, `${deltaBytes.length} bytes of ${length}`, 4);
  return deltaBytes;
}
