/** Deflates by the platform's functions. Callers on a platform without any, such as React Native, give functions. */

import { streamIterator } from '../../../base/byte-source.js';
import { concatBytes } from '../../../base/bytes.js';
import { HedgerowError } from '../../../base/errors.js';
import { builtinIfAny } from '../../../base/node-builtin.js';
import { turn } from '../../../base/slice-queue.js';

/** Deflates bytes, without a header. */
export type Deflate = (plainBytes: Uint8Array) => Promise<Uint8Array>;

/**
 * Inflates deflated bytes, in parts. Throws if they are malformed, or as soon as there are more than `most` bytes: it
 * must not allocate for more. Takes turns of the event loop; may work ahead of its reader.
 */
export type Inflate = (deflatedBytes: Uint8Array, most: number) => AsyncIterable<Uint8Array>;

/** Deflates, by zlib in Node and by `CompressionStream` elsewhere. Rejects with `unsupported` if there is neither. */
export const deflate: Deflate = (plainBytes) => {
  const zlib = builtinIfAny<Zlib>('node:zlib');
  return zlib === undefined ? deflateByStream(plainBytes) : deflateByZlib(zlib, plainBytes);
};

/** Inflates, by zlib in Node and by `DecompressionStream` elsewhere. Rejects with `unsupported` if there is neither. */
export const inflate: Inflate = (deflatedBytes, most) => {
  const zlib = builtinIfAny<Zlib>('node:zlib');
  return zlib === undefined
    ? inflateByStream(deflatedBytes, most)
    : inflateByZlib(zlib, deflatedBytes, most);
};

/** The used part of `node:zlib`. It works on a whole in another thread, where Node's streams hand over each 16 KiB. */
interface Zlib {
  deflateRaw(bytes: Uint8Array, done: (cause: unknown, deflated: Uint8Array) => void): void;
  inflateRaw(
    bytes: Uint8Array,
    options: {
      readonly maxOutputLength: number;
      readonly chunkSize: number;
      readonly info: true;
    },
    done: (cause: unknown, inflated?: InflateResult) => void,
  ): void;
}

interface InflateResult {
  readonly buffer: Uint8Array;
  readonly engine: { readonly bytesWritten: number };
}

/** The result after a failure. */
const NONE: InflateResult = { buffer: new Uint8Array(), engine: { bytesWritten: 0 } };

function deflateByZlib(zlib: Zlib, plainBytes: Uint8Array): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    zlib.deflateRaw(plainBytes, (cause, deflated) => {
      if (cause) reject(cause);
      else resolve(plain(deflated));
    });
  });
}

/** Each piece of output is a way to the other thread and back. A short one is enough if the stated length is false. */
const MAX_CHUNK_BYTES = 1 << 20;
const MIN_CHUNK_BYTES = 64;

function inflateByZlib(zlib: Zlib, bytes: Uint8Array, most: number): AsyncIterable<Uint8Array> {
  // One byte more: after a full chunk, zlib asks for another one.
  const chunkSize = Math.max(MIN_CHUNK_BYTES, Math.min(most + 1, MAX_CHUNK_BYTES));
  const inflated = new Promise<Uint8Array>((resolve, reject) => {
    zlib.inflateRaw(
      bytes,
      { maxOutputLength: most, chunkSize, info: true },
      (cause, { buffer, engine } = NONE) => {
        if (cause) reject(cause);
        // Streams of browsers refuse bytes after the end; zlib ignores them.
        else if (engine.bytesWritten !== bytes.length) reject(new RangeError('bytes follow'));
        else resolve(plain(buffer));
      },
    );
  });
  // It begins with the call, so that it is done when its turn comes; a failure is reported then, too.
  inflated.catch(() => {});
  return once(inflated);
}

async function* once(bytes: Promise<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  yield await bytes;
}

/** Returns the bytes without the methods of a `Buffer`, which differ. */
function plain({ buffer, byteOffset, byteLength }: Uint8Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Deflates by `CompressionStream`. */
export const deflateByStream: Deflate = async (plainBytes) => {
  if (typeof CompressionStream === 'undefined') throw lacking('CompressionStream');
  const stream = new CompressionStream('deflate-raw');
  const parts: Uint8Array[] = [];
  for await (const part of through(stream, plainBytes, Number.POSITIVE_INFINITY)) parts.push(part);
  return concatBytes(parts);
};

/** Inflates by `DecompressionStream`. */
export const inflateByStream: Inflate = async function* (deflatedBytes, most) {
  if (typeof DecompressionStream === 'undefined') throw lacking('DecompressionStream');
  yield* through(new DecompressionStream('deflate-raw'), deflatedBytes, most);
};

function lacking(name: string): HedgerowError {
  return new HedgerowError(
    'unsupported',
    `this platform has no ${name}: give functions to deflate`,
  );
}

/** Bytes that are inflated at once: deflating makes bytes at most 1,032 times shorter, so a bomb fills 4 MiB. */
const PIECE_BYTES = 4 << 10;

/** Streams of browsers work on the page's thread: after so many milliseconds other work has its turn. */
const SLICE_MS = 4;

async function* through(
  stream: CompressionStream | DecompressionStream,
  bytes: Uint8Array,
  most: number,
): AsyncGenerator<Uint8Array, void, void> {
  const writer = stream.writable.getWriter();
  const write = async () => {
    let startMs = performance.now();
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      await writer.ready;
      if (performance.now() - startMs > SLICE_MS) {
        await turn();
        startMs = performance.now();
      }
      // A copy, since bytes may lie in shared memory.
      await writer.write(new Uint8Array(bytes.subarray(at, at + PIECE_BYTES)));
    }
    await writer.close();
  };
  // A failure here fails the reads, too.
  write().catch(() => {});
  writer.closed.catch(() => {});
  const read = streamIterator<Uint8Array>(stream.readable);
  let total = 0;
  try {
    for (let part = await read.next(); part.done !== true; part = await read.next()) {
      total += part.value.length;
      if (total > most) throw new RangeError(`more than ${most} bytes`);
      yield part.value;
    }
  } finally {
    await read.return?.();
  }
}
