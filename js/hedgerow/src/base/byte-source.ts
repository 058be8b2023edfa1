/** Sources of bytes: NDJSON or a JSON array, for example from the network or a file. */

import { HedgerowError } from './errors.js';
import { isBuffer, isByteArray } from './is-byte-array.js';

/** The format of rows in bytes: one row on each line, or the members of one array. */
export type ByteFormat = 'ndjson' | 'json';

/** A source of bytes of rows. */
export type ByteSource =
  | Response
  | Blob
  | Uint8Array
  | ArrayBuffer
  | ReadableStream<Uint8Array>
  | Iterable<Uint8Array>
  | AsyncIterable<Uint8Array>;

/** Bytes to read part by part. */
export interface ByteParts {
  readonly parts: AsyncIterator<Uint8Array> | Iterator<Uint8Array>;
  /** The number of bytes, if it is known. */
  readonly total?: number;
}

/** Returns the parts of a source whose type says that it is bytes; `undefined` for all other sources. */
export function partsOf(source: unknown): ByteParts | undefined {
  if (isByteArray(source)) return { parts: [source].values(), total: source.length };
  if (isBuffer(source)) return partsOf(new Uint8Array(source));
  if (typeof Blob !== 'undefined' && source instanceof Blob) {
    if (!source.stream) throw new HedgerowError('invalid-argument', 'this Blob has no stream');
    return { parts: streamIterator(source.stream()), total: source.size };
  }
  if (typeof Response !== 'undefined' && source instanceof Response) return partsOfResponse(source);
  return undefined;
}

/** Iterates over a stream, which some platforms cannot do by themselves. */
export function streamIterator<T>(stream: ReadableStream<T>): AsyncIterator<T> {
  if (stream.locked) {
    throw new HedgerowError('invalid-argument', 'the stream is locked: something else reads it');
  }
  const reader = stream.getReader();
  return {
    next: () => reader.read() as Promise<IteratorResult<T>>,
    return: async () => {
      await reader.cancel();
      return { done: true, value: undefined };
    },
  };
}

/** Reads a response without a stream, as in React Native. */
async function* wholeBody(response: Response): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(await response.arrayBuffer());
}

function partsOfResponse(response: Response): ByteParts {
  if (!response.ok) {
    const { status } = response;
    throw new HedgerowError('remote/response', `the response has status ${status}`, { status });
  }
  if (response.bodyUsed) {
    throw new HedgerowError('invalid-argument', 'the body of the response was read before');
  }
  if (response.body === null) return { parts: [].values(), total: 0 };
  const parts = response.body ? streamIterator(response.body) : wholeBody(response);
  // `content-length` counts encoded bytes: use it only without an encoding.
  const length = response.headers.get('content-length');
  const isPlain = response.headers.get('content-encoding') === null;
  const total = length !== null && isPlain ? Number(length) : Number.NaN;
  return total >= 0 ? { parts, total } : { parts };
}
