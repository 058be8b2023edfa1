/** An old app: its database, as Dexie writes it, and the table that it becomes. */
import { Dexie } from 'dexie';
import { memory, open, rowType, table } from '../../hedgerow/src/index.js';

export interface Issue {
  id: string;
  title: string;
  status: string;
}

export const issues = table({
  schema: rowType<Issue>(),
  key: 'id',
  indexes: { byStatus: ['status'] },
});
export const openIssues = () => open('app', { storage: memory(), tables: { issues } });

let counter = 0;

/** Returns the name of a database that does not exist. */
export const nextName = () => `old-${++counter}`;

export const issueOf = (at: number): Issue => ({
  id: `i${String(at).padStart(6, '0')}`,
  title: `Mend gate ${at}`,
  status: at % 3 === 0 ? 'open' : 'closed',
});

/** Writes a database, and leaves it open. */
export async function writeOld(name: string, count: number) {
  const old = new Dexie(name);
  old.version(3).stores({ issues: 'id, status', others: '++id' });
  await old.table('issues').bulkPut(Array.from({ length: count }, (_, at) => issueOf(at)));
  return old;
}
