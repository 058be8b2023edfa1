/** The bytes of a head, drawn in `docs/format.md`. */

import { type FieldReader, FieldWriter, ID_BYTES } from './cursor.js';
import { ENVELOPE_BYTES, SEAL_BYTES, unwrapped, wrapped } from './envelope.js';
import {
  type Checkpoint,
  FOLDERS,
  type Generation,
  type Head,
  type LogRecord,
  type PackRecord,
  type Retired,
  type SumClaim,
} from './head.js';
import { checkHead } from './head-check.js';
import { MAX_HEAD_BYTES, MAX_LOGS, MAX_RETIRED, MAX_SUM_NAME_BYTES, MAX_SUMS } from './limits.js';
import {
  counted,
  type Places,
  readRows,
  readTail,
  times,
  writeRows,
  writeTail,
} from './tail-codec.js';

const COMPACTING = 1;

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
  writer.u16(head.logs.length);
  for (const { nameBytes, length, seq, entries, deltaBytes } of head.logs) {
    writer.hash(nameBytes);
    writer.u32(length);
    writer.u64(seq);
    writer.u16(entries);
    writer.u32(deltaBytes);
  }
  writeTail(writer, head);
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
  const logCount = counted(reader, 'logs', MAX_LOGS);
  const logs = times(logCount, (nth) => at(`log ${nth}`, () => readLogRecord(reader)));
  const { base, tail } = readTail(reader, rows, places);
  const retiredCount = counted(reader, 'retired objects', MAX_RETIRED);
  const retired = times(retiredCount, (nth) => at(`retired ${nth}`, () => readRetired(reader)));
  const claims = counted(reader, 'sums', MAX_SUMS);
  const sums = times(claims, (nth) => at(`sum ${nth}`, () => readSum(reader)));
  reader.end();
  const head: Head = {
    ...{ repositoryBytes, seq, writerBytes, nonceBytes, previousBytes, app, isCompacting },
    ...{ rows, checkpoint, logs, base, tail, retired, sums },
  };
  checkHead(head, { reader, places });
  return head;
}

function readFlags(reader: FieldReader): boolean {
  const { at } = reader;
  const flags = reader.u32();
  reader.check(flags <= COMPACTING, `unknown flags ${flags}`, at);
  return flags === COMPACTING;
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

function readLogRecord(reader: FieldReader): LogRecord {
  return {
    nameBytes: reader.name(),
    length: reader.u32(),
    seq: reader.u64(),
    entries: reader.u16(),
    deltaBytes: reader.u32(),
  };
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
