/** Calls for stored segments, which the core knows by their tables, and for new segments. */
import * as Reply from '../../base/abi/reply.js';
import * as Status from '../../base/abi/status.js';
import type { SegmentRequest, TableRecord } from '../../storage/segment-store.js';
import type { Engine, Op } from '../engine.js';

/** A finished segment as the core hands it out. */
export interface MadeSegment {
  readonly id: number;
  readonly segmentBytes: Uint8Array;
  readonly tableBytes: Uint8Array;
}

/** Reserves memory for the next tables. */
export function reserve(
  { core }: Engine,
  tables: readonly Pick<TableRecord, 'tableBytes'>[],
): void {
  core.reserve_tables(tables.reduce((sum, { tableBytes }) => sum + tableBytes.length, 0));
}

/** Sets whether more tables are to come: as long as they are, a read of an unknown chunk asks for its table. */
export function awaitTables({ core }: Engine, awaits: boolean): void {
  core.await_tables(awaits ? 1 : 0);
}

/** Adds a stored segment by its table; returns `false` if the table is malformed. */
export function addTable(engine: Engine, id: number, tableBytes: Uint8Array): boolean {
  engine.pass(tableBytes);
  return engine.core.add_table(id, tableBytes.length) === Status.done;
}

/** Passes the core the wanted bytes of a known segment. */
export function loadSegment(engine: Engine, wanted: SegmentRequest, bytes: Uint8Array): void {
  const { id, from, to } = typeof wanted === 'number' ? { id: wanted, from: 0, to: 0 } : wanted;
  if (engine.reader !== undefined) {
    engine.reader.take_segment(id, from, to, bytes);
    return;
  }
  engine.incoming(bytes);
  engine.core.load_segment(id, from, to);
}

/** Marks a new segment as stored, so that it may leave memory. */
export function storedSegment(engine: Engine, id: number): void {
  engine.quietly(() => engine.core.stored_segment(id));
}

/** Forgets a segment and its chunks. */
export function removeSegment(engine: Engine, id: number): void {
  engine.quietly(() => engine.core.remove_segment(id));
}

/** Sets the id of the next new segment. */
export function setNextSegment({ core }: Engine, id: number): void {
  core.set_next_segment(id);
}

/** Takes the next segment that an ingest or a collection has made. */
export function takeSegment(engine: Engine, op: Op): MadeSegment | undefined {
  if (engine.core.take_segment(engine.own(op)) !== Status.segment) return undefined;
  return {
    id: engine.word(Reply.segmentId),
    segmentBytes: engine.copy(Reply.segmentAddress, Reply.segmentLength),
    tableBytes: engine.copy(Reply.segmentTable, Reply.segmentTableLength),
  };
}

/** Counts the bytes of all known segments. */
export function storedBytes(engine: Engine): number {
  engine.core.cache_stats();
  return engine.word(Reply.cacheStoredBytes);
}
