/** Tables of issues and people, and the tested versions of TanStack DB. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import * as newest from '@tanstack/db';
import { afterEach } from 'vitest';
import { memory, open, rowType, table } from '../../hedgerow/src/index.js';

export interface Issue {
  id: string;
  title: string;
  status: 'open' | 'closed';
  modified: number;
  owner?: string;
}
export interface Person {
  name: string;
  team: string;
}

export const issues = table({
  schema: rowType<Issue>(),
  key: 'id',
  indexes: { byState: ['status', 'modified'], byOwner: ['owner'], byTime: ['modified'] },
});
export const people = table({ schema: rowType<Person>(), key: 'name' });

export const issue = (number: number, more: Partial<Issue> = {}): Issue => ({
  id: `i${String(number).padStart(6, '0')}`,
  title: `Issue ${number}`,
  status: number % 3 === 0 ? 'closed' : 'open',
  modified: number,
  ...(number % 2 === 0 ? { owner: `p${number % 10}` } : {}),
  ...more,
});

/** Runs after a test, in reverse order. */
export const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Handles of one store, like tabs. */
export async function stores<Count extends 1 | 2>(count: Count) {
  const storage = { ...memory(), isShared: true };
  const opening = Array.from({ length: count }, () =>
    open('app', { storage, tables: { issues, people } }),
  );
  const all = await Promise.all(opening);
  closing.push(() => Promise.all(all.map((db) => db.close())));
  type Db = (typeof all)[0];
  return all as Count extends 1 ? [Db] : [Db, Db];
}

// The version that the persistence package brings along.
const from = createRequire(import.meta.resolve('@tanstack/db-sqlite-persistence-core'));
const older: typeof newest = await import(pathToFileURL(from.resolve('@tanstack/db')).href);

/** Resolves when a mutation is persisted. */
export const ready = (one: { isPersisted: { promise: Promise<unknown> } }) =>
  one.isPersisted.promise;

export const VERSIONS = [
  ['0.15', newest],
  ['0.9', older],
] as const;
