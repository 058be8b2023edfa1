/**
 * A log: entries that a head had in its tail, unchanged, in a separate object. So heads stay short, and a device that
 * was away for a while still finds the entries. Its salt makes its name unique.
 */

import { checkEntries, checkerOf } from './check-tail-entries.js';
import type { Scope } from './cipher-suite.js';
import type { HashFunction } from './content-names.js';
import { FieldWriter } from './field-codec.js';
import { MAX_LOG_BYTES } from './format-limits.js';
import { deltaLengths, type LogRecord, NO_ROWS, type Tail } from './head-record.js';
import { unwrapObject, wrapObject } from './single-part-object.js';
import { type PartOffsets, readTail, writeTail } from './tail-codec.js';

/** Makes a log's object, and its record for a head; `saltBytes` are 16 random bytes. Throws `invalid-argument`. */
export async function encodeLog(
  entries: Tail,
  saltBytes: Uint8Array,
  hash: HashFunction,
  scope: Scope,
): Promise<{ readonly bytes: Uint8Array; readonly record: LogRecord }> {
  const check = checkerOf('log');
  const [first] = entries.tail;
  if (first === undefined) return check(false, 'base', 'it is empty');
  checkEntries(entries, check);
  const writer = new FieldWriter('log');
  writeTail(writer, entries);
  const bytes = await wrapObject('log', saltBytes, writer.toBytes(), MAX_LOG_BYTES, scope);
  const counts = { entries: entries.tail.length, deltaBytes: deltaLengths(entries.tail) };
  const record = { nameBytes: hash(bytes), length: bytes.length, seq: first.seq, ...counts };
  return { bytes, record };
}

/**
 * Reads a log. Throws `remote/data` with the offset of the fault, `newer-version/format` or `wrong-key`. `encodeLog`
 * makes the same log again of the result, with this salt. Costs its length.
 */
export async function decodeLog(
  bytes: Uint8Array,
  scope: Scope,
): Promise<{ readonly entries: Tail; readonly saltBytes: Uint8Array }> {
  const { reader, saltBytes } = await unwrapObject('log', bytes, MAX_LOG_BYTES, scope);
  const places: PartOffsets = new Map();
  const entries = readTail(reader, NO_ROWS, places);
  reader.end();
  const check = checkerOf('log', { reader, places });
  if (entries.tail.length === 0) check(false, 'base', 'it is empty');
  checkEntries(entries, check);
  return { entries, saltBytes };
}
