/** Exports a store to a file, and opens a file as a store to look at. */

import { importStore, memory, type Store } from 'hedgerow';
import type { ImportProgress } from 'hedgerow/kit';
import type { StoreLocation } from './store-session.js';

/** Returns a name for the file of a store. */
export function exportFileName(store: string, root: string): string {
  const name = store.replace(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 60) || 'store';
  return `${name}-${root.slice(0, 8)}.hedgerow`;
}

/** The progress of an export: bytes, of about `ofBytes`. */
export interface ExportProgress {
  readonly bytes: number;
  readonly ofBytes: number;
}

/** Exports a store as a `Blob`: the branch of the handle, and all others with `withBranches`. */
export async function exportedOf(
  db: Pick<Store, 'backup'>,
  withBranches: boolean,
  onProgress: (progress: ExportProgress) => void = () => {},
): Promise<Blob> {
  const exporting = await db.backup.export({ branches: withBranches });
  const parts: Blob[] = [];
  let bytes = 0;
  for await (const part of exporting) {
    // A browser may keep blobs on the disk.
    parts.push(new Blob([part as Uint8Array<ArrayBuffer>]));
    bytes += part.length;
    onProgress({ bytes, ofBytes: Math.max(bytes, exporting.bytes) });
  }
  return new Blob(parts, { type: 'application/octet-stream' });
}

/** Reads an export into memory only, and checks every chunk. Rejects as `importStore` does. */
export async function openFile(
  name: string,
  file: Blob,
  onProgress: (progress: ImportProgress) => void = () => {},
): Promise<StoreLocation> {
  const storage = memory();
  await importStore(name, file, { storage, onProgress });
  return { name, storage, canEdit: false };
}
