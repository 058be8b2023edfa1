/** A page with two copies of the library: the store comes from one, its tables from the other. */
import { expect, it, vi } from 'vitest';
import { memory, open } from '../../src/index.js';

it('tables of one copy work on a store of another', async () => {
  vi.resetModules();
  const { rowType, table } = await import('../../src/index.js');
  const issues = table({ schema: rowType<{ id: string; title: string }>(), key: 'id' });
  const db = await open('copies', { storage: memory(), tables: { issues } });
  await db.issues.insert({ id: '1', title: 'a' });
  await db.issues.update('1', { title: 'b' });
  await db.issues.putMany([{ id: '2', title: 'c' }]);
  // A table reads bytes before the core takes them, and here refuses the version of a row.
  const bytes = new TextEncoder().encode('{"id":"3","title":"d","~v":2}');
  await expect(db.issues.putMany(bytes)).rejects.toBeInstanceOf(Error);
  expect(await db.issues.toArray()).toEqual([
    { id: '1', title: 'b' },
    { id: '2', title: 'c' },
  ]);
  await db.close();
});
