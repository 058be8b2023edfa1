import { type IngestResult, type OpenOptions, open, type Store } from 'hedgerow';
import type { Setting } from '../bench-case.js';
import { makeRows, type Row } from '../rows.js';

const NAME = 'bench';

export function openStore(options: OpenOptions = {}): Promise<Store> {
  return open(NAME, { durability: 'relaxed', ...options });
}

/** Opens the store, and closes it after use. */
export async function withStore<T>(
  use: (db: Store) => Promise<T>,
  options: OpenOptions = {},
): Promise<T> {
  const db = await openStore(options);
  try {
    return await use(db);
  } finally {
    await db.close();
  }
}

export function load(db: Store, rows: readonly Row[]): Promise<IngestResult> {
  return db.putMany(rows, { key: '/id' });
}

/** Makes sure that the store holds all rows. */
export function fillStore({ rows }: Setting): Promise<void> {
  return withStore(async (db) => {
    if ((await db.count()) !== rows) await load(db, makeRows(rows));
  });
}
