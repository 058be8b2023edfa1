/** The stores of an origin: their names, and what can be told of each at little cost. */

import { HedgerowError } from '../../base/errors.js';
import { readSegmentLength } from '../../base/segment-table.js';
import { BRANCH_REF } from '../../engine/history/inventory.js';
import { open } from '../../index.js';
import { databaseName } from '../../storage/idb/idb.js';
import type { Storage } from '../../storage/segment-store.js';
import { readOnly } from './read-only.js';

/** What the list shows of a store. */
export interface StoreSummary {
  readonly name: string;
  readonly root: string;
  readonly rows: number;
  /** Bytes of segments and their tables, as they are stored. */
  readonly bytes: number;
  readonly segments: number;
  /** The names of its branches, those of remotes too, without the main one. */
  readonly branches: readonly string[];
}

const PREFIX = databaseName('');

/**
 * The names of the stores of this origin, in their order; `undefined` where the browser does not list databases. Only
 * names are read: nothing is opened.
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

/** What is stored: bytes, segments and branches, by the tables alone. */
async function inventoryOf(
  name: string,
  storage: Storage,
): Promise<Pick<StoreSummary, 'bytes' | 'segments' | 'branches'>> {
  const segments = await readOnly(storage).open(name);
  try {
    const { tables, refs } = await segments.load();
    const lengths = tables.map(({ tableBytes }) => {
      // A damaged table is told by a verification; here it has its own bytes.
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

/** What can be told of a store. Reads its tables and its newest commit; rejects as `open` does. */
export async function summaryOf(name: string, storage: Storage): Promise<StoreSummary> {
  const stored = await inventoryOf(name, storage);
  const db = await open(name, { storage: readOnly(storage) });
  try {
    return { name, root: db.root, rows: await db.count(), ...stored };
  } finally {
    await db.close();
  }
}

/** An error in words for the page. */
export function wordsOfError(cause: unknown): string {
  if (cause instanceof HedgerowError) return `${cause.code}: ${cause.message}`;
  return cause instanceof Error ? cause.message : String(cause);
}
