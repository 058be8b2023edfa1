/**
 * The tables of many segments joined to one record, which Chromium reads in a fraction of the time of their own
 * records. It is only a copy. The keys of `tables` say which segments exist, and the table of an id never changes: so
 * an old copy is right about existing segments. A record that is damaged, or replaced during its read, is ignored.
 */
import { toUint8Array } from '../../base/bytes.js';
import { blobOf, readBlob } from './blobs.js';
import { isWhole } from './ref-journal.js';

/** The key of the only record. */
export const JOINED_KEY = 0;

/** The lengths in the head of the record: the sum of the tables, then the id and the end of each, all as doubles. */
export const SUM_BYTES = 8;
export const ENTRY_BYTES = 16;

/** Adds bytes to a sum: any change of four bytes changes it. */
function addToSum(before: number, bytes: Uint8Array): number {
  const { buffer, byteOffset, length } = bytes;
  const words = length >>> 2;
  const aligned = byteOffset % 4 === 0;
  const [whole, from] = aligned ? [buffer, byteOffset] : [new Uint8Array(bytes).buffer, 0];
  let sum = before;
  const all = new Int32Array(whole, from, words);
  // Loop by index: over six megabytes `for of` takes 20 ms, and this loop 3.
  for (let at = 0; at < words; at++) sum = (Math.imul(sum, 31) + (all[at] as number)) | 0;
  for (const byte of bytes.subarray(4 * words)) sum = (Math.imul(sum, 31) + byte) | 0;
  return sum;
}

/** Computes the sum that a record has of its own bytes, to find accidents. */
export function sumOf(head: Uint8Array, body: Uint8Array): number {
  return addToSum(addToSum(body.length, head.subarray(SUM_BYTES)), body);
}

/** The joined tables of segments, by their ids. */
export class JoinedTables {
  readonly #head: Uint8Array;
  /** Where each table begins and ends. */
  readonly #places: ReadonlyMap<number, readonly [from: number, to: number]>;
  readonly #body: Uint8Array | Blob;

  private constructor(
    head: Uint8Array,
    places: ReadonlyMap<number, readonly [number, number]>,
    body: Uint8Array | Blob,
  ) {
    this.#head = head;
    this.#places = places;
    this.#body = body;
  }

  /** Reads the joined tables of a stored record; returns `undefined` if it is absent or malformed. */
  static from(value: unknown): JoinedTables | undefined {
    const [first, second] = Array.isArray(value) ? value : [];
    const head = toUint8Array(first);
    const body = toUint8Array(second) ?? blobOf(second);
    if (head === undefined || body === undefined || head.length % ENTRY_BYTES !== SUM_BYTES) return;
    const view = new DataView(head.buffer, head.byteOffset, head.length);
    const places = new Map<number, readonly [number, number]>();
    let end = 0;
    for (let at = SUM_BYTES; at < head.length; at += ENTRY_BYTES) {
      const [id, to] = [view.getFloat64(at, true), view.getFloat64(at + 8, true)];
      if (!isWhole(id) || !isWhole(to) || to < end) return;
      places.set(id, [end, to]);
      end = to;
    }
    if (end !== (body instanceof Uint8Array ? body.length : body.size)) return;
    return new JoinedTables(head, places, body);
  }

  /** The number of tables. */
  get size(): number {
    return this.#places.size;
  }

  has(id: number): boolean {
    return this.#places.has(id);
  }

  /** Reads the tables; resolves to `undefined` if they are damaged, or replaced in the meantime. */
  async read(): Promise<((id: number) => Uint8Array | undefined) | undefined> {
    const body = this.#body;
    const bytes = body instanceof Uint8Array ? body : await readBlob(body, 0);
    const head = this.#head;
    const sum = new DataView(head.buffer, head.byteOffset).getFloat64(0, true);
    if (bytes === undefined || sumOf(head, bytes) !== sum) return undefined;
    return (id) => {
      const place = this.#places.get(id);
      return place && bytes.subarray(...place);
    };
  }
}

/** Returns whether a database has the object store of joined tables, which older databases lack. */
export function canJoin(db: IDBDatabase): boolean {
  return [...db.objectStoreNames].includes('joined');
}
