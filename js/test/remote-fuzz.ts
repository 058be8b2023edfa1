/**
 * The fuzz targets of the objects of a remote, which `scripts/fuzz-remote.mjs` runs: each takes any bytes, and throws if
 * a decoder does what it must not. It must accept what is the one encoding of something, and refuse all else by a typed
 * error, without much memory.
 */
import { getHeapStatistics } from 'node:v8';
import { joined, sameBytes } from '../src/base/bytes.js';
import { HedgerowError } from '../src/index.js';
import { deflate, type Inflate, inflate, inflateByStream } from '../src/remote/format/deflate.js';
import { decodeDeltaBody } from '../src/remote/format/delta-body.js';
import { decodeDeltaObject, encodeDeltaObject } from '../src/remote/format/delta-object.js';
import { decodeHead, encodeHead, headLength } from '../src/remote/format/head-codec.js';
import { joinedTail } from '../src/remote/format/head-rules.js';
import { decodeLog, encodeLog } from '../src/remote/format/log.js';
import { decodeFrames, encodeFrames, framesAt } from '../src/remote/format/pack.js';
import { decodeRepository, encodeRepository } from '../src/remote/format/repository.js';
import { hash } from './remote-samples.js';

export { resealed } from './remote-samples.js';

/** Resolves to whether the bytes are an object. */
type Target = (bytes: Uint8Array) => boolean | Promise<boolean>;

/** What decoding may allocate, for an object of a length. */
const mostBytes = (length: number) => (2 << 20) + 64 * length;
/** What inflating may give above what the object says: one piece of 4 KiB at once, and what streams have ready. */
const MOST_INFLATED_ABOVE = 6 << 20;
const SALT_AT = 8;
const SALT_BYTES = 16;

function expectSame(a: Uint8Array, b: Uint8Array, what: string): void {
  if (!sameBytes(a, b)) throw new Error(`${what}: other bytes`);
}

/** Whether an error is one that bytes may cause. */
function isRefusal(cause: unknown): boolean {
  if (!(cause instanceof HedgerowError)) return false;
  const { code, object, offset } = cause;
  const hasPlace = Number.isInteger(offset) && object !== undefined;
  return code === 'unsupported-format' || (code === 'invalid-remote' && hasPlace);
}

/** Bytes of the heap, and of buffers beside it. */
function usedBytes(): number {
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
}

/** What a decoder makes of bytes; undefined if it refuses them. */
function decoded<T>(bytes: Uint8Array, decode: (bytes: Uint8Array) => T): T | undefined {
  const before = usedBytes();
  let found: T | undefined;
  try {
    found = decode(bytes);
  } catch (cause) {
    if (!isRefusal(cause)) throw cause;
  }
  const more = usedBytes() - before;
  if (more > mostBytes(bytes.length)) throw new Error(`${more} bytes for ${bytes.length}`);
  return found;
}

/** All parts of what a call gives. */
async function whole(call: () => AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of call()) parts.push(part);
  return joined(parts);
}

let inflatedBytes = 0;

/** Counts what all streams inflate. */
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

/** Edits of a body, by what browsers inflate with and by what Node has; undefined if Node refuses them. */
async function inflated(
  body: Uint8Array,
  decode: (by: Inflate) => AsyncIterable<Uint8Array>,
): Promise<Uint8Array | undefined> {
  inflatedBytes = 0;
  const says = body.length < 4 ? 0 : new DataView(body.buffer, body.byteOffset).getUint32(0, true);
  const found: (Uint8Array | undefined)[] = [];
  for (const by of [inflateByStream, inflate]) {
    const edits = await whole(() => decode(by)).catch((cause: unknown) => {
      if (!isRefusal(cause)) throw cause;
      return undefined;
    });
    if (edits && edits.length > says) throw new Error(`${edits.length} bytes of ${says}`);
    found.push(edits);
  }
  const most = says > 16 << 20 ? 0 : says + MOST_INFLATED_ABOVE;
  if (inflatedBytes > most) throw new Error(`${inflatedBytes} bytes inflated of ${says}`);
  const [byStream, byNode] = found;
  // Streams of Node 20 take bytes that follow; those of browsers do not.
  if (byNode === undefined) return undefined;
  if (byStream === undefined) throw new Error('Node alone inflates it');
  expectSame(byStream, byNode, 'two inflate');
  return byNode;
}

