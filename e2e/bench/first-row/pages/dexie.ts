import { Dexie, type EntityTable } from 'dexie';
import type { Row } from '../../page/rows.js';
import { show } from './show.js';

const db = new Dexie('first-row') as Dexie & { rows: EntityTable<Row, 'id'> };
db.version(1).stores({ rows: 'id' });

show({
  fill: (rows) => db.rows.bulkPut(rows),
  first: (id) => db.rows.get(id),
  write: (row) => db.rows.put(row),
});
