/** A pack: some edits of a generation, deflated, in an object. Its salt makes its name one of its own. */

import type { Deflate, Inflate } from './deflate.js';
import { decodeDeltaBody, encodeDeltaBody } from './delta-body.js';
import { unwrapped, wrapped } from './envelope.js';
import { MAX_PACK_BYTES } from './limits.js';

/** The object of a pack; `saltBytes` are 16 random bytes. */
export async function encodePack(
  deltaBytes: Uint8Array,
  saltBytes: Uint8Array,
  deflate: Deflate,
): Promise<Uint8Array> {
  return wrapped('pack', saltBytes, await encodeDeltaBody(deltaBytes, deflate), MAX_PACK_BYTES);
}

/** The parts of the delta in a pack. Throws `invalid-remote`, or `unsupported-format`; so may the parts. */
export function decodePack(packBytes: Uint8Array, inflate: Inflate): AsyncIterable<Uint8Array> {
  const { reader } = unwrapped('pack', packBytes, MAX_PACK_BYTES);
  return decodeDeltaBody(reader.take(reader.left), inflate);
}
