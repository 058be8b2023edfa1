/** Objects of one part: all but packs and nodes. */

import { concatBytes } from '../../../base/bytes.js';
import type { RemoteKind } from '../../../base/errors.js';
import { openPart, type Scope } from './cipher-suite.js';
import { type ObjectEnvelope, readEnvelope } from './envelope.js';
import { FieldReader, invalidRemote, unwritable } from './field-codec.js';

const ONLY = [0, 1] as const;

/** Makes the object of a body. Throws `invalid-argument` if it has more than `most` bytes. */
export async function wrapObject(
  object: RemoteKind,
  saltBytes: Uint8Array,
  bodyBytes: Uint8Array,
  most: number,
  scope: Scope,
): Promise<Uint8Array> {
  const seal = await scope.suite.toWrite(object, saltBytes, scope);
  const bytes = concatBytes([seal.envelopeBytes, await seal.close(...ONLY, bodyBytes)]);
  if (bytes.length > most) throw unwritable(object, `${bytes.length} bytes, at most ${most} fit`);
  return bytes;
}

/** Returns how many bytes the object of a body has. */
export function wrappedLength(object: RemoteKind, bodyLength: number, { suite }: Scope): number {
  return suite.envelopeLength + suite.closedLength(object, bodyLength);
}

/** The content of an object that `unwrapObject` has read. */
export interface ObjectContent extends Pick<ObjectEnvelope, 'epoch' | 'saltBytes'> {
  /** Reads the body. */
  readonly reader: FieldReader;
}

/** Reads an object. Throws `remote/data`, `newer-version/format` or `wrong-key`. */
export async function unwrapObject(
  object: RemoteKind,
  bytes: Uint8Array,
  most: number,
  scope: Scope,
): Promise<ObjectContent> {
  const { length } = bytes;
  if (length > most) throw invalidRemote(object, `${length} bytes, at most ${most} expected`, most);
  const { suite } = scope;
  const envelope = readEnvelope(object, bytes);
  const begin = envelope.bytes.length;
  const seal = await suite.toRead(object, envelope, scope);
  const bodyBytes = await openPart(object, suite, seal, ONLY, bytes.subarray(begin), begin);
  const { epoch, saltBytes } = envelope;
  return { epoch, saltBytes, reader: new FieldReader(object, bodyBytes, begin) };
}
