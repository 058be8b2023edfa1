/**
 * Segments and tables as they are stored. Both begin with the header of the segment (`frames.ts`). Frame 0 of a segment's
 * key is its table, frame `n + 1` the frame `n` of the segment itself.
 */
import { joined, sameBytes } from '../../base/bytes.js';
import { begunInSlices } from '../../storage/idb/reading.js';
import {
  type SegmentRecord,
  segmentOf,
  type TableRecord,
  type Wanted,
} from '../../storage/segment-store.js';
import { openFrame, openPart, sealFrame } from '../aead.js';
import {
  frameCount,
  frameOf,
  HEADER_BYTES,
  type Part,
  partOf,
  placeOf,
  SALT_BYTES,
  storedLength,
} from './frames.js';
import { SegmentKeys } from './segment-keys.js';

type Bytes = Uint8Array | undefined;

/** The header of a segment. */
interface Header {
  readonly saltBytes: Uint8Array;
  readonly length: number;
}

/** One frame to be opened, or a part of one, and where its bytes go. */
interface Job {
  readonly id: number;
  readonly header: Header;
  readonly part: Part;
  readonly sealedBytes: Uint8Array;
  readonly into: Uint8Array;
  /** What is wanted of the segment: `into` begins with the first byte of it. */
  readonly from: number;
  readonly to: number;
}

/** What a part is read by. */
export interface Reading {
  /** What is read of storage. */
  readonly stored: Wanted;
  readonly wanted: Wanted;
  readonly header: Header | undefined;
}

const TABLE = 0;
const NOTHING = () => new Uint8Array();

function headerBytes({ saltBytes, length }: Header): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES);
  bytes.set(saltBytes);
  new DataView(bytes.buffer).setUint32(SALT_BYTES, length, true);
  return bytes;
}

function headerOf(storedBytes: Uint8Array): Header | undefined {
  if (storedBytes.length < HEADER_BYTES) return undefined;
  const view = new DataView(storedBytes.buffer, storedBytes.byteOffset);
  return {
    saltBytes: storedBytes.slice(0, SALT_BYTES),
    length: view.getUint32(SALT_BYTES, true),
  };
}

/** What the frames of a segment are bound to. */
function contextOf(id: number, { length }: Header): Uint8Array {
  const bytes = new Uint8Array(12);
  const view = new DataView(bytes.buffer);
  view.setFloat64(0, id, true);
  view.setUint32(8, length, true);
  return bytes;
}

export class SealedSegments {
  readonly #keys: SegmentKeys;
  /** The headers of segments, by their ids, as tables tell them. */
  readonly #headers = new Map<number, Header>();

  constructor(root: CryptoKey) {
    this.#keys = new SegmentKeys(root);
  }

  /** What is stored for a segment. */
  async seal({ id, segmentBytes, tableBytes }: SegmentRecord): Promise<SegmentRecord> {
    const { saltBytes, key } = await this.#keys.fresh();
    const { length } = segmentBytes;
    const header: Header = { saltBytes, length };
    const context = contextOf(id, header);
    const start = headerBytes(header);
    const stored = new Uint8Array(storedLength(length));
    stored.set(start);
    const places = Array.from({ length: frameCount(length) }, (_, at) => placeOf(at, length));
    const table = sealFrame(key.frames, TABLE, context, tableBytes);
    await begunInSlices(places, async ({ at, from, to, storedFrom }) => {
      stored.set(
        await sealFrame(key.frames, at + 1, context, segmentBytes.subarray(from, to)),
        storedFrom,
      );
    });
    const sealedTable = joined([start, await table]);
    this.#keys.keep(id, Promise.resolve(key));
    this.#headers.set(id, header);
    return { id, segmentBytes: stored, tableBytes: sealedTable };
  }

