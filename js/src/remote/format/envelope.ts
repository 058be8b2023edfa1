/**
 * What all objects of a remote begin and end with:
 *
 *     magic:4 | version:u8 | suite:u8 | 0:u16 | salt:16 | body | seal
 *
 * The seal of suite 0 is the CRC-32 of the first 24 bytes, of the number of the sealed part, of the number of parts,
 * and of the part. A suite that encrypts has a key made from the salt, and its tag in place of the CRC.
 */

import { joined } from '../../base/bytes.js';
import { crc32 } from '../../base/crc32.js';
import type { RemoteKind } from '../../base/errors.js';
import { REMOTE_FORMAT } from '../../base/limits.js';
import { FieldReader, FieldWriter, ID_BYTES, invalidRemote, tooNew, unwritable } from './cursor.js';

const MAGICS: Readonly<Record<RemoteKind, number>> = {
  repository: 0x4347_4448, // HDGC
  head: 0x5247_4448, // HDGR
  log: 0x4c47_4448, // HDGL
  pack: 0x5047_4448, // HDGP
  delta: 0x4547_4448, // HDGE
};
/** No encryption: the only suite so far. */
export const PLAIN_SUITE = 0;

/** Where the body of an object begins. */
export const ENVELOPE_BYTES = 24;
export const SEAL_BYTES = 4;

/** The first 24 bytes of an object. */
export function envelopeOf(object: RemoteKind, saltBytes: Uint8Array): Uint8Array {
  const writer = new FieldWriter(object);
  writer.u32(MAGICS[object]);
  writer.u8(REMOTE_FORMAT);
  writer.u8(PLAIN_SUITE);
  writer.u16(0);
  writer.exactly(ID_BYTES, saltBytes);
  return writer.done();
}

/** The seal of one of the parts of an object; the part that follows the envelope has number 0. */
export function sealOf(
  envelopeBytes: Uint8Array,
  number: number,
  parts: number,
  partBytes: Uint8Array,
): Uint8Array {
  const place = new Uint8Array(8);
  const view = new DataView(place.buffer);
  view.setUint32(0, number, true);
  view.setUint32(4, parts, true);
  const seal = new Uint8Array(SEAL_BYTES);
  new DataView(seal.buffer).setUint32(0, crc32(envelopeBytes, place, partBytes), true);
  return seal;
}

/** Whether `seal` is that of the part. */
export function isSealed(
  seal: Uint8Array,
  ...[envelopeBytes, number, parts, partBytes]: Parameters<typeof sealOf>
): boolean {
  const right = sealOf(envelopeBytes, number, parts, partBytes);
  return seal.length === right.length && right.every((byte, at) => byte === seal[at]);
}

/** An object of one part, or the header of one of several. */
export function wrapped(
  object: RemoteKind,
  saltBytes: Uint8Array,
  bodyBytes: Uint8Array,
  most: number,
): Uint8Array {
  const envelopeBytes = envelopeOf(object, saltBytes);
  const seal = sealOf(envelopeBytes, 0, 1, bodyBytes);
  const bytes = joined([envelopeBytes, bodyBytes, seal]);
  if (bytes.length > most) throw unwritable(object, `${bytes.length} bytes, at most ${most} fit`);
  return bytes;
}

/** What `unwrapped` finds in an object. */
export interface Unwrapped {
  readonly saltBytes: Uint8Array;
  /** Reads the body. */
  readonly reader: FieldReader;
}

/** Checks the first bytes of an object, of which there may be more. Returns its salt. */
export function checkEnvelope(object: RemoteKind, bytes: Uint8Array): Uint8Array {
  const reader = new FieldReader(object, bytes, 0, bytes.length);
  reader.check(reader.u32() === MAGICS[object], `not a ${object}`, 0);
  const version = reader.u8();
  if (version > REMOTE_FORMAT) throw tooNew(object, `version ${version}`);
  reader.check(version === REMOTE_FORMAT, `version ${version}`, 4);
  const suite = reader.u8();
  if (suite !== PLAIN_SUITE) throw tooNew(object, `crypto suite ${suite}`);
  reader.zeros(2);
  return reader.take(ID_BYTES);
}

/** Checks the first and last bytes of an object of one part, and its length. */
export function unwrapped(object: RemoteKind, bytes: Uint8Array, most: number): Unwrapped {
  const { length } = bytes;
  if (length > most) throw invalidRemote(object, `${length} bytes, at most ${most} expected`, most);
  const saltBytes = checkEnvelope(object, bytes);
  const end = length - SEAL_BYTES;
  if (end < ENVELOPE_BYTES) throw invalidRemote(object, 'it is cut off', length);
  const [envelopeBytes, bodyBytes] = [
    bytes.subarray(0, ENVELOPE_BYTES),
    bytes.subarray(ENVELOPE_BYTES, end),
  ];
  if (!isSealed(bytes.subarray(end), envelopeBytes, 0, 1, bodyBytes)) {
    throw invalidRemote(object, 'it is damaged or cut off: its checksum is wrong', end);
  }
  return { saltBytes, reader: new FieldReader(object, bytes, ENVELOPE_BYTES, end) };
}
