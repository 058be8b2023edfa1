/**
 * Signed heads. A trailer follows the bytes of the head, which stay as they are:
 *
 *     head | magic:4 | version:u8 | 0:u8 | 0:u16 | signature:64
 *
 * `signedRemote` of `hedgerow/encryption` makes it and takes it off; no other file here knows of it.
 */

import { concatBytes } from '../../../base/bytes.js';
import { FieldReader, FieldWriter, tooNew, utf8 } from './field-codec.js';
import { SIGNATURE_BYTES, SIGNED_TRAILER_BYTES } from './format-limits.js';

const MAGIC = 0x5347_4448; // HDGS
const VERSION = 1;
/** The purpose of a signature: a key that signs other things, too, signs no bytes that could be taken for a head. */
const PURPOSE = 'hedgerow signed head';

/** A head, and the signature that follows it. */
export interface SignedHead {
  readonly headBytes: Uint8Array;
  readonly signatureBytes: Uint8Array;
}

/** Returns the start of a trailer. */
function frontBytes(): Uint8Array {
  const writer = new FieldWriter('head');
  writer.u32(MAGIC);
  writer.u8(VERSION);
  writer.u8(0);
  writer.u16(0);
  return writer.toBytes();
}

/** Returns the bytes whose SHA-512 is signed: `branch` is the head's, `place` is the app's name for the remote. */
export function hashedBytes(place: string, branch: string, headBytes: Uint8Array): Uint8Array {
  const writer = new FieldWriter('head');
  writer.bytes(frontBytes());
  for (const part of [utf8(place), utf8(branch)]) {
    writer.u32(part.length);
    writer.bytes(part);
  }
  writer.bytes(headBytes);
  return writer.toBytes();
}

/** Returns the bytes to sign: a hash of the head, for WebKitGTK does not sign 64 KiB. */
export function signedBytes(digestBytes: Uint8Array): Uint8Array {
  return concatBytes([utf8(PURPOSE), digestBytes]);
}

/** Returns a head with its signature. */
export function withSignature({ headBytes, signatureBytes }: SignedHead): Uint8Array {
  return concatBytes([headBytes, frontBytes(), signatureBytes]);
}

/** Takes the trailer off. Throws `remote/data` if it is missing, `newer-version/format` for one of a later version. */
export function readSigned(bytes: Uint8Array): SignedHead {
  const at = Math.max(bytes.length - SIGNED_TRAILER_BYTES, 0);
  const reader = new FieldReader('head', bytes.subarray(at), at);
  const isThere = reader.left === SIGNED_TRAILER_BYTES && reader.u32() === MAGIC;
  reader.check(isThere, 'it is not signed, or cut off', at);
  const version = reader.u8();
  if (version > VERSION) throw tooNew('head', `version ${version} of its signature`);
  reader.check(version === VERSION, `version ${version} of its signature`, at + 4);
  reader.zeros(3);
  return { headBytes: bytes.slice(0, at), signatureBytes: reader.take(SIGNATURE_BYTES) };
}
