/** Deflating by the streams of the platform; callers without them, as React Native's, give functions of their own. */

import { joined } from '../../base/bytes.js';
import { HedgerowError } from '../../base/errors.js';
import { streamIterator } from '../../base/read-bytes.js';

/** Deflates bytes, without a header. */
export type Deflate = (plainBytes: Uint8Array) => Promise<Uint8Array>;

/**
 * Inflates what was deflated. Rejects if it is malformed, or as soon as it has more than `most` bytes: it must not
 * allocate for more.
 */
export type Inflate = (deflatedBytes: Uint8Array, most: number) => Promise<Uint8Array>;

/** Deflates by `CompressionStream`. Rejects with `unsupported` where there is none. */
export const deflate: Deflate = async (plainBytes) => {
  if (typeof CompressionStream === 'undefined') throw lacking('CompressionStream');
  return through(new CompressionStream('deflate-raw'), plainBytes, Number.POSITIVE_INFINITY);
};

/** Inflates by `DecompressionStream`. Rejects with `unsupported` where there is none. */
export const inflate: Inflate = async (deflatedBytes, most) => {
  if (typeof DecompressionStream === 'undefined') throw lacking('DecompressionStream');
  return through(new DecompressionStream('deflate-raw'), deflatedBytes, most);
};

function lacking(name: string): HedgerowError {
  return new HedgerowError(
    'unsupported',
    `this platform has no ${name}: give functions to deflate`,
  );
}

/** Bytes that are inflated at once: deflating makes bytes at most 1,032 times shorter, so that a bomb fills 4 MiB. */
const PIECE_BYTES = 4 << 10;

async function through(
  stream: CompressionStream | DecompressionStream,
  bytes: Uint8Array,
  most: number,
): Promise<Uint8Array> {
  const writer = stream.writable.getWriter();
  const write = async () => {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      await writer.ready;
      // A copy, since bytes may lie in shared memory.
      await writer.write(new Uint8Array(bytes.subarray(at, at + PIECE_BYTES)));
    }
    await writer.close();
  };
  // What fails here fails the reads, too.
  write().catch(() => {});
  writer.closed.catch(() => {});
  const parts: Uint8Array[] = [];
  const read = streamIterator<Uint8Array>(stream.readable);
  let total = 0;
  for (let part = await read.next(); part.done !== true; part = await read.next()) {
    total += part.value.length;
    if (total > most) {
      await read.return?.();
      throw new RangeError(`more than ${most} bytes`);
    }
    parts.push(part.value);
  }
  return joined(parts);
}
