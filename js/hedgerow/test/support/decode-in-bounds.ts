/** Decodes any bytes of a remote within a budget of memory, and inflates them as browsers and as Node do. */
import { getHeapStatistics } from 'node:v8';
import { concatBytes, sameBytes } from '../../src/base/bytes.js';
import { HedgerowError, kindOfError } from '../../src/base/errors.js';
import { type Inflate, inflate, inflateByStream } from '../../src/sync/remote/format/deflate.js';

/** Bytes that decoding may allocate for an object of a length. */
const mostBytes = (length: number) => (2 << 20) + 64 * length;
/**
 * Bytes that inflating may give above the object's declared length: one piece of 4 KiB at once, and the buffers of
 * streams.
 */
const MOST_INFLATED_ABOVE = 6 << 20;
export function expectSame(a: Uint8Array, b: Uint8Array, what: string): void {
  if (!sameBytes(a, b)) throw new Error(`${what}: other bytes`);
}

/** Returns whether bytes may cause an error. */
export function isRefusal(cause: unknown): boolean {
  if (!(cause instanceof HedgerowError)) return false;
  const { object, offset } = cause;
  const kind = kindOfError(cause);
  const hasPlace = Number.isInteger(offset) && object !== undefined;
  return kind === 'newer-version/format' || (kind === 'remote/data' && hasPlace);
}

/** Bytes of the heap and of buffers outside it. */
function usedBytes(): number {
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
}

/** Returns the decoded bytes, whose inflated length is `length`; `undefined` if the decoder refuses them. */
export async function decoded<T>(
  bytes: Uint8Array,
  decode: (bytes: Uint8Array) => T | Promise<T>,
  length = bytes.length,
): Promise<T | undefined> {
  const before = usedBytes();
  let found: T | undefined;
  try {
    found = await decode(bytes);
  } catch (cause) {
    if (!isRefusal(cause)) throw cause;
  }
  const more = usedBytes() - before;
  if (more > mostBytes(length)) throw new Error(`${more} bytes for ${length}`);
  return found;
}

/** Returns all parts of a call's result. */
export async function whole(parts: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const part of parts) all.push(part);
  return concatBytes(all);
}

let inflatedBytes = 0;

/** Counts the output of all streams. */
function countInflated(): void {
  const Original = globalThis.DecompressionStream;
  globalThis.DecompressionStream = class {
    readonly readable: ReadableStream;
    readonly writable: WritableStream;
    constructor(format: 'deflate-raw') {
      const inner = new Original(format);
      this.writable = inner.writable;
      const counter = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          inflatedBytes += chunk.length;
          controller.enqueue(chunk);
        },
      });
      this.readable = inner.readable.pipeThrough(counter as never);
    }
  } as unknown as typeof DecompressionStream;
}
countInflated();

/** Returns the edits of a body, inflated as in browsers and as in Node; `undefined` if Node refuses them. */
export async function inflated(
  body: Uint8Array,
  decode: (by: Inflate) => AsyncIterable<Uint8Array>,
): Promise<Uint8Array | undefined> {
  inflatedBytes = 0;
  const says = body.length < 4 ? 0 : new DataView(body.buffer, body.byteOffset).getUint32(0, true);
  const found: (Uint8Array | undefined)[] = [];
  for (const by of [inflateByStream, inflate]) {
    const edits = await whole(decode(by)).catch((cause: unknown) => {
      if (!isRefusal(cause)) throw cause;
      return undefined;
    });
    if (edits && edits.length > says) throw new Error(`${edits.length} bytes of ${says}`);
    found.push(edits);
  }
  const most = says > 16 << 20 ? 0 : says + MOST_INFLATED_ABOVE;
  if (inflatedBytes > most) throw new Error(`${inflatedBytes} bytes inflated of ${says}`);
  const [byStream, byNode] = found;
  // Streams of Node 20 accept bytes after the end; browser streams do not.
  if (byNode === undefined) return undefined;
  if (byStream === undefined) throw new Error('Node alone inflates it');
  expectSame(byStream, byNode, 'two inflate');
  return byNode;
}
