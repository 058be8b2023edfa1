/** The bytes of a head, drawn in `docs/format.md`. */

import { checkHead } from './check-head-parts.js';
import type { Scope } from './cipher-suite.js';
import { type FieldReader, FieldWriter, ID_BYTES } from './field-codec.js';
import {
  MAX_BLOCKS,
  MAX_LOGS,
  MAX_SUM_NAME_BYTES,
  MAX_SUMS,
  MAX_UNSIGNED_HEAD_BYTES,
} from './format-limits.js';
import type {
  BlockRecord,
  Checkpoint,
  HeadRecord,
  Layer,
  LogRecord,
  PackRecord,
  SumClaim,
} from './head-record.js';
import { unwrapObject, wrapObject, wrappedLength } from './single-part-object.js';
import {
  type PartOffsets,
  readFieldCount,
  readRows,
  readTail,
  times,
  writeRows,
  writeTail,
} from './tail-codec.js';

const COMPACTING = 1;

/**
 * Makes the bytes of a head, at most 65,464; `saltBytes` are 16 random bytes, new for each call: a push that is tried
 * again has the same nonce, but maybe another head. Throws `invalid-argument` for a head that is longer or against the
 * rules. Costs its length.
 */
export async function encodeHead(
  head: HeadRecord,
  saltBytes: Uint8Array,
  scope: Scope,
): Promise<Uint8Array> {
  checkHead(head);
  const { epoch } = head;
  return wrapObject('head', saltBytes, bodyOf(head), MAX_UNSIGNED_HEAD_BYTES, { ...scope, epoch });
}

/** Returns how many bytes a head has, which may be more than fit. */
export function headLength(head: HeadRecord, scope: Scope): number {
  return wrappedLength('head', bodyOf(head).length, scope);
}

function bodyOf(head: HeadRecord): Uint8Array {
  const writer = new FieldWriter('head');
  writer.exactly(ID_BYTES, head.repositoryBytes);
  writer.u64(head.seq);
  writer.exactly(ID_BYTES, head.writerBytes);
  writer.exactly(ID_BYTES, head.nonceBytes);
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
  writer.u16(head.sums.length);
  for (const { name, rootBytes, sum } of head.sums) {
    writeText(writer, name, MAX_SUM_NAME_BYTES);
    writer.hash(rootBytes);
    writer.wide(sum);
  }
  return writer.toBytes();
}

/**
 * Reads a head. Throws `remote/data` with the offset of the fault, `newer-version/format` or `wrong-key`. `encodeHead`
 * makes the same head again of the result. Costs its length.
 */
export async function decodeHead(bytes: Uint8Array, scope: Scope): Promise<HeadRecord> {
  const { epoch, reader } = await unwrapObject('head', bytes, MAX_UNSIGNED_HEAD_BYTES, scope);
  const places: PartOffsets = new Map();
  const at = <T>(name: string, read: () => T): T => {
    places.set(name, reader.at);
    return read();
  };
  const repositoryBytes = reader.take(ID_BYTES);
  const seq = at('seq', () => reader.u64());
  const writerBytes = reader.take(ID_BYTES);
  const nonceBytes = reader.take(ID_BYTES);
  const previousBytes = at('previous', () => reader.hash());
  const app = reader.u32();
  const isCompacting = readFlags(reader);
  const rows = at('rows', () => readRows(reader));
  const checkpoint = readCheckpoint(reader, places);
  const logCount = readFieldCount(reader, 'logs', MAX_LOGS);
  const logs = times(logCount, (nth) => at(`log ${nth}`, () => readLogRecord(reader)));
  const { base, tail } = readTail(reader, rows, places);
  const claims = readFieldCount(reader, 'sums', MAX_SUMS);
  const sums = times(claims, (nth) => at(`sum ${nth}`, () => readSum(reader)));
  reader.end();
  const head: HeadRecord = {
    ...{ epoch, repositoryBytes, seq, writerBytes, nonceBytes, previousBytes, app, isCompacting },
    ...{ rows, checkpoint, logs, base, tail, sums },
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

function writeCheckpoint(writer: FieldWriter, checkpoint: Checkpoint): void {
  const { seq, nonceBytes, history, layers } = checkpoint;
  writer.u64(seq);
  writer.exactly(ID_BYTES, nonceBytes);
  writer.u16(history.length);
  for (const block of history) {
    writer.hash(block.nameBytes);
    writer.u32(block.length);
    writer.u64(block.seq);
    writer.u32(block.pushes);
  }
  writer.u16(layers.length);
  for (const layer of layers) {
    writer.u64(layer.seq);
    writeRows(writer, layer.rows);
    writer.u16(layer.packs.length);
    for (const { nameBytes, length, edits } of layer.packs) {
      writer.hash(nameBytes);
      writer.u32(length);
      writer.u32(edits);
    }
  }
}

function readCheckpoint(reader: FieldReader, places: PartOffsets): Checkpoint {
  places.set('checkpoint', reader.at);
  const seq = reader.u64();
  const nonceBytes = reader.take(ID_BYTES);
  const blocks = readFieldCount(reader, 'blocks', MAX_BLOCKS);
  const history = times(blocks, (nth) => {
    places.set(`block ${nth}`, reader.at);
    return readBlockRecord(reader);
  });
  let number = 0;
  const readPack = (): PackRecord => {
    places.set(`pack ${number++}`, reader.at);
    return { nameBytes: reader.name(), length: reader.u32(), edits: reader.u32() };
  };
  const layers = times(reader.u16(), (nth): Layer => {
    places.set(`layer ${nth}`, reader.at);
    return {
      seq: reader.u64(),
      rows: readRows(reader),
      packs: times(reader.u16(), readPack),
    };
  });
  return { seq, nonceBytes, history, layers };
}

function readBlockRecord(reader: FieldReader): BlockRecord {
  const nameBytes = reader.name();
  return { nameBytes, length: reader.u32(), seq: reader.u64(), pushes: reader.u32() };
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

function readSum(reader: FieldReader): SumClaim {
  const name = readText(reader, MAX_SUM_NAME_BYTES);
  return { name, rootBytes: reader.hash(), sum: reader.wide() };
}
