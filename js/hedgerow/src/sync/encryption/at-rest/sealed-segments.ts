/**
 * Seals segments and tables. They are stored behind a header: the salt of the key, and the length of the segment. A
 * segment's key seals the table as number 0, the segment as number 1. A whole segment is authenticated; a part is
 * decrypted alone, and the hashes of its chunks, which the sealed commit leads to, show whether it is right.
 */

import { concatBytes, sameBytes } from '../../../base/bytes.js';
import { startInSlices } from '../../../base/start-in-slices.js';
import {
  type SegmentRecord,
  type SegmentRequest,
  segmentOf,
  type TableRecord,
} from '../../../storage/segment-store.js';
import { BLOCK_BYTES, decryptPart, openFrame, sealFrame } from '../aead.js';
import { SALT_BYTES, SegmentKeys } from './segment-keys.js';

type Bytes = Uint8Array | undefined;

const HEADER_BYTES = SALT_BYTES + 4;

/** The header of a segment. */
interface Header {
  readonly saltBytes: Uint8Array;
  readonly length: number;
}

/** The plan to read a segment, or a part of it. */
export interface PartReadPlan {
  /** The request to storage. */
  readonly stored: SegmentRequest;
  readonly wanted: SegmentRequest;
  readonly header: Header | undefined;
}

const [TABLE, SEGMENT] = [0, 1];
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

/** Returns the first byte of the cipher block that has a byte of the segment. */
const blockOf = (position: number) => position - (position % BLOCK_BYTES);

/** Makes the bytes that a segment and its table are bound to. */
function contextOf(id: number, { length }: Header): Uint8Array {
  const bytes = new Uint8Array(12);
  const view = new DataView(bytes.buffer);
  view.setFloat64(0, id, true);
  view.setUint32(8, length, true);
  return bytes;
}

export class SealedSegments {
  readonly #keys: SegmentKeys;
  /** The headers of segments, by their ids, from the tables. */
  readonly #headers = new Map<number, Header>();

  constructor(root: CryptoKey) {
    this.#keys = new SegmentKeys(root);
  }

  /** Makes the stored form of a segment. */
  async seal({ id, segmentBytes, tableBytes }: SegmentRecord): Promise<SegmentRecord> {
    const { saltBytes, key } = await this.#keys.fresh();
    const header: Header = { saltBytes, length: segmentBytes.length };
    const [context, start] = [contextOf(id, header), headerBytes(header)];
    const [table, segment] = await Promise.all([
      sealFrame(key.whole, TABLE, context, tableBytes),
      sealFrame(key.whole, SEGMENT, context, segmentBytes),
    ]);
    this.#keys.keep(id, Promise.resolve(key));
    this.#headers.set(id, header);
    return {
      id,
      segmentBytes: concatBytes([start, segment]),
      tableBytes: concatBytes([start, table]),
    };
  }

  /** Opens stored tables. A damaged table gets no bytes, so that its chunks are unknown. */
  openTables(stored: readonly TableRecord[]): Promise<TableRecord[]> {
    return startInSlices(stored, (one) => this.#openTable(one));
  }

  async #openTable({ id, tableBytes, segmentBytes }: TableRecord): Promise<TableRecord> {
    const header = headerOf(tableBytes);
    if (header === undefined) return { id, tableBytes: NOTHING() };
    if (!sameBytes(this.#headers.get(id)?.saltBytes, header.saltBytes)) this.#keys.forget(id);
    const key = await this.#keys.of(id, header.saltBytes);
    const sealedBytes = tableBytes.subarray(HEADER_BYTES);
    const opened = await openFrame(key.whole, TABLE, contextOf(id, header), sealedBytes);
    if (opened === undefined) {
      this.#keys.forget(id);
      return { id, tableBytes: NOTHING() };
    }
    this.#headers.set(id, header);
    if (segmentBytes === undefined) return { id, tableBytes: opened };
    const [segment] = await this.open([{ stored: id, wanted: id, header }], [segmentBytes]);
    return { id, tableBytes: opened, ...(segment && { segmentBytes: segment }) };
  }

  /** Plans a read: for a part, of the cipher blocks that it lies in. */
  planRead(wanted: SegmentRequest): PartReadPlan {
    const id = segmentOf(wanted);
    const header = this.#headers.get(id);
    if (header === undefined || typeof wanted === 'number') return { stored: id, wanted, header };
    const to = Math.min(wanted.to, header.length);
    // Behind the end, a read only finds whether the segment is there.
    if (wanted.from >= to) return { stored: { id, from: 0, to: 1 }, wanted, header };
    const from = HEADER_BYTES + blockOf(wanted.from);
    return { stored: { id, from, to: HEADER_BYTES + to }, wanted, header };
  }

  /**
   * Returns the wanted bytes of what was read. A damaged segment gives other bytes, and a segment that is cut off gives
   * fewer, as in a plain store: the core finds by their hashes that they are not its chunks.
   */
  open(readings: readonly PartReadPlan[], stored: readonly Bytes[]): Promise<Bytes[]> {
    return startInSlices(readings, async (reading, at) => {
      const storedBytes = stored[at];
      return storedBytes && this.#open(reading, storedBytes);
    });
  }

  async #open(
    { stored, wanted, header: known }: PartReadPlan,
    storedBytes: Uint8Array,
  ): Promise<Bytes> {
    const id = segmentOf(wanted);
    const header = known ?? headerOf(storedBytes);
    if (header === undefined) return NOTHING();
    const isWhole = typeof stored === 'number';
    const begin = isWhole ? 0 : stored.from - HEADER_BYTES;
    const sealedBytes = isWhole ? storedBytes.subarray(HEADER_BYTES) : storedBytes;
    const { from, to } = typeof wanted === 'number' ? { from: 0, to: header.length } : wanted;
    if (from >= Math.min(to, header.length)) return NOTHING();
    const key = await this.#keys.of(id, header.saltBytes);
    const whole = isWhole
      ? await openFrame(key.whole, SEGMENT, contextOf(id, header), sealedBytes)
      : undefined;
    // Most chunks of a segment that is not authentic may be sound.
    const textBytes = sealedBytes.subarray(0, header.length - begin);
    const opened = whole ?? (await decryptPart(key.parts, SEGMENT, begin, textBytes));
    // The caller gets a buffer of its own, with no more bytes than it wants.
    const isExact = from === begin && opened.length <= to - begin;
    return isExact ? opened : opened.slice(from - begin, to - begin);
  }

  /** Forgets segments that are no longer stored. */
  forget(ids: Iterable<number>): void {
    for (const id of ids) {
      this.#headers.delete(id);
      this.#keys.forget(id);
    }
  }

  /** Forgets all segments except the stored ones. */
  keepOnly(stored: ReadonlySet<number>): void {
    this.forget([...this.#headers.keys()].filter((id) => !stored.has(id)));
  }
}
