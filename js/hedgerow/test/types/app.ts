/** The tables of the app that the other files use. This code does not run: these files are only compiled. */

import { memory, open, rowType, table } from 'hedgerow';

/** A branded string, as apps have for keys. */
export type IssueId = string & { readonly of: 'issue' };

export interface Issue {
  id: IssueId;
  title: string;
  status: 'open' | 'closed';
  modified: number;
  isPinned: boolean;
  owner?: string;
  parent: string | null;
  labels: string[];
  author: { name: string; home?: { city: string } };
}

/** A key of two columns. */
export interface Step {
  project: string;
  number: number;
  text: string;
}

export interface Visit {
  at: number;
  page: string;
}

/** Values without a form in JSON. */
export interface Meeting {
  id: string;
  begins: Date;
  ended?: Date | null;
  days: Date[];
  guests: Set<string>;
  seats: Map<number, string>;
  bytes: Uint8Array;
  cents: bigint;
}

export const issues = table({
  schema: rowType<Issue>(),
  key: 'id',
  indexes: {
    byState: ['status', 'modified'],
    byOwner: { columns: ['owner', 'modified'], nulls: false },
    byLabel: ['labels'],
    byAuthor: ['/author/name', 'modified'],
    byCity: ['/author/home/city'],
    byWord: [{ words: 'title' }, 'modified'],
  },
});
export const steps = table({ schema: rowType<Step>(), key: ['project', 'number'] });
export const visits = table({ schema: rowType<Visit>(), key: ['at'] });
export const meetings = table({
  schema: rowType<Meeting>(),
  key: 'id',
  values: 'structured',
  indexes: { byBegin: ['begins'], byDay: ['days', 'ended'] },
});

export const tables = { issues, steps, visits, meetings };
export const db = await open('app', { storage: memory(), tables });

declare const some: unknown;
export const issue = some as Issue;
export const id = some as IssueId;
export const meeting = some as Meeting;
