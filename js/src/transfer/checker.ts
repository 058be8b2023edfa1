import { Engine } from '../core/engine.js';
import { Host } from '../core/host.js';
import { stepped } from '../core/survey.js';
import type { SegmentStore } from '../storage/segment-store.js';

/** The least that a core keeps; it only ever holds one segment. */
const CACHE_BYTES = 0;
/** Where the table says what the segment is said to hold. */
const STREAMS_AT = 5;
const ID = 1;
const NEXT_ID = 1 << 20;
/** So many bytes of values that a collection does not ask which of them are live. */
const MANY_BYTES = 2 ** 50;

/** Checks segments against their tables, chunk by chunk, on a core of its own. */
export class Checker {
  readonly #host: Host;

  private constructor(engine: Engine, sliceMs: number) {
    // It never asks for a segment that it has not.
    this.#host = new Host(engine, {} as SegmentStore, sliceMs);
  }

  static async create(sliceMs: number): Promise<Checker> {
    return new Checker(await Engine.create(CACHE_BYTES), sliceMs);
  }

  /** Whether a table is well-formed. */
  isTable(tableBytes: Uint8Array): boolean {
    const { engine } = this.#host;
    const isWell = engine.addTable(ID, tableBytes);
    engine.removeSegment(ID);
    return isWell;
  }

  /**
   * Whether each chunk of a segment has the hash that its table, which is well-formed, says. A
   * collection gives up no segment of which that is not so: here nothing is live, so that
   * it gives up all others.
   */
  async isWhole(tableBytes: Uint8Array, segmentBytes: Uint8Array): Promise<boolean> {
    const { engine } = this.#host;
    const ofAll = new Uint8Array(tableBytes);
    // Values alone it would leave where they are, unread.
    ofAll[STREAMS_AT] = 0;
    engine.setNextSegment(NEXT_ID);
    engine.addTable(ID, ofAll);
    engine.loadSegment(ID, segmentBytes);
    const op = engine.collect(0, MANY_BYTES);
    try {
      return (await stepped(this.#host, op, () => engine.numbers())).includes(ID);
    } finally {
      engine.free(op, false);
      engine.removeSegment(ID);
    }
  }
}
