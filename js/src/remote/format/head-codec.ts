/** The bytes of a head, drawn in `docs/format.md`. */

import { type FieldReader, FieldWriter, ID_BYTES, isZero } from './cursor.js';
import { ENVELOPE_BYTES, SEAL_BYTES, unwrapped, wrapped } from './envelope.js';
import {
  type Checkpoint,
  type Delta,
  FOLDERS,
  type Generation,
  type Head,
  type PackRecord,
  type Retired,
  type Rows,
  type SumClaim,
  type TailEntry,
} from './head.js';
import { checkHead, type Places } from './head-check.js';
import {
  MAX_HEAD_BYTES,
  MAX_INLINE_DELTA_BYTES,
  MAX_RETIRED,
  MAX_SUM_NAME_BYTES,
  MAX_SUMS,
  MAX_TAIL_ENTRIES,
} from './limits.js';

const COMPACTING = 1;
const INLINE = 0;
const OBJECT = 1;

/**
 * The bytes of a head, at most 65,536. Throws `invalid-argument` for one that is longer or against the rules.
 * Costs its length.
 */
export function encodeHead(head: Head): Uint8Array {
  checkHead(head);
  return wrapped('head', head.nonceBytes, bodyOf(head), MAX_HEAD_BYTES);
}

/** How many bytes a head has, which may be more than fit. */
export function headLength(head: Head): number {
  return ENVELOPE_BYTES + bodyOf(head).length + SEAL_BYTES;
}

function bodyOf(head: Head): Uint8Array {
  const writer = new FieldWriter('head');
  writer.exactly(ID_BYTES, head.repositoryBytes);
  writer.u64(head.seq);
  writer.exactly(ID_BYTES, head.writerBytes);
  writer.hash(head.previousBytes);
  writer.u32(head.app);
  writer.u32(head.isCompacting ? COMPACTING : 0);
  writeRows(writer, head.rows);
  writeCheckpoint(writer, head.checkpoint);
  writer.u16(head.tail.length);
  if (head.tail.length > 0) writeRows(writer, head.base);
  for (const entry of head.tail) writeEntry(writer, entry);
  writer.u16(head.retired.length);
  for (const { folder, nameBytes, seq, stamp } of head.retired) {
    writer.u8(FOLDERS.indexOf(folder));
    writer.hash(nameBytes);
    writer.u64(seq);
    writer.u64(stamp ?? 0);
  }
  writer.u16(head.sums.length);
  for (const { name, rootBytes, sum } of head.sums) {
    writeText(writer, name, MAX_SUM_NAME_BYTES);
    writer.hash(rootBytes);
    writer.wide(sum);
  }
  return writer.done();
}

/**
 * Reads a head. Throws `invalid-remote` with the offset of the fault, or `unsupported-format`. A head that is accepted
 * is the one that `encodeHead` makes of the result. Costs its length.
 */
export function decodeHead(bytes: Uint8Array): Head {
  const { saltBytes: nonceBytes, reader } = unwrapped('head', bytes, MAX_HEAD_BYTES);
  const places: Places = new Map();
  const at = <T>(name: string, read: () => T): T => {
    places.set(name, reader.at);
    return read();
  };
  const repositoryBytes = reader.take(ID_BYTES);
  const seq = at('seq', () => reader.u64());
  const writerBytes = reader.take(ID_BYTES);
  const previousBytes = at('previous', () => reader.hash());
  const app = reader.u32();
  const isCompacting = readFlags(reader);
  const rows = at('rows', () => readRows(reader));
  const checkpoint = readCheckpoint(reader, places);
  const entries = counted(reader, 'entries', MAX_TAIL_ENTRIES);
  const base = at('base', () => (entries > 0 ? readRows(reader) : rows));
  const tail = times(entries, (nth) => at(`tail ${nth}`, () => readEntry(reader)));
  const retiredCount = counted(reader, 'retired objects', MAX_RETIRED);
  const retired = times(retiredCount, (nth) => at(`retired ${nth}`, () => readRetired(reader)));
  const claims = counted(reader, 'sums', MAX_SUMS);
  const sums = times(claims, (nth) => at(`sum ${nth}`, () => readSum(reader)));
  reader.end();
  const head: Head = {
    ...{ repositoryBytes, seq, writerBytes, nonceBytes, previousBytes, app, isCompacting },
    ...{ rows, checkpoint, base, tail, retired, sums },
  };
  checkHead(head, { reader, places });
  return head;
}

