/** The table of the stores in workers, for every script that makes tables. */
import type { table } from 'hedgerow';

export interface Issue {
  id: string;
  title: string;
  status: string;
  modified: number;
}

/** Values that JSON loses. */
export interface Dated extends Issue {
  at: Date;
}

export const issuesOf = (make: typeof table) => ({
  issues: make<Issue>()({ key: 'id', indexes: { byState: ['status', 'modified'] } }),
  dated: make<Dated>()({ key: 'id', values: 'structured' }),
});

export type IssueTables = ReturnType<typeof issuesOf>;
