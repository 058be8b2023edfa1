/**
 * Segments and tables as they are stored: a header, the salt of the key and the length of the segment, and what is sealed: of
 * a segment's key the table is number 0, the segment number 1. A whole segment is authenticated; a part of one is decrypted
 * alone, and the hashes of its chunks, which the sealed commit leads to, tell whether it is right.
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

/** What a part is read by. */
export interface PartReadPlan {
  /** What is read of storage. */
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

/** The first byte of the block of the cipher with a byte of the segment. */
const blockOf = (position: number) => position - (position % BLOCK_BYTES);

/** What a segment and its table are bound to. */
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

  /** The tables of what is stored. One that is damaged has no bytes, so that its chunks are unknown. */
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

  /** What is to be read for what is wanted: of a part the blocks of the cipher that it lies in. */
  planRead(wanted: SegmentRequest): PartReadPlan {
    const id = segmentOf(wanted);
    const header = this.#headers.get(id);
    if (header === undefined || typeof wanted === 'number') return { stored: id, wanted, header };
    const to = Math.min(wanted.to, header.length);
    // Behind its end there is nothing to be read, but whether it is there.
    if (wanted.from >= to) return { stored: { id, from: 0, to: 1 }, wanted, header };
    const from = HEADER_BYTES + blockOf(wanted.from);
    return { stored: { id, from, to: HEADER_BYTES + to }, wanted, header };
  }

  /**
   * What is wanted of what was read. Of what is damaged these are other bytes, and of a segment that is cut off what is left,
   * as in a plain store: the core finds by their hashes that they are not the chunks that it needs.
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
    // Of a segment that is not authentic most chunks may be sound.
    const textBytes = sealedBytes.subarray(0, header.length - begin);
    const opened = whole ?? (await decryptPart(key.parts, SEGMENT, begin, textBytes));
    // The caller gets a buffer of its own, and no longer one.
    const isExact = from === begin && opened.length <= to - begin;
    return isExact ? opened : opened.slice(from - begin, to - begin);
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