type Parts = AsyncIterable<Uint8Array>;

/** The frames of a pack, as they are in it. */
function framesOf(bytes: Uint8Array): Uint8Array[] {
  const count = decodeFrames('pack', bytes, inflate).length;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const lengths = Array.from({ length: count }, (_, nth) => view.getUint32(26 + 4 * nth, true));
  return framesAt(lengths).map(({ from, to }) => bytes.subarray(from, to));
}

export const TARGETS: Record<string, Target> = {
  repository(bytes) {
    const found = decoded(bytes, decodeRepository);
    if (found) expectSame(encodeRepository(found), bytes, 'encodes');
    return found !== undefined;
  },

  head(bytes) {
    const head = decoded(bytes, decodeHead);
    if (head === undefined) return false;
    expectSame(encodeHead(head), bytes, 'encodes');
    if (headLength(head) !== bytes.length) throw new Error(`${headLength(head)} bytes`);
    return true;
  },

  log(bytes) {
    const log = decoded(bytes, decodeLog);
    if (log === undefined) return false;
    const { entries, saltBytes } = log;
    const again = encodeLog(entries, saltBytes, hash);
    expectSame(again.bytes, bytes, 'encodes');
    // The head that names it, with what follows, takes it; any other refuses it by a typed error.
    const { record } = again;
    const last = entries.tail.at(-1);
    if (last === undefined) throw new Error('a log without entries');
    const next = { seq: last.seq + 1, nonceBytes: saltBytes, rows: entries.base };
    const tail = [{ ...next, delta: { kind: 'inline' as const, deltaBytes: saltBytes } }];
    const rows = { logs: [record], base: last.rows, tail, rows: entries.base };
    const checkpoint = { seq: 0, generations: [] };
    const rest = { retired: [], sums: [], app: 0, isCompacting: false, checkpoint };
    const ids = { repositoryBytes: saltBytes, writerBytes: saltBytes, nonceBytes: saltBytes };
    const head = { ...ids, ...rest, ...rows, seq: next.seq, previousBytes: record.nameBytes };
    const isFirst = entries.base.count === 0;
    const joined = decoded(bytes, () => joinedTail(head, [entries]));
    if (isFirst !== (joined !== undefined)) throw new Error(`a log joined: ${isFirst}`);
    const other = { ...head, logs: [{ ...record, seq: record.seq + 1 }] };
    if (decoded(bytes, () => joinedTail(other, [entries]))) throw new Error('another log joined');
    return true;
  },

  async pack(bytes) {
    const frames = decoded(bytes, () => framesOf(bytes));
    if (frames === undefined) return false;
    const edits: Uint8Array[] = [];
    for (const [nth, frame] of frames.entries()) {
      const found = await inflated(frame, (by) => decodeFrames('pack', bytes, by)[nth] as Parts);
      if (found === undefined) return false;
      edits.push(found);
    }
    const salt = bytes.slice(SALT_AT, SALT_AT + SALT_BYTES);
    const again = await encodeFrames('pack', edits, salt, deflate);
    for (const [nth, frame] of decodeFrames('pack', again.bytes, inflate).entries()) {
      expectSame(await whole(() => frame), edits[nth] as Uint8Array, 'comes back');
    }
    return true;
  },

  async delta(bytes) {
    const body = decoded(bytes, decodeDeltaObject);
    if (body === undefined) return false;
    const salt = bytes.slice(SALT_AT, SALT_AT + SALT_BYTES);
    expectSame(encodeDeltaObject(body, salt), bytes, 'encodes');
    return (await inflated(body, (by) => decodeDeltaBody(body, by))) !== undefined;
  },
};
