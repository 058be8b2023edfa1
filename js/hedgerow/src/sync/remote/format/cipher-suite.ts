/**
 * Suites: how the parts of an object are protected. A part is bound to its object, to its number and to the number of
 * parts, so that no part can take the place of another one.
 */

import { concatBytes, sameBytes } from '../../../base/bytes.js';
import { crc32 } from '../../../base/crc32.js';
import { HedgerowError, type RemoteKind } from '../../../base/errors.js';
import { ENVELOPE_BYTES, envelopeOf, type ObjectEnvelope, PLAIN_SUITE } from './envelope.js';
import { invalidRemote, NO_BYTES } from './field-codec.js';

/** The seal of one object, which closes and opens its parts. */
export interface ObjectSeal {
  readonly envelopeBytes: Uint8Array;
  close(number: number, parts: number, plainBytes: Uint8Array): Promise<Uint8Array>;
  /** Resolves to `undefined` unless `close` has made these bytes for this part of this object. */
  open(number: number, parts: number, closedBytes: Uint8Array): Promise<Uint8Array | undefined>;
}

export interface Suite {
  /** Where the first part of an object begins. */
  readonly envelopeLength: number;
  /** How many bytes follow the bytes of a part. */
  readonly tagLength: number;
  /** Returns how many bytes a closed part has. */
  closedLength(object: RemoteKind, length: number): number;
  /** Makes the seal of an object that is written. */
  toWrite(object: RemoteKind, saltBytes: Uint8Array, scope: Scope): Promise<ObjectSeal>;
  /** Makes the seal of one that was read. Rejects with `wrong-key` for another suite, or a key that is missing here. */
  toRead(object: RemoteKind, envelope: ObjectEnvelope, scope: Scope): Promise<ObjectSeal>;
}

/** The encryption of a remote: see `remoteKeys` of `hedgerow/encryption`. */
export interface RemoteEncryption {
  readonly suite: Suite;
  /** The number of the key for writes, unless the remote is at a later one; 0 without encryption. */
  readonly epoch: number;
}

/** The encryption of an object, and the place to which it is bound. */
export interface Scope extends RemoteEncryption {
  /** The place that encrypted parts are bound to: the id of the repository; of a head the name of its branch. */
  readonly contextBytes: Uint8Array;
}

/** Returns the scope of the objects that a head names. */
export function scopeInside(
  { suite }: Scope,
  head: { readonly epoch: number; readonly repositoryBytes: Uint8Array },
): Scope {
  return { suite, epoch: head.epoch, contextBytes: head.repositoryBytes };
}

const CRC_BYTES = 4;

/** Computes the CRC-32 of the first bytes of an object, the number of a part, the number of parts, and the part. */
export function crcOf(
  envelopeBytes: Uint8Array,
  number: number,
  parts: number,
  partBytes: Uint8Array,
): Uint8Array {
  const place = new Uint8Array(8);
  const view = new DataView(place.buffer);
  view.setUint32(0, number, true);
  view.setUint32(4, parts, true);
  const crc = new Uint8Array(CRC_BYTES);
  new DataView(crc.buffer).setUint32(0, crc32(envelopeBytes, place, partBytes), true);
  return crc;
}

/** Makes the seal of objects that are not encrypted: it finds accidents. */
export function plainSeal(envelopeBytes: Uint8Array): ObjectSeal {
  return {
    envelopeBytes,
    async close(number, parts, plainBytes) {
      return concatBytes([plainBytes, crcOf(envelopeBytes, number, parts, plainBytes)]);
    },
    async open(number, parts, closedBytes) {
      const end = closedBytes.length - CRC_BYTES;
      const plainBytes = closedBytes.subarray(0, end);
      const crc = crcOf(envelopeBytes, number, parts, plainBytes);
      return sameBytes(crc, closedBytes.subarray(end)) ? plainBytes : undefined;
    },
  };
}

const PLAIN: Suite = {
  envelopeLength: ENVELOPE_BYTES[PLAIN_SUITE],
  tagLength: CRC_BYTES,
  closedLength: (_, length) => length + CRC_BYTES,
  toWrite: async (object, saltBytes, { epoch }) => plainSeal(envelopeOf(object, saltBytes, epoch)),
  async toRead(_, { suite, bytes }) {
    if (suite === PLAIN_SUITE) return plainSeal(bytes);
    throw new HedgerowError(
      'wrong-key',
      'this remote is encrypted: give `encryption` with its key',
    );
  },
};

/** The scope without encryption. */
export const PLAIN_SCOPE: Scope = { suite: PLAIN, epoch: 0, contextBytes: NO_BYTES };

/** Opens a part, which begins at byte `at` of its object. Throws `remote/data`. */
export async function openPart(
  object: RemoteKind,
  { tagLength }: Suite,
  seal: ObjectSeal,
  [number, parts]: readonly [number: number, parts: number],
  closedBytes: Uint8Array,
  at: number,
): Promise<Uint8Array> {
  const { length } = closedBytes;
  if (length < tagLength) throw invalidRemote(object, 'it is cut off', at + length);
  const plainBytes = await seal.open(number, parts, closedBytes);
  if (plainBytes !== undefined) return plainBytes;
  const what = `part ${number} is damaged, cut off, of another object, or signed (signedRemote)`;
  throw invalidRemote(object, what, at + length - tagLength);
}
