/** Stores the segments that the core has made of what came from the remote. */

import { hex } from '../../base/hex.js';
import { type LazyCloneCalls, lazyCloneCalls } from '../../core/calls/lazy-clone-calls.js';
import { type MadeSegment, removeSegment } from '../../core/calls/segment-calls.js';
import type { SharedStore } from '../../engine/history/state-shared-by-branches.js';
import type { HashFunction } from '../remote/format/content-names.js';
import { invalidRemote } from '../remote/format/field-codec.js';
import { recordsIn } from '../remote/format/node-records.js';
import { chunksOf } from './lazy-segment-table.js';

/** Chunks by their hashes in hexadecimal. */
export type Chunks = Map<string, Uint8Array>;

/**
 * Takes the segments that the core has made, and writes them. Without space for them they are used once, and fetched
 * again by the next read. Call `shared.prepareIds()` before the core makes them.
 */
export async function store(shared: SharedStore, core: LazyCloneCalls): Promise<Chunks> {
  const segments = core.take();
  const chunks: Chunks = new Map();
  for (const segment of segments) {
    shared.registerSegment(segment.id);
    for (const [name, bytes] of chunksOf(segment.tableBytes, segment.segmentBytes)) {
      chunks.set(name, bytes);
    }
  }
  if (segments.length > 0) await write(shared, segments);
  return chunks;
}

/** Stores the wanted nodes of these records, by their hashes, though they are here: the stored ones are damaged. */
export async function storeAgain(
  shared: SharedStore,
  hash: HashFunction,
  frames: Iterable<Uint8Array>,
  wanted: { has(name: string): boolean },
): Promise<Chunks> {
  const core = await lazyCloneCalls(shared.host);
  const found = new Set<string>();
  for (const recordsBytes of frames) {
    for (const { nodeBytes, recordBytes } of recordsOf(recordsBytes)) {
      const name = hex(hash(nodeBytes));
      if (!wanted.has(name) || found.has(name)) continue;
      found.add(name);
      core.landAgain(recordBytes);
    }
  }
  return store(shared, core);
}

/** Reads all records of a frame, which may be malformed. */
function recordsOf(recordsBytes: Uint8Array) {
  try {
    return [...recordsIn(recordsBytes)];
  } catch {
    throw invalidRemote('nodes', 'a record is cut off', 0);
  }
}

async function write(shared: SharedStore, segments: readonly MadeSegment[]): Promise<void> {
  const { host, inventory } = shared;
  try {
    await host.segments.write({ segments, durability: 'relaxed' });
    for (const { id } of segments) inventory.markStored(id);
  } catch {
    for (const { id } of segments) {
      inventory.unmade(id);
      removeSegment(host.engine, id);
    }
  }
}
