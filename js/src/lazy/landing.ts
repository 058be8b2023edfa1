/** Stores what came from the remote: the segments that the core has made of it. */

import { type MadeSegment, removeSegment } from '../core/calls/segments.js';
import type { LazyEngine } from '../core/lazy-engine.js';
import type { SharedStore } from '../history/shared-store.js';
import { chunksOf } from './table.js';

/** Chunks by their hashes in hexadecimal. */
export type Chunks = Map<string, Uint8Array>;

/**
 * Takes the segments that the core has made, and writes them. Where there is no room for them they are used once, and
 * fetched again when they are read again. Call `shared.prepareIds()` before they are made.
 */
export async function store(shared: SharedStore, core: LazyEngine): Promise<Chunks> {
  const segments = core.take();
  const chunks: Chunks = new Map();
  for (const segment of segments) {
    shared.made(segment.id);
    for (const [name, bytes] of chunksOf(segment.tableBytes, segment.segmentBytes)) {
      chunks.set(name, bytes);
    }
  }
  if (segments.length > 0) await write(shared, segments);
  return chunks;
}

async function write(shared: SharedStore, segments: readonly MadeSegment[]): Promise<void> {
  const { host, inventory } = shared;
  try {
    await host.segments.write({ segments, durability: 'relaxed' });
    for (const { id } of segments) inventory.stored(id);
  } catch {
    for (const { id } of segments) {
      inventory.unmade(id);
      removeSegment(host.engine, id);
    }
  }
}
