/** Dexie, as its documentation has it: no index but the key. */
import { Dexie, type EntityTable, liveQuery } from 'dexie';
import type { Row } from '../rows.js';
import { type Database, type Limits, NAMES, type OpenSetting } from './database.js';

type RowsDexie = Dexie & { rows: EntityTable<Row, 'id'> };

function limited(db: RowsDexie, { prefix, from, limit }: Limits) {
  const chosen =
    prefix !== undefined
      ? db.rows.where('id').startsWith(prefix)
      : from !== undefined
        ? db.rows.where('id').aboveOrEqual(from)
        : db.rows.toCollection();
  return limit === undefined ? chosen : chosen.limit(limit);
}

export async function openDexie({ durability }: OpenSetting): Promise<Database> {
  const db = new Dexie(NAMES.dexie, { chromeTransactionDurability: durability }) as RowsDexie;
  db.version(1).stores({ rows: 'id' });
  await db.open();
  return {
    load: async (rows) => {
      await db.rows.bulkPut(rows);
      return undefined;
    },
    remove: (ids) => db.rows.bulkDelete([...ids]),
    put: (row) => db.rows.put(row),
    get: (id) => db.rows.get(id),
    getMany: (ids) => db.rows.bulkGet(ids),
    scan: (limits) => limited(db, limits).toArray(),
    at: (n) => db.rows.orderBy('id').offset(n).first(),
    rank: (id) => db.rows.where('id').below(id).count(),
    watch: async (id, changed) => {
      const subscription = liveQuery(() => db.rows.get(id)).subscribe(changed);
      return () => subscription.unsubscribe();
    },
    close: async () => db.close(),
  };
}
