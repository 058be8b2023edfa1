/** A table of tasks in three versions, and calls that open stores of them. */

import { afterEach } from 'vitest';
import { open, rowType, type Storage, table } from '../../src/index.js';
import type { MigrationCalls } from '../../src/store/tables/migrate/migration-calls.js';

export interface TaskV1 {
  id: string;
  name: string;
  status: string;
  rank: number;
}
export interface TaskV2 {
  id: string;
  name: string;
  state: string;
  rank: number;
}
export interface TaskV3 {
  id: string;
  title: string;
  state: string;
  rank: number;
  labels: string[];
}

export const toV2 = ({ status, ...row }: TaskV1): TaskV2 => ({ ...row, state: status });
export const toV3 = ({ name, ...row }: TaskV2): TaskV3 => ({
  ...row,
  title: name,
  labels: [row.state, row.rank % 2 === 0 ? 'even' : 'odd'],
});

export const tasksV1 = table({
  schema: rowType<TaskV1>(),
  key: 'id',
  indexes: { byStatus: ['status', 'rank'] },
});
export const tasksV2 = table({
  schema: rowType<TaskV2>(),
  key: 'id',
  indexes: { byState: ['state', 'rank'] },
  version: 2,
  migrate: (row: TaskV1) => toV2(row),
});
export const tasksV3 = table({
  schema: rowType<TaskV3>(),
  key: 'id',
  indexes: { byState: ['state', 'rank'], byLabel: ['labels'] },
  version: 3,
  migrate: (row: TaskV1 | TaskV2, from) => toV3(from === 1 ? toV2(row as TaskV1) : (row as TaskV2)),
});

export const task = (n: number, more: Partial<TaskV1> = {}): TaskV1 => ({
  id: `t${String(n).padStart(5, '0')}`,
  name: `Task ${n}`,
  status: ['open', 'closed', 'blocked'][n % 3] as string,
  rank: n % 100,
  ...more,
});
export const tasks = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => task(from + n));

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const db of opened.splice(0)) await db.close();
});

/** Closes a handle after the test. */
export function closing<Handle extends { close(): Promise<void> }>(db: Handle): Handle {
  opened.push(db);
  return db;
}

/** With `isKilled`, the test itself ends the handle. */
type More = MigrationCalls & { name?: string; isKilled?: boolean };

async function opening<Handle extends { close(): Promise<void> }>(
  open: Promise<Handle>,
  isKilled = false,
): Promise<Handle> {
  const db = await open;
  return isKilled ? db : closing(db);
}

export const openV1 = (storage: Storage, { name = 'tasks', isKilled, ...more }: More = {}) =>
  opening(open(name, { storage, tables: { tasks: tasksV1 }, ...more }), isKilled);
export const openV2 = (storage: Storage, { name = 'tasks', isKilled, ...more }: More = {}) =>
  opening(open(name, { storage, tables: { tasks: tasksV2 }, ...more }), isKilled);
export const openV3 = (storage: Storage, { name = 'tasks', isKilled, ...more }: More = {}) =>
  opening(open(name, { storage, tables: { tasks: tasksV3 }, ...more }), isKilled);

/** Resolves when all rows are of the newest version, or refused. */
export async function migrated(db: {
  tasks: { migration(): Promise<{ remaining: number; refused: number; error: unknown }> };
}): Promise<void> {
  for (;;) {
    const { remaining, error } = await db.tasks.migration();
    if (error !== undefined) throw error;
    if (remaining === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