/** Reads one by one, so that a count that lies ends with the bytes and allocates nothing before. */
function times<T>(count: number, read: (nth: number) => T): T[] {
  const all: T[] = [];
  for (let nth = 0; nth < count; nth++) all.push(read(nth));
  return all;
}

function counted(reader: FieldReader, what: string, most: number): number {
  const { at } = reader;
  const count = reader.u16();
  reader.check(count <= most, `${count} ${what}, at most ${most} expected`, at);
  return count;
}

function readFlags(reader: FieldReader): boolean {
  const { at } = reader;
  const flags = reader.u32();
  reader.check(flags <= COMPACTING, `unknown flags ${flags}`, at);
  return flags === COMPACTING;
}

function writeRows(writer: FieldWriter, { rootBytes, count }: Rows): void {
  writer.hash(rootBytes);
  writer.u64(count);
}

function readRows(reader: FieldReader): Rows {
  const rootBytes = reader.hash();
  const at = reader.at;
  const count = reader.u64();
  reader.check(isZero(rootBytes) === (count === 0), `a count of ${count} for this root`, at);
  return { rootBytes, count };
}

function writeText(writer: FieldWriter, text: string, most: number): void {
  const textBytes = writer.textBytes(text, most);
  writer.u8(textBytes.length);
  writer.bytes(textBytes);
}

function readText(reader: FieldReader, most: number): string {
  const { at } = reader;
  const length = reader.u8();
  reader.check(length <= most, `a text of ${length} bytes, at most ${most} expected`, at);
  return reader.text(length);
}

function writeCheckpoint(writer: FieldWriter, { seq, generations }: Checkpoint): void {
  writer.u64(seq);
  writer.u16(generations.length);
  for (const generation of generations) {
    writer.u64(generation.seq);
    writeRows(writer, generation.rows);
    writer.u16(generation.packs.length);
    for (const { nameBytes, length, edits } of generation.packs) {
      writer.hash(nameBytes);
      writer.u32(length);
      writer.u32(edits);
    }
  }
}

function readCheckpoint(reader: FieldReader, places: Places): Checkpoint {
  places.set('checkpoint', reader.at);
  const seq = reader.u64();
  let number = 0;
  const readPack = (): PackRecord => {
    places.set(`pack ${number++}`, reader.at);
    return { nameBytes: reader.name(), length: reader.u32(), edits: reader.u32() };
  };
  const generations = times(reader.u16(), (nth): Generation => {
    places.set(`generation ${nth}`, reader.at);
    return {
      seq: reader.u64(),
      rows: readRows(reader),
      packs: times(reader.u16(), readPack),
    };
  });
  return { seq, generations };
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

function readDelta(reader: FieldReader): Delta {
  const { at } = reader;
  const kind = reader.u8();
  reader.check(kind <= OBJECT, `a delta of kind ${kind}`, at);
  const length = reader.u32();
  if (kind === OBJECT) return { kind: 'object', nameBytes: reader.name(), length };
  reader.check(length <= MAX_INLINE_DELTA_BYTES, `an inline delta of ${length} bytes`, at + 1);
  return { kind: 'inline', deltaBytes: reader.take(length) };
}

function readRetired(reader: FieldReader): Retired {
  const { at } = reader;
  const folder = FOLDERS[reader.u8()];
  if (folder === undefined) throw reader.fault('no folder', at);
  const nameBytes = reader.name();
  const seq = reader.u64();
  const stamp = reader.u64() || undefined;
  return { folder, nameBytes, seq, stamp };
}

function readSum(reader: FieldReader): SumClaim {
  const name = readText(reader, MAX_SUM_NAME_BYTES);
  return { name, rootBytes: reader.hash(), sum: reader.wide() };
}
