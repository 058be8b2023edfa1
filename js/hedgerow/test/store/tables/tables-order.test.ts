import { expect, it } from 'vitest';
import { memory, open, rowType, table } from '../../../src/index.js';

interface Row {
  id: string;
  at: Date;
}

const plain = table({ schema: rowType<{ id: string }>(), key: 'id' });
const structured = table({ schema: rowType<Row>(), key: 'id', values: 'structured' });

it.each([1, 2])(
  'loads and deletions of tables commit in the order of their calls (round %i)',
  async () => {
    await using db = await open('order', { storage: memory(), tables: { plain, structured } });
    const at = new Date(0);
    const calls = [
      db.plain.putMany([{ id: 'a' }, { id: 'b' }]),
      db.structured.putMany([{ id: 'a', at }]),
      db.clear(),
      db.plain.putMany(new Blob(['{"id":"c"}'])),
      db.structured.putMany([{ id: 'd', at }]),
      db.deleteMany(['plain/c']),
    ];
    await Promise.all(calls);
    expect(await db.scan().keys().toArray()).toEqual(['structured/d']);
  },
);
