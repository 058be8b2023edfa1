/** Files within rows: their bytes with a name and a type. */

import { isByteArray } from '../../../base/is-byte-array.js';
import { hasCalls } from '../../../base/runtime-type-checks.js';
import { fault } from './value-errors.js';

/** Most bytes of a file within a row. A row is read and written as a whole. */
const MAX_FILE_BYTES = 1 << 20;
const LIMIT = 'of 1 MiB at most: put more bytes under a key of their own';

/** A file as rows with `values: 'structured'` hold it. Its bytes must not be changed. */
export class StoredFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The name of the file; `''` for a `Blob`. */
  readonly name: string;
  /** The media type, such as `image/png`; `''` if it is unknown. */
  readonly type: string;
  /** When the file was changed, in milliseconds since 1970. */
  readonly lastModified: number | undefined;

  /** Throws `invalid-argument/value` if a member is of a wrong type, or there are more than 1 MiB. */
  constructor(bytes: Uint8Array<ArrayBuffer>, name = '', type = '', lastModified?: number) {
    const isSound =
      isByteArray(bytes) &&
      bytes.length <= MAX_FILE_BYTES &&
      [name, type].every((text) => typeof text === 'string') &&
      Number.isFinite(lastModified ?? 0);
    if (!isSound) throw fault(`a StoredFile has a name, a type, maybe a time, and bytes ${LIMIT}`);
    this.bytes = bytes;
    this.name = name;
    this.type = type;
    this.lastModified = lastModified;
    Object.freeze(this);
  }

  /** The number of bytes. */
  get size(): number {
    return this.bytes.length;
  }

  /** The bytes as a `Blob` of its type. */
  blob(): Blob {
    return new Blob([this.bytes], { type: this.type });
  }
}

/**
 * Reads a `Blob` or a `File`, so that a row can hold it: `{ id, photo: await file(input.files[0]) }`. Throws
 * `invalid-argument/value` if it has more than 1 MiB: put the bytes under a key of their own then.
 */
export async function file(blob: Blob | File): Promise<StoredFile> {
  // Not every engine has `Blob`, and not every `Blob` is of this realm.
  const isBlob = hasCalls(blob, 'arrayBuffer');
  const { name, type, size, lastModified } = (isBlob ? blob : {}) as Partial<File>;
  // Before the bytes are read.
  if (!((size ?? Number.NaN) <= MAX_FILE_BYTES))
    throw fault(`file takes a Blob or a File ${LIMIT}`);
  return new StoredFile(new Uint8Array(await blob.arrayBuffer()), name, type, lastModified);
}
