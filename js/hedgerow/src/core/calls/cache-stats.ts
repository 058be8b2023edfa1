/** The counts that a core has of its segments, and of reads of them. */
import * as Reply from '../../base/abi/reply.js';
import type { Engine } from '../engine.js';

/** Counts known segments, chunks, bytes and small segments, bytes in memory, and reads that hit or missed memory. */
export function cacheStats(engine: Engine): {
  segments: number;
  chunks: number;
  storedBytes: number;
  cachedBytes: number;
  smallSegments: number;
  cacheHits: number;
  cacheMisses: number;
} {
  engine.core.cache_stats();
  return {
    segments: engine.word(Reply.cacheSegments),
    chunks: engine.word(Reply.cacheChunks),
    storedBytes: engine.word(Reply.cacheStoredBytes),
    cachedBytes: engine.word(Reply.cacheCachedBytes),
    smallSegments: engine.word(Reply.cacheSmallSegments),
    cacheHits: engine.word(Reply.cacheHits),
    cacheMisses: engine.word(Reply.cacheMisses),
  };
}

/** The size of linear memory in bytes. */
export function memoryBytes({ core }: Engine): number {
  return core.memory.buffer.byteLength;
}
