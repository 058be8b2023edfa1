/** The bytes of an export, drawn in `docs/format.md`. An import notices each changed bit. */

import { concatBytes } from '../../base/bytes.js';
import { crc32 } from '../../base/crc32.js';
import { HedgerowError } from '../../base/errors.js';
import { EXPORT_FORMAT, FORMAT, MAX_SEGMENT_CHUNKS } from '../../base/limits.js';
import { readSegmentLength } from '../../base/read-segment-table.js';
import {
  MAX_SEGMENT_BYTES,
  TABLE_ENTRY_BYTES,
  TABLE_HEADER_BYTES,
  TABLE_MAGIC,
} from '../../base/segment-table.js';
import { refOfBranch } from '../history/branch-name.js';
import { forkOf } from '../history/branch-refs.js';
import { BRANCH_REF, FORK_REF, REF } from '../history/known-segments-and-refs.js';

/** A ref in an export: `main` comes first, then branches and forks in the order of their names. */
export interface ExportedRef {
  readonly name: string;
  readonly commitBytes: Uint8Array;
}

/** The beginning of an export. */
export interface Header {
  readonly refs: readonly ExportedRef[];
  /** Bytes of the export, if no collection ran while it was made. */
  readonly bytes: number;
  /** The CRC-32 of the header: almost surely different for an export with other refs or another length. */
  readonly checksum: number;
  readonly length: number;
}

const HEADER_MAGIC = 0x5847_4448; // HDGX
const END = 0xffff_ffff;

const HEADER_BYTES = 16;
const REF_BYTES = 34;
const FRAME_BYTES = 8;
const COMMIT_BYTES = 32;

/** The most refs of an export. */
export const MAX_REFS = 4096;
/** The longest name of a ref, in bytes: a fork has two percent-encoded names. */
const MAX_NAME_BYTES = 8192;

/** A source of bytes that is read in pieces. */
export interface ByteInput {
  /** The offset of the next byte. */
  readonly at: number;
  /**
   * Reads the next `length` bytes into a buffer of their own; rejects with `invalid-data/export` if there are fewer.
   */
  take(length: number): Promise<Uint8Array>;
}

/** A part of an export after the header: a segment, or the end; a header, if the source began from its start. */
export type Frame =
  | { readonly kind: 'segment'; readonly tableBytes: Uint8Array; readonly segmentBytes: Uint8Array }
  | { readonly kind: 'header'; readonly header: Header }
  | { readonly kind: 'end' };

/** Makes the error for bytes that are no export, or a damaged one. */
export function invalid(what: string, offset: number): HedgerowError {
  return new HedgerowError('invalid-data/export', `byte ${offset}: ${what}`, { offset });
}

function viewOf({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length);
}

function word(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  viewOf(bytes).setUint32(0, value, true);
  return bytes;
}

/** Returns the bytes that a segment takes in an export, with its table. */
export function frameLength(tableBytes: Uint8Array): number {
  return FRAME_BYTES + tableBytes.length + readSegmentLength(tableBytes);
}

/** Makes the header of an export whose segments and tables take `segmentBytes`. */
export function headerOf(refs: readonly ExportedRef[], segmentBytes: number): Uint8Array {
  const encoder = new TextEncoder();
  const named = refs.map(({ name, commitBytes }) => {
    const nameBytes = encoder.encode(name);
    const lengthBytes = Uint8Array.of(nameBytes.length & 0xff, nameBytes.length >> 8);
    return concatBytes([commitBytes, lengthBytes, nameBytes]);
  });
  const fixed = new Uint8Array(HEADER_BYTES);
  const parts = concatBytes([fixed, ...named]);
  const view = viewOf(parts);
  view.setUint32(0, HEADER_MAGIC, true);
  view.setUint8(4, EXPORT_FORMAT);
  view.setUint16(6, refs.length, true);
  view.setFloat64(8, parts.length + 4 + segmentBytes + endOf(0).length, true);
  return concatBytes([parts, word(crc32(parts))]);
}

/** Makes the bytes before a segment: its number, a checksum and its table. */
export function frameOf(ordinal: number, tableBytes: Uint8Array): Uint8Array {
  const number = word(ordinal);
  return concatBytes([number, word(crc32(number, tableBytes)), tableBytes]);
}

/** Makes the end of an export with this number of segments. */
export function endOf(segments: number): Uint8Array {
  const [end, count] = [word(END), word(segments)];
  return concatBytes([end, word(crc32(end, count)), count]);
}

/** Reads the header. */
export async function readHeader(source: ByteInput): Promise<Header> {
  return headerFrom(source, await source.take(4));
}

