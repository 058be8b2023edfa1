import { type DBSchema, openDB } from 'idb';
import type { Row } from '../../page/rows.js';
import { show } from './show.js';

interface Schema extends DBSchema {
  rows: { key: string; value: Row };
}

const opening = openDB<Schema>('first-row', 1, {
  upgrade: (fresh) => {
    fresh.createObjectStore('rows', { keyPath: 'id' });
  },
});

show({
  fill: async (rows) => {
    const { store, done } = (await opening).transaction('rows', 'readwrite');
    await Promise.all([...rows.map((row) => store.put(row)), done]);
  },
  first: async (id) => (await opening).get('rows', id),
  write: async (row) => (await opening).put('rows', row),
});
