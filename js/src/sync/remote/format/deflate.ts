/** Deflating by what the platform has; callers without anything, as React Native's, give functions of their own. */

import { concatBytes } from '../../../base/bytes.js';
import { HedgerowError } from '../../../base/errors.js';
import { builtinIfAny } from '../../../base/node-builtin.js';
import { streamIterator } from '../../../base/read-bytes.js';
import { turn } from '../../../base/scheduler.js';

/** Deflates bytes, without a header. */
export type Deflate = (plainBytes: Uint8Array) => Promise<Uint8Array>;

/**
 * Inflates what was deflated, in parts. Throws if it is malformed, or as soon as it has more than `most` bytes: it must not
 * allocate for more. Takes turns of the event loop; may work ahead of who reads.
 */
export type Inflate = (deflatedBytes: Uint8Array, most: number) => AsyncIterable<Uint8Array>;

/** Deflates, by zlib in Node and by `CompressionStream` elsewhere. Rejects with `unsupported` where there is neither. */
export const deflate: Deflate = (plainBytes) => {
  const zlib = builtinIfAny<Zlib>('node:zlib');
  return zlib === undefined ? deflateByStream(plainBytes) : deflateByZlib(zlib, plainBytes);
};

/** Inflates, by zlib in Node and by `DecompressionStream` elsewhere. Rejects with `unsupported` where there is neither. */
export const inflate: Inflate = (deflatedBytes, most) => {
  const zlib = builtinIfAny<Zlib>('node:zlib');
  return zlib === undefined
    ? inflateByStream(deflatedBytes, most)
    : inflateByZlib(zlib, deflatedBytes, most);
};

/** What is used of `node:zlib`. It works on a whole in another thread, where the streams of Node hand over each 16 KiB. */
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

/** What there is after a failure. */
const NONE: InflateResult = { buffer: new Uint8Array(), engine: { bytesWritten: 0 } };

function deflateByZlib(zlib: Zlib, plainBytes: Uint8Array): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    zlib.deflateRaw(plainBytes, (cause, deflated) => {
      if (cause) reject(cause);
      else resolve(plain(deflated));
    });
  });
}

/** Each piece of output is a way to the other thread and back; a short one is enough for what lies about its length. */
const MAX_CHUNK_BYTES = 1 << 20;
const MIN_CHUNK_BYTES = 64;

function inflateByZlib(zlib: Zlib, bytes: Uint8Array, most: number): AsyncIterable<Uint8Array> {
  // One byte more: of a chunk that is full, zlib asks for another one.
  const chunkSize = Math.max(MIN_CHUNK_BYTES, Math.min(most + 1, MAX_CHUNK_BYTES));
  const inflated = new Promise<Uint8Array>((resolve, reject) => {
    zlib.inflateRaw(
      bytes,
      { maxOutputLength: most, chunkSize, info: true },
      (cause, { buffer, engine } = NONE) => {
        if (cause) reject(cause);
        // Streams of browsers refuse what follows the end; zlib ignores it.
        else if (engine.bytesWritten !== bytes.length) reject(new RangeError('bytes follow'));
        else resolve(plain(buffer));
      },
    );
  });
  // It began with the call, so that it is done when its turn comes; a failure is told then, too.
  inflated.catch(() => {});
  return once(inflated);
}

async function* once(bytes: Promise<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  yield await bytes;
}

/** Not a `Buffer`, whose methods differ. */
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

/** Bytes that are inflated at once: deflating makes bytes at most 1,032 times shorter, so that a bomb fills 4 MiB. */
const PIECE_BYTES = 4 << 10;

/** Streams of browsers work on the page's thread: after so many milliseconds it is the turn of others. */
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
  // What fails here fails the reads, too.
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
