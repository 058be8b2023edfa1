/** The changes of a draft in the rows of one table, in the form of the app. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { memory, open, rowType, table } from '../../../src/index.js';
import { ofKind } from '../../support/error-kind.js';
import { closing } from '../../support/migration-tables.js';

interface Row {
  project: string;
  n: number;
  due: Date;
}
const rows = table({
  schema: rowType<Row>(),
  key: ['project', 'n'],
  values: 'structured',
  version: 2,
  migrate: (old: Row) => ({ ...old, due: new Date(0) }),
});
const others = table({ schema: rowType<{ id: string }>(), key: 'id' });
const row = (n: number, year = 2024): Row => ({ project: 'a', n, due: new Date(year, 1) });

async function draft() {
  const db = closing(await open('drafts', { storage: memory(), tables: { rows, others } }));
  await db.rows.putMany([row(1), row(2)]);
  return { db, branch: await db.branches.open('draft') };
}

describe('changesSinceFork of a table', () => {
  it('has rows and keys as the calls of the table take them, and no rows of other tables', async () => {
    const { db, branch } = await draft();
    await branch.others.put({ id: 'x' });
    await branch.rows.put(row(1, 2030));
    await branch.rows.delete(['a', 2]);
    await branch.rows.put(row(3));
    // Later changes of the other branch are not among them.
    await db.rows.put(row(4));
    const changes = await branch.rows.sinceFork().toArray();
    expect(changes).toEqual([
      { op: 'update', key: ['a', 1], oldValue: row(1), newValue: row(1, 2030) },
      { op: 'delete', key: ['a', 2], oldValue: row(2) },
      { op: 'insert', key: ['a', 3], newValue: row(3) },
    ]);
    expect(await branch.rows.sinceFork().first()).toEqual(changes[0]);
    for await (const change of branch.rows.sinceFork()) {
      expectTypeOf(change.key).toEqualTypeOf<readonly [string, number]>();
      if (change.op !== 'delete') expectTypeOf(change.newValue).toEqualTypeOf<Row>();
    }
    expect(await branch.others.sinceFork().toArray()).toMatchObject([{ key: 'x' }]);
  });

  it('names an unreadable row, and refuses options as the store does', async () => {
    const { db, branch } = await draft();
    await branch.put('others/bad', { id: 'bad', '~v': 7 });
    await expect(branch.others.sinceFork().toArray()).rejects.toMatchObject({
      ...{ code: 'newer-version', detail: 'schema', table: 'others', key: 'bad' },
    });
    await expect(db.rows.sinceFork().toArray()).rejects.toMatchObject({
      ...ofKind('invalid-argument'),
    });
    const aborted = branch.rows.sinceFork({ signal: AbortSignal.abort() });
    await expect(aborted.toArray()).rejects.toMatchObject({ code: 'aborted' });
    expect(() => branch.rows.sinceFork({ limit: 1 } as never)).toThrow(/limit/);
  });
});
