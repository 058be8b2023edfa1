/** The bytes of entries, as a head and a log have them: `docs/format.md` draws them. */

import { type FieldReader, type FieldWriter, HASH_BYTES, ID_BYTES, isZero } from './field-codec.js';
import { MAX_HEAD_ENTRIES, MAX_INLINE_DELTA_BYTES } from './format-limits.js';
import type { DeltaRecord, RowTree, Tail, TailEntry } from './head-record.js';

const INLINE = 0;
const OBJECT = 1;

/** The offsets of the parts of an object, by their names. */
export type PartOffsets = Map<string, number>;

/** Bytes of an entry without its delta: seq, nonce, rows, and kind and length of the delta. */
const ENTRY_BYTES = 8 + ID_BYTES + HASH_BYTES + 8 + 1 + 4;

/** Returns how many bytes entries have. */
export function entriesLength(tail: readonly TailEntry[]): number {
  const lengthOf = ({ delta }: TailEntry) =>
    ENTRY_BYTES + (delta.kind === 'inline' ? delta.deltaBytes.length : HASH_BYTES);
  return tail.reduce((sum, entry) => sum + lengthOf(entry), 0);
}

/** Writes their number, the rows before the first one if there are any, and the entries. */
export function writeTail(writer: FieldWriter, { base, tail }: Tail): void {
  writer.u16(tail.length);
  if (tail.length > 0) writeRows(writer, base);
  for (const entry of tail) writeEntry(writer, entry);
}

/** Reads what `writeTail` writes; `rows` are the base if there are no entries. */
export function readTail(reader: FieldReader, rows: RowTree, places: PartOffsets): Tail {
  const entries = readFieldCount(reader, 'entries', MAX_HEAD_ENTRIES);
  places.set('base', reader.at);
  const base = entries > 0 ? readRows(reader) : rows;
  const tail = times(entries, (nth) => {
    places.set(`tail ${nth}`, reader.at);
    return readEntry(reader);
  });
  return { base, tail };
}

/** Reads one by one, so that a false count ends with the bytes and allocates no memory before. */
export function times<T>(count: number, read: (nth: number) => T): T[] {
  const all: T[] = [];
  for (let nth = 0; nth < count; nth++) all.push(read(nth));
  return all;
}

/** Reads a number of fields that follow. */
export function readFieldCount(reader: FieldReader, what: string, most: number): number {
  const { at } = reader;
  const count = reader.u16();
  reader.check(count <= most, `${count} ${what}, at most ${most} expected`, at);
  return count;
}

export function writeRows(writer: FieldWriter, { rootBytes, count }: RowTree): void {
  writer.hash(rootBytes);
  writer.u64(count);
}

export function readRows(reader: FieldReader): RowTree {
  const rootBytes = reader.hash();
  const at = reader.at;
  const count = reader.u64();
  reader.check(isZero(rootBytes) === (count === 0), `a count of ${count} for this root`, at);
  return { rootBytes, count };
}

function writeEntry(writer: FieldWriter, { seq, nonceBytes, rows, delta }: TailEntry): void {
  writer.u64(seq);
  writer.exactly(ID_BYTES, nonceBytes);
  writeRows(writer, rows);
  if (delta.kind === 'inline') {
    writer.u8(INLINE);
    writer.u32(delta.deltaBytes.length);
    writer.bytes(delta.deltaBytes);
  } else {
    writer.u8(OBJECT);
    writer.u32(delta.length);
    writer.hash(delta.nameBytes);
  }
}

function readEntry(reader: FieldReader): TailEntry {
  const seq = reader.u64();
  const nonceBytes = reader.take(ID_BYTES);
  const rows = readRows(reader);
  return { seq, nonceBytes, rows, delta: readDelta(reader) };
}

function readDelta(reader: FieldReader): DeltaRecord {
  const { at } = reader;
  const kind = reader.u8();
  reader.check(kind <= OBJECT, `a delta of kind ${kind}`, at);
  const length = reader.u32();
  if (kind === OBJECT) return { kind: 'object', nameBytes: reader.name(), length };
  reader.check(length <= MAX_INLINE_DELTA_BYTES, `an inline delta of ${length} bytes`, at + 1);
  return { kind: 'inline', deltaBytes: reader.take(length) };
}
