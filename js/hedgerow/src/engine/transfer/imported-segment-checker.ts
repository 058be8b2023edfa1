import { readCollectReply, startCollection } from '../../core/calls/garbage-collection-calls.js';
import * as segments from '../../core/calls/segment-calls.js';
import { stepToEnd } from '../../core/count-reachable-bytes.js';
import type { Host } from '../../core/operation-host.js';
import { startHost } from '../../core/start-host.js';

/** The smallest cache: this core has only one segment at a time. */
const CACHE_BYTES = 0;
/** The offset of the byte of a table that names the streams of its segment. */
const STREAMS_AT = 5;
const ID = 1;
const NEXT_ID = 1 << 20;
/** More bytes of values than any store has, so that a collection does not search for live ones. */
const MANY_BYTES = 2 ** 50;

/** Checks segments against their tables, chunk by chunk, on a core of its own. */
export class ImportedSegmentChecker {
  readonly #host: Host;

  private constructor(host: Host) {
    this.#host = host;
  }

  static async create(sliceMs: number): Promise<ImportedSegmentChecker> {
    return new ImportedSegmentChecker(await startHost(CACHE_BYTES, sliceMs));
  }

  /** Reports whether a table is well-formed. */
  isTable(tableBytes: Uint8Array): boolean {
    const { engine } = this.#host;
    const isWellFormed = segments.addTable(engine, ID, tableBytes);
    segments.removeSegment(engine, ID);
    return isWellFormed;
  }

  /**
   * Reports whether each chunk of a segment has the hash in its table, which must be well-formed. Runs a collection
   * without live chunks: it deletes each segment, unless a chunk of it has a wrong hash.
   */
  async isWhole(tableBytes: Uint8Array, segmentBytes: Uint8Array): Promise<boolean> {
    const { engine } = this.#host;
    const untyped = new Uint8Array(tableBytes);
    // Else a segment with only values would stay unread.
    untyped[STREAMS_AT] = 0;
    segments.setNextSegment(engine, NEXT_ID);
    segments.addTable(engine, ID, untyped);
    segments.loadSegment(engine, ID, segmentBytes);
    const op = startCollection(engine, 0, MANY_BYTES);
    try {
      return (await stepToEnd(this.#host, op, () => readCollectReply(engine).segments)).includes(
        ID,
      );
    } finally {
      engine.free(op, false);
      segments.removeSegment(engine, ID);
    }
  }
}
