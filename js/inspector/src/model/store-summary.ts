/** Lists the stores of an origin, and the figures of each that cost little. */

import { open, type Storage } from 'hedgerow';
import {
  BRANCH_REF,
  databaseName,
  HedgerowError,
  kindOfError,
  readSegmentLength,
} from 'hedgerow/kit';
import { readOnly } from './read-only-storage.js';

/** The figures of a store in the list. */
export interface StoreSummary {
  readonly name: string;
  readonly root: string;
  readonly rows: number;
  /** Bytes of segments and their tables, as they are stored. */
  readonly bytes: number;
  readonly segments: number;
  /** The names of its branches, branches of remotes too, without the main one. */
  readonly branches: readonly string[];
}

const PREFIX = databaseName('');

/**
 * Reads the names of the stores of this origin, sorted, and opens no store. Returns `undefined` where the browser does
 * not list databases.
 */
export async function storeNames(
  factory: Pick<IDBFactory, 'databases'> | undefined = globalThis.indexedDB,
): Promise<string[] | undefined> {
  if (typeof factory?.databases !== 'function') return undefined;
  const databases = await factory.databases();
  return databases
    .flatMap(({ name }) => (name?.startsWith(PREFIX) ? name.slice(PREFIX.length) : []))
    .sort((a, b) => (a < b ? -1 : 1));
}

/** Counts the bytes, segments and branches of a store by its tables alone. */
async function inventoryOf(
  name: string,
  storage: Storage,
): Promise<Pick<StoreSummary, 'bytes' | 'segments' | 'branches'>> {
  const segments = await readOnly(storage).open(name);
  try {
    const { tables, refs } = await segments.load();
    const lengths = tables.map(({ tableBytes }) => {
      // A verification reports a damaged table; here it counts with its own bytes.
      const length = tableBytes.length < 16 ? 0 : readSegmentLength(tableBytes);
      return tableBytes.length + length;
    });
    const bytes = lengths.reduce((sum, length) => sum + length, 0);
    const branches = refs.flatMap(({ name: ref }) =>
      ref.startsWith(BRANCH_REF) ? ref.slice(BRANCH_REF.length) : [],
    );
    return { bytes, segments: tables.length, branches: branches.sort() };
  } finally {
    await segments.close();
  }
}

/** Returns the figures of a store. Reads its tables and its newest commit; rejects as `open` does. */
export async function summaryOf(name: string, storage: Storage): Promise<StoreSummary> {
  const stored = await inventoryOf(name, storage);
  const db = await open(name, { storage: readOnly(storage) });
  try {
    return { name, root: db.root, rows: await db.count(), ...stored };
  } finally {
    await db.close();
  }
}

/** Puts an error into words for the page. */
export function wordsOfError(cause: unknown): string {
  if (cause instanceof HedgerowError) return `${kindOfError(cause)}: ${cause.message}`;
  return cause instanceof Error ? cause.message : String(cause);
}