  /** The tables of what is stored. One that is damaged has no bytes, so that its chunks are unknown. */
  openTables(stored: readonly TableRecord[]): Promise<TableRecord[]> {
    return begunInSlices(stored, (one) => this.#openTable(one));
  }

  async #openTable({ id, tableBytes, segmentBytes }: TableRecord): Promise<TableRecord> {
    const header = headerOf(tableBytes);
    if (header === undefined) return { id, tableBytes: NOTHING() };
    if (!sameBytes(this.#headers.get(id)?.saltBytes, header.saltBytes)) this.#keys.forget(id);
    const key = await this.#keys.of(id, header.saltBytes);
    const sealedBytes = tableBytes.subarray(HEADER_BYTES);
    const opened = await openFrame(key.frames, TABLE, contextOf(id, header), sealedBytes);
    if (opened === undefined) {
      this.#keys.forget(id);
      return { id, tableBytes: NOTHING() };
    }
    this.#headers.set(id, header);
    if (segmentBytes === undefined) return { id, tableBytes: opened };
    const [segment] = await this.open([{ stored: id, wanted: id, header }], [segmentBytes]);
    return { id, tableBytes: opened, ...(segment && { segmentBytes: segment }) };
  }

  /** What is to be read for what is wanted. */
  reading(wanted: Wanted): Reading {
    const id = segmentOf(wanted);
    const header = this.#headers.get(id);
    if (header === undefined || typeof wanted === 'number') return { stored: id, wanted, header };
    // Behind its end there is nothing to be read, but whether it is there.
    const to = Math.min(wanted.to, header.length);
    if (wanted.from >= to) return { stored: { id, from: 0, to: 1 }, wanted, header };
    const [first, last] = [wanted.from, to - 1].map((at) =>
      partOf(placeOf(frameOf(at), header.length), wanted.from, to),
    ) as [Part, Part];
    return { stored: { id, from: first.storedFrom, to: last.storedTo }, wanted, header };
  }

  /**
   * What is wanted of what was read. Of what is damaged other bytes, as in a plain store, and a segment that is cut off ends
   * with its last whole frame: the core finds by their hashes that these are not the chunks that it needs.
   */
  async open(readings: readonly Reading[], stored: readonly Bytes[]): Promise<Bytes[]> {
    const jobs: Job[] = [];
    const found = readings.map((reading, at) => {
      const storedBytes = stored[at];
      return storedBytes && this.#begin(reading, storedBytes, jobs);
    });
    await begunInSlices(jobs, async (job) => {
      const { part, into, from, to } = job;
      const opened = await this.#openPart(job);
      const [start, end] = [Math.max(from, part.from), Math.min(to, part.to)];
      into.set(opened.subarray(start - part.from, end - part.from), start - from);
    });
    return found;
  }

  /** A frame that is not authentic is decrypted all the same: of its chunks most may be sound, and the core finds which. */
  async #openPart({ id, header, part, sealedBytes }: Job): Promise<Uint8Array> {
    const key = await this.#keys.of(id, header.saltBytes);
    const number = part.place.at + 1;
    if (part.isWhole) {
      const opened = await openFrame(key.frames, number, contextOf(id, header), sealedBytes);
      if (opened !== undefined) return opened;
    }
    const textBytes = sealedBytes.subarray(0, part.to - part.from);
    return openPart(key.parts, number, part.storedFrom - part.place.storedFrom, textBytes);
  }

  /** Adds the frames of what was read to `jobs`, and returns the bytes that these fill. */
  #begin({ stored, wanted, header: known }: Reading, storedBytes: Uint8Array, jobs: Job[]): Bytes {
    const id = segmentOf(wanted);
    const header = known ?? headerOf(storedBytes);
    if (header === undefined) return NOTHING();
    const whole = { from: 0, to: header.length };
    const { from, to: end } = typeof wanted === 'number' ? whole : wanted;
    const to = Math.min(end, header.length);
    const skipped = typeof stored === 'number' ? 0 : stored.from;
    const parts: Part[] = [];
    for (let at = frameOf(from); from < to && at <= frameOf(to - 1); at++) {
      const part = partOf(placeOf(at, header.length), from, to);
      if (part.storedTo - skipped > storedBytes.length) break;
      parts.push(part);
    }
    const last = parts.at(-1);
    const into = new Uint8Array(last === undefined ? 0 : Math.min(to, last.to) - from);
    for (const part of parts) {
      const { storedFrom, storedTo } = part;
      const sealedBytes = storedBytes.subarray(storedFrom - skipped, storedTo - skipped);
      jobs.push({ id, header, part, sealedBytes, into, from, to: from + into.length });
    }
    return into;
  }

  /** Forgets segments that are not stored any more. */
  forget(ids: Iterable<number>): void {
    for (const id of ids) {
      this.#headers.delete(id);
      this.#keys.forget(id);
    }
  }

  /** Forgets all but those that are stored. */
  keepOnly(stored: ReadonlySet<number>): void {
    this.forget([...this.#headers.keys()].filter((id) => !stored.has(id)));
  }
}
