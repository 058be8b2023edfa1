/** IndexedDB by the package `idb`, as its README has it: one object store of rows. */
import { type DBSchema, openDB } from 'idb';
import type { Row } from '../rows.js';
import type { Database, OpenSetting } from './database.js';
import { rangeOf } from './raw.js';

interface Schema extends DBSchema {
  rows: { key: string; value: Row };
}

export async function openIdb({ durability }: OpenSetting): Promise<Database> {
  const db = await openDB<Schema>('bench-idb', 1, {
    upgrade: (fresh) => {
      fresh.createObjectStore('rows', { keyPath: 'id' });
    },
  });
  const write = () => db.transaction('rows', 'readwrite', { durability });
  return {
    // One `put` for each row, in one transaction.
    load: async (rows) => {
      const { store, done } = write();
      await Promise.all([...rows.map((row) => store.put(row)), done]);
      return undefined;
    },
    remove: (ids) => {
      const { store, done } = write();
      return Promise.all([...ids.map((id) => store.delete(id)), done]);
    },
    put: (row) => {
      const { store, done } = write();
      return Promise.all([store.put(row), done]);
    },
    get: (id) => db.get('rows', id),
    getMany: (ids) => {
      const { store } = db.transaction('rows');
      return Promise.all(ids.map((id) => store.get(id)));
    },
    scan: (limits) => db.getAll('rows', rangeOf(limits), limits.limit),
    at: async (n) => {
      const cursor = await db.transaction('rows').store.openCursor();
      return n === 0 ? cursor?.value : (await cursor?.advance(n))?.value;
    },
    rank: (id) => db.count('rows', IDBKeyRange.upperBound(id, true)),
    close: async () => db.close(),
  };
}