async function headerFrom(source: ByteInput, magic: Uint8Array): Promise<Header> {
  const start = source.at - magic.length;
  if (viewOf(magic).getUint32(0, true) !== HEADER_MAGIC) throw invalid('not an export', start);
  const fixed = await source.take(HEADER_BYTES - magic.length);
  const version = fixed[0] as number;
  if (version > EXPORT_FORMAT) {
    throw new HedgerowError(
      'newer-version/format',
      `the export was written by a newer version of Hedgerow: update the app (format ${version})`,
    );
  }
  const view = viewOf(fixed);
  const [count, bytes] = [view.getUint16(2, true), view.getFloat64(4, true)];
  if (count === 0 || count > MAX_REFS) throw invalid(`${count} refs`, start + 6);
  const parts = [magic, fixed];
  const refs: ExportedRef[] = [];
  for (let nth = 0; nth < count; nth++) {
    const at = source.at;
    const refBytes = await source.take(REF_BYTES);
    const nameLength = viewOf(refBytes).getUint16(COMMIT_BYTES, true);
    if (nameLength > MAX_NAME_BYTES) throw invalid('the name of a ref is too long', at);
    const nameBytes = await source.take(nameLength);
    parts.push(refBytes, nameBytes);
    refs.push({
      name: new TextDecoder('utf-8', { ignoreBOM: true }).decode(nameBytes),
      commitBytes: refBytes.slice(0, COMMIT_BYTES),
    });
  }
  const header = concatBytes(parts);
  const checksum = viewOf(await source.take(4)).getUint32(0, true);
  if (checksum !== crc32(header)) throw invalid('the header is damaged', start);
  // A checksum does not stop an attacker.
  if (version !== EXPORT_FORMAT || fixed[1] !== 0 || !areNamed(refs)) {
    throw invalid('the header is malformed', start);
  }
  return { refs, bytes, checksum, length: source.at - start };
}

/** Reports whether the refs are a main branch, other branches, and forks of these, in order. */
function areNamed([main, ...others]: readonly ExportedRef[]): boolean {
  const names = others.map(({ name }) => name);
  const branches = names.filter((name) => name.startsWith(BRANCH_REF));
  const known = new Set([REF, ...branches.map((name) => name.slice(BRANCH_REF.length))]);
  const isName = (name: string, nth: number) => {
    if (nth > 0 && (names[nth - 1] as string) >= name) return false;
    try {
      if (!name.startsWith(FORK_REF)) return refOfBranch(name.slice(BRANCH_REF.length)) === name;
      const [one = '', parent = ''] = name
        .slice(FORK_REF.length)
        .split('/')
        .map(decodeURIComponent);
      return known.has(one) && known.has(parent) && forkOf(one, parent) === name;
    } catch {
      return false;
    }
  };
  return main?.name === REF && names.every(isName);
}

/** Reads the frame after `ordinal` segments. Accepts a header only with `mayRestart`. */
export async function readFrame(
  source: ByteInput,
  ordinal: number,
  isTable: (tableBytes: Uint8Array) => boolean,
  mayRestart = false,
): Promise<Frame> {
  const start = source.at;
  const number = await source.take(4);
  const found = viewOf(number).getUint32(0, true);
  if (found === HEADER_MAGIC && mayRestart) {
    return { kind: 'header', header: await headerFrom(source, number) };
  }
  const checksum = viewOf(await source.take(4)).getUint32(0, true);
  if (found === END) {
    const count = await source.take(4);
    if (checksum !== crc32(number, count)) throw invalid('the end is damaged', start);
    if (viewOf(count).getUint32(0, true) !== ordinal) throw invalid('segments are missing', start);
    return { kind: 'end' };
  }
  if (found !== ordinal) throw invalid(`segment ${ordinal} is not there`, start);
  const tableBytes = await readTable(source, number, checksum, isTable);
  const length = readSegmentLength(tableBytes);
  if (length > MAX_SEGMENT_BYTES) throw invalid(`a segment of ${length} bytes`, start);
  return { kind: 'segment', tableBytes, segmentBytes: await source.take(length) };
}

async function readTable(
  source: ByteInput,
  number: Uint8Array,
  checksum: number,
  isTable: (tableBytes: Uint8Array) => boolean,
): Promise<Uint8Array> {
  const start = source.at;
  const fixed = await source.take(TABLE_HEADER_BYTES);
  const view = viewOf(fixed);
  const chunks = view.getUint32(8, true);
  if (view.getUint32(0, true) !== TABLE_MAGIC) throw invalid('not a table', start);
  if (chunks === 0 || chunks > MAX_SEGMENT_CHUNKS)
    throw invalid(`a table of ${chunks} chunks`, start);
  const tableBytes = concatBytes([fixed, await source.take(chunks * TABLE_ENTRY_BYTES)]);
  if (checksum !== crc32(number, tableBytes)) throw invalid('a table is damaged', start);
  const version = fixed[4] as number;
  if (version > FORMAT) {
    throw new HedgerowError(
      'newer-version/format',
      `the export was written by a newer version of Hedgerow: update the app (table format ${version})`,
    );
  }
  if (!isTable(tableBytes)) throw invalid('a table is malformed', start);
  return tableBytes;
}
