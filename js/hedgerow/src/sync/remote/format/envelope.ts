/**
 * The envelope that begins all objects of a remote:
 *
 *     suite 0  magic:4 | version:u8 | 0:u8 | 0:u16     | salt:16                    | parts
 *     suite 1  magic:4 | version:u8 | 1:u8 | epoch:u16 | salt:16 | check:4 | crc32:4 | parts
 *
 * The check is made from the key and the salt, and distinguishes a wrong key from damage.
 */

import { crc32 } from '../../../base/crc32.js';
import type { RemoteKind } from '../../../base/errors.js';
import { REMOTE_FORMAT } from '../../../base/limits.js';
import { FieldReader, FieldWriter, ID_BYTES, tooNew } from './field-codec.js';

const MAGICS: Readonly<Record<RemoteKind, number>> = {
  repository: 0x4347_4448, // HDGC
  head: 0x5247_4448, // HDGR
  log: 0x4c47_4448, // HDGL
  pack: 0x5047_4448, // HDGP
  delta: 0x4547_4448, // HDGE
  nodes: 0x4e47_4448, // HDGN
  directory: 0x4947_4448, // HDGI
  record: 0x4b47_4448, // HDGK
  mark: 0x4d47_4448, // HDGM
  history: 0x4847_4448, // HDGH
};
/** No encryption. */
export const PLAIN_SUITE = 0;
/** AES-256-GCM, with a key made for each object. */
export const SEALED_SUITE = 1;

/** Where the parts of an object begin, by its suite. */
export const ENVELOPE_BYTES: readonly [plain: number, sealed: number] = [24, 32];
export const CHECK_BYTES = 4;

/** The envelope of an object. */
export interface ObjectEnvelope {
  readonly suite: number;
  /** The number of the key; 0 without encryption. */
  readonly epoch: number;
  readonly saltBytes: Uint8Array;
  /** Made from the key; empty without encryption. */
  readonly checkBytes: Uint8Array;
  readonly bytes: Uint8Array;
}

/** Makes the envelope of an object: of a sealed one, if there is a key's check. */
export function envelopeOf(
  object: RemoteKind,
  saltBytes: Uint8Array,
  epoch = 0,
  checkBytes?: Uint8Array,
): Uint8Array {
  const writer = new FieldWriter(object);
  writer.u32(MAGICS[object]);
  writer.u8(REMOTE_FORMAT);
  writer.u8(checkBytes ? SEALED_SUITE : PLAIN_SUITE);
  writer.u16(epoch);
  writer.exactly(ID_BYTES, saltBytes);
  if (checkBytes === undefined) return writer.toBytes();
  writer.exactly(CHECK_BYTES, checkBytes);
  writer.u32(crc32(writer.toBytes()));
  return writer.toBytes();
}

/**
 * Reads the envelope at the start of these bytes. For a copy of it in the object `place`, from byte `begin` on, faults
 * name that place. Throws `remote/data` or `newer-version/format`.
 */
export function readEnvelope(
  object: RemoteKind,
  bytes: Uint8Array,
  place = object,
  begin = 0,
): ObjectEnvelope {
  const reader = new FieldReader(place, bytes, begin);
  reader.check(reader.u32() === MAGICS[object], `not a ${object}`, begin);
  const version = reader.u8();
  if (version > REMOTE_FORMAT) throw tooNew(place, `version ${version}`);
  reader.check(version === REMOTE_FORMAT, `version ${version}`, begin + 4);
  const suite = reader.u8();
  if (suite > SEALED_SUITE) throw tooNew(place, `crypto suite ${suite}`);
  const isSealed = suite === SEALED_SUITE;
  const epoch = reader.u16();
  reader.check(isSealed === epoch > 0, isSealed ? 'no epoch' : 'not zero', begin + 6);
  const saltBytes = reader.take(ID_BYTES);
  const checkBytes = reader.take(isSealed ? CHECK_BYTES : 0);
  const crc = crc32(bytes.subarray(0, reader.at - begin));
  if (isSealed && reader.u32() !== crc) throw reader.fault('it is damaged', reader.at - 4);
  return { suite, epoch, saltBytes, checkBytes, bytes: bytes.slice(0, reader.at - begin) };
}
