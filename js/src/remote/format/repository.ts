/** The file `hedgerow` of a remote, which is written once. */

import { FieldWriter, tooNew } from './cursor.js';
import { unwrapped, wrapped } from './envelope.js';
import { MAX_REPOSITORY_BYTES } from './limits.js';

/** Frames are deflated, without a header of zlib or gzip: the only codec so far. */
const DEFLATE_RAW = 1;

/** What all heads and packs of a remote have in common. */
export interface Repository {
  /** 16 random bytes, which all heads repeat. */
  readonly idBytes: Uint8Array;
  /** The app's own version of its rows when the remote was made; heads have the version since. From 0 to 2^32 - 1. */
  readonly app: number;
}

/** The bytes of a repository file. Throws `invalid-argument` for an id that has not 16 bytes. */
export function encodeRepository({ idBytes, app }: Repository): Uint8Array {
  const writer = new FieldWriter('repository');
  writer.u8(DEFLATE_RAW);
  writer.u8(0);
  writer.u16(0);
  writer.u32(app);
  // Wrapped keys: a remote without encryption has none.
  writer.u32(0);
  return wrapped('repository', idBytes, writer.done(), MAX_REPOSITORY_BYTES);
}

/** Reads a repository file. Throws `invalid-remote`, or `unsupported-format` for a later version, suite or codec. */
export function decodeRepository(bytes: Uint8Array): Repository {
  const { saltBytes: idBytes, reader } = unwrapped('repository', bytes, MAX_REPOSITORY_BYTES);
  const { at } = reader;
  const codec = reader.u8();
  reader.check(codec !== 0, 'no codec', at);
  if (codec !== DEFLATE_RAW) throw tooNew('repository', `codec ${codec}`);
  reader.zeros(3);
  const app = reader.u32();
  reader.zeros(4);
  reader.end();
  return { idBytes, app };
}

/** Whether an app that knows the rows of version `app` may write; an older one only reads. */
export function mayWrite(app: number, { app: found }: { readonly app: number }): boolean {
  return app >= found;
}
