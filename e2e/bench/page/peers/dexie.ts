/** Dexie, as its documentation has it: no index but the key, and relaxed durability. */
import { Dexie, type EntityTable } from 'dexie';
import type { Setting } from '../bench-case.js';
import { makeRows, type Row } from '../rows.js';

export type RowsDexie = Dexie & { rows: EntityTable<Row, 'id'> };

export async function openDexie(): Promise<RowsDexie> {
  const db = new Dexie('bench-dexie', { chromeTransactionDurability: 'relaxed' }) as RowsDexie;
  db.version(1).stores({ rows: 'id' });
  await db.open();
  return db;
}

/** Opens the database, and closes it after use. */
export async function withDexie<T>(use: (db: RowsDexie) => Promise<T>): Promise<T> {
  const db = await openDexie();
  try {
    return await use(db);
  } finally {
    db.close();
  }
}

/** Makes sure that the database holds all rows. */
export function fillDexie({ rows }: Setting): Promise<void> {
  return withDexie(async (db) => {
    if ((await db.rows.count()) !== rows) await db.rows.bulkPut(makeRows(rows));
  });
}
