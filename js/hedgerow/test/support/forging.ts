/** Forged exports: parts of real ones, joined in other ways. */
import { blake3 } from '@noble/hashes/blake3.js';
import { FORMAT, SEGMENTS_PER_WRITER } from '../../src/base/limits.js';
import { endOf, frameOf, headerOf } from '../../src/engine/transfer/format.js';
import type { Storage } from '../../src/index.js';
import { chunkIn, chunksOf } from './stored-chunks.js';
import { joined, storedIn } from './transferring.js';

const ZERO = new Uint8Array(32);

export interface Segment {
  tableBytes: Uint8Array;
  segmentBytes: Uint8Array;
}

export interface Forged {
  refs: { name: string; commitBytes: Uint8Array }[];
  segments: Segment[];
}

/** Returns the parts of a store's export, to be joined in other ways. */
export async function partsOf(storage: Storage, name: string): Promise<Forged> {
  const { tables, segments, refs } = await storedIn(storage, name);
  const commitBytes = refs.get('main')?.commitBytes ?? ZERO;
  return {
    refs: [{ name: 'main', commitBytes }],
    segments: tables.map(({ tableBytes }, at) => ({
      tableBytes,
      segmentBytes: segments[at] as Uint8Array,
    })),
  };
}

/** Joins parts as an export does, with right checksums. */
export function forge({ refs, segments }: Forged): Uint8Array {
  const frames = segments.flatMap(({ tableBytes, segmentBytes }, at) => [
    frameOf(at, tableBytes),
    segmentBytes,
  ]);
  return joined([headerOf(refs, 1000), ...frames, endOf(segments.length)]);
}

/** Returns a segment of one chunk. */
export function segmentOf(hash: Uint8Array, chunk: Uint8Array): Segment {
  const table = new Uint8Array(12 + 40);
  table.set([0x48, 0x44, 0x47, 0x54, 1, 2, 0, 0, 1]);
  table.set(hash, 12);
  // The chunk ends there and is not packed.
  for (const at of [44, 48]) new DataView(table.buffer).setUint32(at, chunk.length, true);
  return { tableBytes: table, segmentBytes: chunk };
}

/** Returns the hash of a chunk. */
export const hashOf = (chunk: Uint8Array): Uint8Array => blake3(chunk);

/** Returns a segment of one chunk, under its right hash. */
export const segmentWith = (chunk: Uint8Array): Segment => segmentOf(hashOf(chunk), chunk);

/** Returns the chunks of an export by their hashes, in hexadecimal. */
export function chunksIn({ segments }: Forged): Map<string, Uint8Array> {
  const chunks = segments.flatMap((segment) =>
    chunksOf(segment).map((place): [string, Uint8Array] => [
      place.hash,
      chunkIn(segment.segmentBytes, place)?.slice() ?? new Uint8Array(),
    ]),
  );
  return new Map(chunks);
}

/** Returns a copy of bytes with `to` in the place of `from`, which occurs once and is as long. */
export function replaced(bytes: Uint8Array, from: Uint8Array, to: Uint8Array): Uint8Array {
  const at = Buffer.from(bytes).indexOf(Buffer.from(from));
  if (at < 0 || from.length !== to.length) throw new Error('it is not there, or of another length');
  const copy = bytes.slice();
  copy.set(to, at);
  return copy;
}

/** Writes the forged parts into an empty store. */
export async function plant(storage: Storage, name: string, forged: Forged): Promise<void> {
  const store = await storage.open(name);
  const first = (await store.reserve()) * SEGMENTS_PER_WRITER;
  const segments = forged.segments.map((segment, at) => ({ id: first + at, ...segment }));
  const [main] = forged.refs;
  if (main === undefined) throw new Error('there is no main branch');
  const move = { ...main, generation: 1, format: FORMAT, expected: 0 };
  const done = await store.write({ segments, move, durability: 'strict' });
  if (!done) throw new Error('the store is not empty');
  await store.close();
}
