/**
 * The file `hedgerow` of a remote, which is written once. It is never encrypted itself, and says whether the other
 * objects are: its envelope has suite, epoch and check of the key that the remote began with.
 */

import { openPart, PLAIN_SCOPE, plainSeal, type Scope } from './cipher-suite.js';
import { readEnvelope } from './envelope.js';
import { FieldReader, FieldWriter, invalidRemote, tooNew } from './field-codec.js';
import { MAX_REPOSITORY_BYTES } from './format-limits.js';

/** Frames are deflated, without a header of zlib or gzip: the only codec so far. */
const DEFLATE_RAW = 1;

/** The facts that all heads and packs of a remote share. */
export interface Repository {
  /** 16 random bytes, which all heads repeat. */
  readonly idBytes: Uint8Array;
  /** The app's own version of its rows when the remote was made; heads have the version since. From 0 to 2^32 - 1. */
  readonly app: number;
}

/** Makes the bytes of a repository file. Throws `invalid-argument` unless the id has 16 bytes. */
export async function encodeRepository(
  { idBytes, app }: Repository,
  scope: Scope,
): Promise<Uint8Array> {
  const writer = new FieldWriter('repository');
  const { envelopeBytes } = await scope.suite.toWrite('repository', idBytes, scope);
  writer.bytes(envelopeBytes);
  const body = new FieldWriter('repository');
  body.u8(DEFLATE_RAW);
  body.u8(0);
  body.u16(0);
  body.u32(app);
  body.u32(0);
  writer.bytes(await plainSeal(envelopeBytes).close(0, 1, body.toBytes()));
  return writer.toBytes();
}

/**
 * Reads a repository file. Throws `remote/data`, `newer-version/format` for a later version, suite or codec, and
 * `wrong-key` for one of another suite or key.
 */
export async function decodeRepository(bytes: Uint8Array, scope: Scope): Promise<Repository> {
  const { length } = bytes;
  if (length > MAX_REPOSITORY_BYTES) {
    throw invalidRemote('repository', `${length} bytes`, MAX_REPOSITORY_BYTES);
  }
  const envelope = readEnvelope('repository', bytes);
  const begin = envelope.bytes.length;
  const seal = plainSeal(envelope.bytes);
  const { suite } = PLAIN_SCOPE;
  const part = await openPart('repository', suite, seal, [0, 1], bytes.subarray(begin), begin);
  // A device that came after a change of the key lacks the first key, and does not need it.
  const isTurned = Math.min(envelope.epoch, scope.epoch) > 0 && envelope.epoch !== scope.epoch;
  if (!isTurned) await scope.suite.toRead('repository', envelope, scope);
  const reader = new FieldReader('repository', part, begin);
  const { at } = reader;
  const codec = reader.u8();
  reader.check(codec !== 0, 'no codec', at);
  if (codec !== DEFLATE_RAW) throw tooNew('repository', `codec ${codec}`);
  reader.zeros(3);
  const app = reader.u32();
  reader.zeros(4);
  reader.end();
  return { idBytes: envelope.saltBytes, app };
}

/** Returns whether an app that knows the rows of version `app` may write; an older one only reads. */
export function mayWrite(app: number, { app: found }: { readonly app: number }): boolean {
  return app >= found;
}
