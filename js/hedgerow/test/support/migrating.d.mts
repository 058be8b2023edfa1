/** Types of migrating.mjs. */

import type { Table, table } from '../../src/index.js';

export interface OldIssue {
  id: string;
  title: string;
  status: string;
  priority: number;
  owner: string;
  modified: number;
}
export interface NewIssue extends Omit<OldIssue, 'status'> {
  state: string;
  urgent: boolean;
}
type Make = typeof table;
export function oldIssue(index: number): OldIssue;
export function newIssue(index: number): NewIssue;
export function migrateIssue(row: OldIssue): NewIssue;
export function oldRows(count: number): Generator<OldIssue, void, void>;
export function oldIssues(
  table: Make,
): Table<
  OldIssue,
  OldIssue,
  { readonly key: 'id'; readonly indexes: { readonly byStatus: readonly ['status', 'modified'] } }
>;
export function newIssues(
  table: Make,
): Table<
  NewIssue,
  NewIssue,
  { readonly key: 'id'; readonly indexes: { readonly byState: readonly ['state', 'modified'] } }
>;
