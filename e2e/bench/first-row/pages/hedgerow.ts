import { open } from 'hedgerow';
import { show } from './show.js';

const opening = open('first-row');

show({
  fill: async (rows) => {
    const db = await opening;
    await db.putMany(rows, { key: '/id' });
    await db.close();
  },
  first: async (id) => (await opening).get(id),
  write: async (row) => (await opening).put(row.id, row),
});
