/** The table of the stores in workers, for every script that makes tables. */
import type { rowType, table } from 'hedgerow';

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

interface Library {
  readonly rowType: typeof rowType;
  readonly table: typeof table;
}

export const issuesOf = ({ rowType, table }: Library) => ({
  issues: table({
    schema: rowType<Issue>(),
    key: 'id',
    indexes: { byState: ['status', 'modified'] },
  }),
  dated: table({ schema: rowType<Dated>(), key: 'id', values: 'structured' }),
});

export type IssueTables = ReturnType<typeof issuesOf>;
