import { collect, collected } from '../core/calls/collect.js';
import * as segments from '../core/calls/segments.js';
import { Host } from '../core/host.js';
import { stepped } from '../core/survey.js';

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

  private constructor(host: Host) {
    this.#host = host;
  }

  static async create(sliceMs: number): Promise<Checker> {
    return new Checker(await Host.alone(CACHE_BYTES, sliceMs));
  }

  /** Whether a table is well-formed. */
  isTable(tableBytes: Uint8Array): boolean {
    const { engine } = this.#host;
    const isWell = segments.addTable(engine, ID, tableBytes);
    segments.removeSegment(engine, ID);
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
    segments.setNextSegment(engine, NEXT_ID);
    segments.addTable(engine, ID, ofAll);
    segments.loadSegment(engine, ID, segmentBytes);
    const op = collect(engine, 0, MANY_BYTES);
    try {
      return (await stepped(this.#host, op, () => collected(engine).segments)).includes(ID);
    } finally {
      engine.free(op, false);
      segments.removeSegment(engine, ID);
    }
  }
}
